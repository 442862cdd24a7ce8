// Batches that are staged: reading them, and taking them off once they are recorded.

import type { StagedEvent } from '@weir/shared/event';
import type { Redis } from 'ioredis';
import type { QueueConnection } from './connection.ts';
import { loadScript } from './script.ts';
import { STAGED_SEPARATOR, firstStagedText, stagedBytesByOrganization, stagedEvents, stagedText } from './staged.ts';

const takeOffBatch = loadScript<number>('take-off');
const leaveOnlyThese = loadScript<null>('leave-only');

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
}

/** Reads a batch. One that is gone holds nothing. */
export async function readBatch({ redis, keys, secondCopy }: QueueConnection, id: string): Promise<ReadBatch> {
  const read = (on: Redis) => on.lrange(keys.batch(id), 0, -1);
  const { reply: flushes, isCopied } =
    secondCopy === undefined ? { reply: await read(redis), isCopied: true } : await secondCopy.asked(read);
  return { id, flushes, events: stagedEvents(flushes), isCopied };
}

/** Takes off a batch whose events are in Postgres for good. Returns false, and leaves it, where something has joined it since. */
export async function takeOff({ redis, keys }: QueueConnection, batch: ReadBatch): Promise<boolean> {
  const { id, flushes, events } = batch;
  const first = flushes[0] === undefined ? '' : firstStagedText(flushes[0]);
  const waited = [...stagedBytesByOrganization(flushes, events)].flat();
  const keysOfIt = [keys.batch(id), keys.staged, keys.waiting];
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
  await leaveOnlyThese(redis, [keys.batch(id), keys.waiting], [left, flushes.length, ...flushes, ...gone]);
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
