// Whose queue it is. The prefix in Redis holds the mark of its database: another Weir on the same Redis, or a copy of the
// database, must neither take what waits here nor add to it. And whether that database still has all that it had: after a
// restore, or a failover that lost commits, the claims here hold keys of events that are nowhere. They count for nothing then,
// since their keys in Redis are made of its epoch, which is renewed.

import { randomUUID } from 'node:crypto';
import { Refusal, errorCodeOf } from '@weir/shared/errors';
import type { Logger } from '@weir/shared/log';
import { SettingsError } from '@weir/shared/settings';
import { withinMs } from '@weir/shared/within';
import type { MonthCount } from '@weir/shared/month-counts';
import { readDrainedCounts } from './accepted-counts.ts';
import { findReplicas, type QueueConnection } from './connection.ts';
import { RedisUnreachable } from './redis-away.ts';
import { loadScript } from './script.ts';

/** What Postgres says of itself; see installation.ts of packages/db. */
export interface DatabaseFacts {
  mark: string;
  timeline: number;
  hasDrained: boolean;
  hasCounted: boolean;
}

/** How Postgres is asked. All throw what it says; the first two a SettingsError for a database that will not do. */
export interface DatabaseQuestions {
  requireSchema(): Promise<unknown>;
  identify(drained: string | undefined): Promise<DatabaseFacts>;
  /** Raises what it has counted to what is remembered; undefined where others are at work on its counts. */
  raiseTotals(remembered: () => Promise<MonthCount[]>): Promise<number | undefined>;
}

const TAKE_OVER_COMMAND = 'npm run take-over';

const NOT_SEEN = 'The database has not been seen yet: check DATABASE_URL, and that Postgres runs.';

/** A whole look takes no longer, even where Redis or Postgres is silent. */
const LOOK_MS_MAX = 5_000;

/** Of that, so long for the totals of a Postgres that went back in time. */
const RAISE_MS_MAX = 3_000;

/** So many looks try to raise them. Then claims are void all the same: they tell senders that events were taken which are gone. */
const RAISES_MAX = 3;

const ownQueue = loadScript<[owner: string, epoch?: string, isNew?: number]>('own-queue');
const renewEpoch = loadScript<number>('renew-epoch');
const takeOverQueue = loadScript<null>('take-over');

/** This queue is not, or not yet, one that this process may touch. It is worth another try. */
export class NotOurQueue extends Error {}

/**
 * Takes the queue for this database, whoever it belonged to. What waits in it stays; claims made before count for nothing.
 */
export async function takeOver(queue: QueueConnection, facts: DatabaseFacts): Promise<void> {
  await takeOverQueue(queue.redis, keysOf(queue), [facts.mark, randomUUID(), facts.timeline]);
}

/** The mark of the database that the queue belongs to; undefined where it has none. */
export async function readOwner({ redis, keys }: QueueConnection): Promise<string | undefined> {
  return (await redis.get(keys.database)) ?? undefined;
}

/** Whether two marks are of one Weir: of its database, and of a copy of it. */
export function isSameWeir(mark: string, other: string): boolean {
  return mark.split(':')[0] === other.split(':')[0];
}

function keysOf({ keys }: QueueConnection): string[] {
  return [keys.database, keys.epoch, keys.lastDrained, keys.timeline, keys.countsAhead];
}

/** What a store was replaced by is short of what it had: `postgres_replaced` went back in time or follows another, `redis_replaced` is empty. */
export type StoreFault = 'postgres_replaced' | 'redis_replaced';

export interface OwnershipOptions {
  queue: QueueConnection;
  database: DatabaseQuestions;
  log: Logger;
  /** How often it is looked. */
  intervalMs: number;
  /** Called after each look, with whether the queue may be touched. */
  onLook?: () => void;
  /** Told by the one process that finds it out. */
  onFault?: (fault: StoreFault) => void;
}

/** What is known of whose queue this is. */
export class Ownership {
  readonly #options: OwnershipOptions;
  readonly #timer: NodeJS.Timeout;
  readonly #onReady = () => void this.look();
  #mark: string | undefined;
  /** Whether Postgres has counted events, when it was looked at last. */
  #hasCounted = false;
  /** Why the database will not do; null while it has not been seen. */
  #unfit: SettingsError | undefined | null = null;
  #foreign: SettingsError | undefined;
  #lastFailure = '';
  /** How many looks in a row could not raise the totals. */
  #raises = 0;
  #looking: Promise<void> | undefined;

  constructor(options: OwnershipOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.look({ leavesReplicas: true }), options.intervalMs);
    // A connection that comes again may lead to another Redis.
    options.queue.redis.on('ready', this.#onReady);
  }

