// Batches that are staged: reading them, and taking them off once they are recorded.

import type { StagedEvent } from '@weir/shared/event';
import type { Redis } from 'ioredis';
import type { QueueConnection } from './connection.ts';
import { loadScript } from './script.ts';
import { STAGED_SEPARATOR, firstStagedText, stagedBytesByOrganization, stagedEvents, stagedText } from './staged.ts';

const takeOffBatch = loadScript<number>('take-off');
const leaveOnlyThese = loadScript<null>('leave-only');
const noteBatch = loadScript<null>('note-recorded');

/** What a batch held when it was read. */
export interface ReadBatch {
  id: string;
  /** The texts of its list. */
  flushes: string[];
  /** In the order of the flushes. */
  events: StagedEvent[];
  /**
   * False where two copies are asked for and no replica has acknowledged all of it. The events, and the count of them, may then be gone
   * with this Redis: it may be a primary that others have replaced, and does not know it.
   */
  isCopied: boolean;
  /** The epoch of this Redis, where two copies are asked for and it has one. */
  epoch: string | null;
}

/** Reads a batch. One that is gone holds nothing. */
export async function readBatch({ redis, keys, secondCopy }: QueueConnection, id: string): Promise<ReadBatch> {
  const read = (on: Redis) => on.lrange(keys.batch(id), 0, -1);
  if (secondCopy === undefined) {
    const flushes = await read(redis);
    return { id, flushes, events: stagedEvents(flushes), isCopied: true, epoch: null };
  }
  const { reply, isCopied } = await secondCopy.asked((on) => Promise.all([read(on), on.get(keys.epoch)]));
  const [flushes, epoch] = reply;
  return { id, flushes, events: stagedEvents(flushes), isCopied, epoch };
}

/** Takes off a batch whose events are in Postgres for good. Returns false, and leaves it, where something has joined it since. */
export async function takeOff({ redis, keys }: QueueConnection, batch: ReadBatch): Promise<boolean> {
  const { id, flushes, events } = batch;
  const first = flushes[0] === undefined ? '' : firstStagedText(flushes[0]);
  const waited = [...stagedBytesByOrganization(flushes, events)].flat();
  const keysOfIt = [keys.batch(id), keys.staged, keys.waiting, keys.recorded];
  return (await takeOffBatch(redis, keysOfIt, [id, flushes.length, first, ...waited])) === 1;
}

/** Leaves only these events of a batch in Redis, unless something has joined it since. */
export async function leaveOnly(
  { redis, keys }: QueueConnection,
  { id, flushes, events }: ReadBatch,
  staying: readonly StagedEvent[],
): Promise<void> {
  const left = staying.map(stagedText).join(STAGED_SEPARATOR);
  const waiting = stagedBytesByOrganization([left], staying);
  const gone = [...stagedBytesByOrganization(flushes, events)].flatMap(([organizationId, bytes]) => {
    const difference = bytes - (waiting.get(organizationId) ?? 0);
    return difference > 0 ? [organizationId, difference] : [];
  });
  const keysOfIt = [keys.batch(id), keys.waiting, keys.recorded];
  await leaveOnlyThese(redis, keysOfIt, [left, flushes.length, ...flushes, id, ...gone]);
}

/**
 * Has a batch that stays be passed over by who asks what waits to be recorded: all that was read of it is in Postgres. It is a hint. Where
 * it is lost, or something has joined the batch since, that one counts as waiting.
 */
export async function noteRecorded(
  { redis, keys }: QueueConnection,
  { id, flushes, epoch }: Pick<ReadBatch, 'id' | 'flushes' | 'epoch'>,
): Promise<void> {
  const last = flushes.at(-1);
  if (last === undefined || epoch === null) return;
  const keysOfIt = [keys.batch(id), keys.recorded, keys.epoch];
  await noteBatch(redis, keysOfIt, [id, epoch, flushes.length, firstStagedText(last)]);
}

/** Those of some batches that are noted, and are by now as they were then. */
export async function findRecorded(
  { redis, keys }: QueueConnection,
  batches: readonly string[],
): Promise<ReadonlySet<string>> {
  const notes = batches.length === 0 ? [] : await redis.hmget(keys.recorded, ...batches);
  const noted = batches.flatMap((batch, at) => (typeof notes[at] === 'string' ? [{ batch, note: notes[at] }] : []));
  if (noted.length === 0) return new Set();
  const [epoch, ...flushes] = await Promise.all([
    redis.get(keys.epoch),
    ...noted.map(({ batch }) => redis.llen(keys.batch(batch))),
  ]);
  return new Set(noted.filter(({ note }, at) => note === `${epoch} ${flushes[at]}`).map(({ batch }) => batch));
}

/** How many batches are staged. */
export async function countBatches({ redis, keys }: QueueConnection): Promise<number> {
  return redis.zcard(keys.staged);
}

/** Batches in one round trip: some tens of thousands of events in memory at most. */
const PAGE = 50;

/**
 * Reads the events of batches, page by page. A batch that is gone by now was recorded: look into Postgres after this, and they
 * are there.
 */
export async function* readBatches(
  { redis, keys }: QueueConnection,
  batches: readonly string[],
): AsyncGenerator<StagedEvent[]> {
  for (let at = 0; at < batches.length; at += PAGE) {
    const pipeline = redis.pipeline();
    for (const batch of batches.slice(at, at + PAGE)) pipeline.lrange(keys.batch(batch), 0, -1);
    const replies = (await pipeline.exec()) ?? [];
    yield replies.flatMap(([error, flushes]) => {
      if (error !== null) throw error;
      return stagedEvents(flushes as string[]);
    });
  }
}
