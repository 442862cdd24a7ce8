// Whose queue it is. The prefix in Redis holds the mark of its database: another Weir on the same Redis, or a copy of the
// database, must neither take what waits here nor add to it. And whether that database still has all that it had: after a
// restore, or a failover that lost commits, the claims here hold keys of events that are nowhere. They count for nothing then,
// since their keys in Redis are made of the value that its memory is known by, which is renewed.

import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { Refusal, errorCodeOf } from './errors.ts';
import type { Logger } from './log.ts';
import type { QueueKeys } from './queue.ts';
import { SettingsError } from './settings.ts';
import { withinMs } from './within.ts';

/** What Postgres says of itself; see installation.ts of packages/db. */
export interface DatabaseFacts {
  mark: string;
  timeline: number;
  hasFolded: boolean;
}

/** How Postgres is asked; both throw a SettingsError for a database that will not do, and else what Postgres says. */
export interface DatabaseQuestions {
  requireSchema(): Promise<void>;
  identify(folded: string | undefined): Promise<DatabaseFacts>;
}

const TAKE_OVER_COMMAND = 'npm run take-over';

const NOT_SEEN = 'The database has not been seen yet: check DATABASE_URL, and that Postgres runs.';

/** A whole look takes no longer, even where Redis or Postgres is silent. */
const LOOK_MS_MAX = 5_000;

// The value of the memory comes with the mark in one step: whoever has it had it from a queue of its own.
const CLAIM_QUEUE = `
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then return {owner} end
if not owner then redis.call('SET', KEYS[1], ARGV[1]) end
local memory = redis.call('GET', KEYS[2])
if not memory then
  memory = ARGV[2]
  redis.call('SET', KEYS[2], memory)
end
return {ARGV[1], memory}`;