  /** Why the queue must not be touched, for the operator; undefined when it may. Costs nothing to ask. */
  problem(): string | undefined {
    if (this.#unfit === undefined && this.#foreign === undefined) return undefined;
    return this.#unfit === null ? NOT_SEEN : (this.#unfit ?? this.#foreign)?.message;
  }

  /** What a sender is told meanwhile. */
  refusal(): Refusal | undefined {
    if (this.#unfit === undefined && this.#foreign === undefined) return undefined;
    const why = this.#unfit === undefined ? 'belongs to another database' : 'has no database that it could write to';
    const detail = `The queue ${why}, and nothing was kept: send the event again later.`;
    return new Refusal('unavailable', detail, { outcome: 'not_accepted', retryAfterSeconds: 2, because: 'ownership' });
  }

  /** The first look. Throws a SettingsError when this process must not run as it is set up; not when a part is away. */
  async requireOurs(): Promise<void> {
    await this.look();
    const error = this.#unfit ?? this.#foreign;
    if (error !== undefined) throw new SettingsError(`Cannot start: ${error.message}`);
  }

  /** The epoch of this queue. Throws the refusal where the queue is not ours, and what Redis says. */
  async epoch(): Promise<string> {
    if (this.#mark === undefined) await this.look();
    const mark = this.#mark;
    if (mark === undefined || this.#unfit !== undefined) throw this.refusal() ?? new NotOurQueue(NOT_SEEN);
    const [owner, epoch] = await this.#own(mark);
    this.#seeOwner(owner);
    if (owner !== mark || epoch === undefined) throw this.refusal() ?? new NotOurQueue(NOT_SEEN);
    return epoch;
  }

  /** Throws a NotOurQueue unless the queue is ours at this moment. */
  async check(): Promise<void> {
    const mark = this.#mark;
    const owner = mark === undefined ? undefined : await readOwner(this.#options.queue);
    if (mark !== undefined && owner === mark) return;
    await this.look();
    const problem = this.problem();
    if (problem !== undefined) throw new NotOurQueue(problem);
  }

  /** Looks now, or waits for the look under way. Never throws: what it finds is kept, and logged when it changes. */
  look({ leavesReplicas } = { leavesReplicas: false }): Promise<void> {
    this.#looking ??= withinMs(LOOK_MS_MAX, this.#look(leavesReplicas))
      .catch((error: unknown) => this.#tellOnce(error))
      .finally(() => {
        this.#looking = undefined;
        this.#options.onLook?.();
      });
    return this.#looking;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#options.queue.redis.off('ready', this.#onReady);
  }

  async #look(leavesReplicas: boolean): Promise<void> {
    const { queue, database } = this.#options;
    const { redis, keys } = queue;
    if (redis.status !== 'ready' || !(await this.#isPrimary(leavesReplicas))) {
      // Postgres may be told of all the same: a fresh process learns its mark.
      await this.#identify(undefined, database);
      return;
    }
    const [drained, timeline] = await redis.mget(keys.lastDrained, keys.timeline);
    this.#options.log.info({ back: 'Redis' }, 'Redis answers again');
    let facts: DatabaseFacts | undefined;
    try {
      facts = await this.#identify(drained ?? undefined, database);
    } catch (error) {
      // Postgres is away. Redis may belong to somebody else by now.
      if (this.#mark !== undefined) this.#seeOwner(await readOwner(queue));
      throw error;
    }
    if (facts === undefined) return;
    const [owner] = await this.#own(facts.mark);
    if (owner === facts.mark) await this.#compareTime(facts, drained ?? '', timeline ?? '');
    this.#seeOwner(owner);
  }

  /**
   * Whoever only reads does not hear that its Redis is a replica by now, so it is asked. Connections are given up at the regular looks
   * alone: an address that still leads there would be called again and again.
   */
  async #isPrimary(leavesReplicas: boolean): Promise<boolean> {
    const { queue, log } = this.#options;
    const replicas = await findReplicas(queue);
    if (leavesReplicas && replicas.length > 0) {
      for (const replica of replicas) replica.disconnect(true);
      const err = new RedisUnreachable('this Redis is a replica');
      log.warn({ err }, 'connections to a replica are given up, and made again by their address');
    }
    return !replicas.includes(queue.redis);
  }

  /** Undefined where the database will not do; why is kept. */
  async #identify(drained: string | undefined, database: DatabaseQuestions): Promise<DatabaseFacts | undefined> {
    try {
      if (this.#unfit !== undefined) await database.requireSchema();
      const facts = await database.identify(drained);
      this.#options.log.info({ back: 'Postgres' }, 'Postgres answers again');
      // Another database than before has to be looked at as a whole.
      if (this.#mark !== undefined && this.#mark !== facts.mark) await database.requireSchema();
      this.#mark = facts.mark;
      this.#hasCounted = facts.hasCounted;
      this.#tell(this.#unfit ?? undefined, undefined);
      this.#unfit = undefined;
      return facts;
    } catch (error) {
      if (error instanceof SettingsError) {
        this.#tell(this.#unfit ?? undefined, error);
        this.#unfit = error;
        return undefined;
      }
      // A table that is not there any more: the schema says what is missing.
      if (errorCodeOf(error) === '42P01' && this.#unfit === undefined) this.#unfit = null;
      throw error;
    }
  }

  /** Begins a new epoch where Postgres does not have any more what it had. */
  async #compareTime(facts: DatabaseFacts, drained: string, timeline: string): Promise<void> {
    const { queue, database, log } = this.#options;
    const { redis, keys } = queue;
    if (timeline === '' && facts.timeline > 0) await redis.set(keys.timeline, facts.timeline, 'NX');
    // A lower one is told by an old primary that does not know yet that another one took its place.
    const isLater = timeline !== '' && facts.timeline > Number(timeline);
    if (facts.hasDrained && !isLater) {
      this.#raises = 0;
      return;
    }
    // First, since what waits here is recorded directly from then on, and counted with what Postgres has by then. Where others are at work
    // on the counts the next look does it; after some looks a worker does.
    let err: unknown;
    const events = await withinMs(
      RAISE_MS_MAX,
      database.raiseTotals(() => readDrainedCounts(queue)),
    ).catch((error: unknown) => void (err = error));
    this.#raises += 1;
    if (events === undefined && this.#raises < RAISES_MAX) return;
    const values = [facts.mark, drained, timeline, randomUUID(), facts.timeline];
    if ((await renewEpoch(redis, keysOf(queue), values)) !== 1) return;
    this.#raises = 0;
    this.#options.onFault?.('postgres_replaced');
    log.error(
      { timeline: facts.timeline, before: timeline, events, err },
      facts.hasDrained
        ? 'another Postgres took over: idempotency keys are judged by Postgres alone from now on; npm run reconcile says whether events are missing'
        : 'Postgres went back in time: what was recorded since is not there. Clients can send it again; npm run reconcile says what is missing',
    );
  }

  /** Makes the queue that of a database, unless it is another one's. Of all processes the one that marks it tells of that. */
  async #own(mark: string): Promise<[owner: string, epoch?: string]> {
    const { redis, keys } = this.#options.queue;
    const [owner, epoch, isNew] = await ownQueue(redis, [keys.database, keys.epoch], [mark, randomUUID()]);
    if (isNew === 1 && this.#hasCounted) {
      this.#options.onFault?.('redis_replaced');
      this.#options.log.error(
        `the queue ${keys.prefix} in Redis belonged to no database, and this one has counted events: Redis lost its data, or is another one ` +
          'than before (REDIS_URL, QUEUE_PREFIX). What waits in another one is recorded by no process that is given this one: see ' +
          '"Move Redis" in docs/operations.md',
      );
    }
    return epoch === undefined ? [owner] : [owner, epoch];
  }

  #seeOwner(owner: string | undefined): void {
    if (this.#mark === undefined) return;
    // Without a mark Redis lost its data: the next look, or the next key that is looked up, sets it again.
    const foreign = owner === undefined ? undefined : foreignQueue(this.#mark, owner);
    this.#tell(this.#foreign, foreign);
    this.#foreign = foreign;
  }

  #tell(before: SettingsError | undefined, now: SettingsError | undefined): void {
    if (before?.message === now?.message) return;
    if (now !== undefined) this.#options.log.error(`the queue is left alone: ${now.message}`);
    else this.#options.log.info('the queue is no longer left alone');
  }

  /** A part that is away is the same news at each look. */
  #tellOnce(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    if (this.#mark !== undefined || message === this.#lastFailure) return;
    this.#lastFailure = message;
    this.#options.log.warn({ err: error }, 'it could not be seen yet whose queue this is');
  }
}

/** What is wrong when the queue has another mark than the database; undefined when it is the same. */
export function foreignQueue(mark: string, owner: string): SettingsError | undefined {
  if (mark === owner) return undefined;
  const whose = isSameWeir(mark, owner) ? 'another copy of this database' : 'the database of another Weir';
  return new SettingsError(
    `The queue in Redis (QUEUE_PREFIX) belongs to ${whose}: give this Weir a QUEUE_PREFIX of its own; or, if this database ` +
      `takes the place of the other one for good (restored, moved, upgraded), stop all of Weir and run ${TAKE_OVER_COMMAND}. ` +
      'See docs/operations.md.',
  );
}

/** What is wrong when a database that has counted events finds a queue without a mark: the processes have another one. */
export function unmarkedQueue({ keys }: QueueConnection): SettingsError {
  return new SettingsError(
    `The queue ${keys.prefix} in Redis belongs to no database, and this one has counted events: give this command the REDIS_URL and ` +
      'QUEUE_PREFIX that the processes of Weir have; or, if Redis lost its data, start Weir first.',
  );
}