// Several processes find it out at once; the first one renews.
const RENEW = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if (redis.call('GET', KEYS[3]) or '') ~= ARGV[2] or (redis.call('GET', KEYS[4]) or '') ~= ARGV[3] then return 0 end
redis.call('SET', KEYS[2], ARGV[4])
redis.call('SET', KEYS[5], '1')
redis.call('UNLINK', KEYS[3])
if ARGV[5] ~= '0' then redis.call('SET', KEYS[4], ARGV[5]) end
return 1`;

// All in one step, and the mark last: a log that is torn in the middle leaves a queue that is to be taken over again.
const TAKE_OVER = `
redis.call('SET', KEYS[2], ARGV[2])
redis.call('SET', KEYS[5], '1')
redis.call('UNLINK', KEYS[3])
redis.call('SET', KEYS[4], ARGV[3])
redis.call('SET', KEYS[1], ARGV[1])`;

/** This queue is not, or not yet, one that this process may touch. It is worth another try. */
export class NotOurQueue extends Error {}

/**
 * Takes the queue for this database, whoever it belonged to. What waits in it stays; claims made before count for nothing.
 * Returns the mark that it had; undefined when it had none, or this one already.
 */
export async function takeOver(redis: Redis, keys: QueueKeys, facts: DatabaseFacts): Promise<string | undefined> {
  const former = (await redis.get(keys.database)) ?? undefined;
  await redis.eval(TAKE_OVER, 5, ...keysOf(keys), facts.mark, randomUUID(), facts.timeline);
  return former === facts.mark ? undefined : former;
}

/** Whether two marks are of one Weir: of its database, and of a copy of it. */
export function isSameWeir(mark: string, other: string): boolean {
  return mark.split(':')[0] === other.split(':')[0];
}

function keysOf(keys: QueueKeys): string[] {
  return [keys.database, keys.memory, keys.lastFolded, keys.timeline, keys.countsAhead];
}

export interface OwnershipOptions {
  redis: Redis;
  keys: QueueKeys;
  database: DatabaseQuestions;
  log: Logger;
  /** How often it is looked. */
  intervalMs: number;
  /** Called after each look, with whether the queue may be touched. */
  onLook?: (isOurs: boolean) => void;
}

/** What is known of whose queue this is. */
export class Ownership {
  readonly #options: OwnershipOptions;
  readonly #timer: NodeJS.Timeout;
  readonly #onReady = () => void this.look();
  #mark: string | undefined;
  /** Why the database will not do; null while it has not been seen. */
  #unfit: SettingsError | undefined | null = null;
  #foreign: SettingsError | undefined;
  #lastFailure = '';
  #looking: Promise<void> | undefined;

  constructor(options: OwnershipOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.look(), options.intervalMs);
    // A connection that comes again may lead to another Redis.
    options.redis.on('ready', this.#onReady);
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
    return new Refusal('unavailable', detail, { outcome: 'not_accepted', retryAfterSeconds: 2 });
  }

  /** The first look. Throws a SettingsError when this process must not run as it is set up; not when a part is away. */
  async requireOurs(): Promise<void> {
    await this.look();
    const error = this.#unfit ?? this.#foreign;
    if (error !== undefined) throw new SettingsError(`Cannot start: ${error.message}`);
  }

  /** What the memory of this queue is known by. Throws the refusal where the queue is not ours, and what Redis says. */
  async memory(): Promise<string> {
    if (this.#mark === undefined) await this.look();
    const mark = this.#mark;
    if (mark === undefined || this.#unfit !== undefined) throw this.refusal() ?? new NotOurQueue(NOT_SEEN);
    const { redis, keys } = this.#options;
    const [owner, memory] = await claimQueue(redis, keys, mark);
    this.#judge(owner);
    if (owner !== mark || memory === undefined) throw this.refusal() ?? new NotOurQueue(NOT_SEEN);
    return memory;
  }

  /** Throws a NotOurQueue unless the queue is ours at this moment. */
  async check(): Promise<void> {
    const mark = this.#mark;
    const { redis, keys } = this.#options;
    const owner = mark === undefined ? null : await redis.get(keys.database);
    if (mark !== undefined && owner === mark) return;
    await this.look();
    const problem = this.problem();
    if (problem !== undefined) throw new NotOurQueue(problem);
  }

  /** Looks now, or waits for the look under way. Never throws: what it finds is kept, and logged when it changes. */
  look(): Promise<void> {
    this.#looking ??= withinMs(LOOK_MS_MAX, this.#look())
      .catch((error: unknown) => this.#tellOnce(error))
      .finally(() => {
        this.#looking = undefined;
        this.#options.onLook?.(this.problem() === undefined);
      });
    return this.#looking;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#options.redis.off('ready', this.#onReady);
  }

  async #look(): Promise<void> {
    const { redis, keys, database } = this.#options;
    if (redis.status !== 'ready') {
      // Postgres may be told of all the same: a fresh process learns its mark.
      await this.#identify(undefined, database);
      return;
    }
    const [folded, timeline] = await redis.mget(keys.lastFolded, keys.timeline);
    let facts: DatabaseFacts | undefined;
    try {
      facts = await this.#identify(folded ?? undefined, database);
    } catch (error) {
      // Postgres is away. Redis may belong to somebody else by now.
      if (this.#mark !== undefined) this.#judge(await redis.get(keys.database));
      throw error;
    }
    if (facts === undefined) return;
    const [owner] = await claimQueue(redis, keys, facts.mark);
    if (owner === facts.mark) await this.#compareTime(facts, folded ?? '', timeline ?? '');
    this.#judge(owner);
  }

  /** Undefined where the database will not do; why is kept. */
  async #identify(folded: string | undefined, database: DatabaseQuestions): Promise<DatabaseFacts | undefined> {
    try {
      if (this.#unfit !== undefined) await database.requireSchema();
      const facts = await database.identify(folded);
      // Another database than before has to be looked at as a whole.
      if (this.#mark !== undefined && this.#mark !== facts.mark) await database.requireSchema();
      this.#mark = facts.mark;
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

  /** Renews the value of the memory where Postgres does not have any more what it had. */
  async #compareTime(facts: DatabaseFacts, folded: string, timeline: string): Promise<void> {
    const { redis, keys, log } = this.#options;
    if (timeline === '' && facts.timeline > 0) await redis.set(keys.timeline, facts.timeline, 'NX');
    // A lower one is told by an old primary that does not know yet that another one took its place.
    const isLater = timeline !== '' && facts.timeline > Number(timeline);
    if (facts.hasFolded && !isLater) return;
    const values = [facts.mark, folded, timeline, randomUUID(), facts.timeline];
    const isRenewed = await redis.eval(RENEW, 5, ...keysOf(keys), ...values);
    if (isRenewed !== 1) return;
    log.error(
      { timeline: facts.timeline, before: timeline },
      facts.hasFolded
        ? 'another Postgres took over: idempotency keys are judged by Postgres alone from now on; npm run reconcile says whether events are missing'
        : 'Postgres went back in time: what was recorded since is not there. Clients can send it again; npm run reconcile says what is missing',
    );
  }

  #judge(owner: string | null): void {
    if (this.#mark === undefined) return;
    // Without a mark Redis lost its memory: the next look, or the next key that is looked up, sets it again.
    const foreign = owner === null ? undefined : foreignQueue(this.#mark, owner);
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

async function claimQueue(redis: Redis, keys: QueueKeys, mark: string): Promise<[owner: string, memory?: string]> {
  return (await redis.eval(CLAIM_QUEUE, 2, keys.database, keys.memory, mark, randomUUID())) as [string, string?];
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
