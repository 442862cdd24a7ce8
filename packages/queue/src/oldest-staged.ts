import { epochMsOfId, isUuid } from '@weir/shared/ids';
import type { QueueConnection } from './connection.ts';
import { loadScript } from './script.ts';

/**
 * Batches are sorted by the time of their last flush, which is a fifth of a second after the first at most. So the oldest is
 * among the first of them, of which each API process has one: as many processes as anybody runs.
 */
const LOOK = 16;

const firstEvent = loadScript<string | null>('first-event');

/**
 * Since when events of an organization may wait to be recorded, in milliseconds since 1970; undefined when none of them
 * waits. It is the time of receipt of the oldest event that waits, of whatever organization: all of this one's that were
 * received before are recorded. Events that are replayed do not count, as they were rejected before.
 */
export async function findQueuedSince(
  { redis, keys }: QueueConnection,
  organizationId: string,
): Promise<number | undefined> {
  // In this order, on one connection, and not by pipeline(): ioredis copies every command that it knows onto each pipeline, which
  // was most of what an entitlement left to collect.
  const [waiting, batches] = await Promise.all([
    redis.hget(keys.waiting, organizationId),
    redis.zrange(keys.staged, 0, String(LOOK - 1)),
  ]);
  const oldest = batches.toSorted()[0];
  if (Number(waiting) <= 0 || oldest === undefined) return undefined;
  // An event has its id before its flush opens the batch. Where the batch has gone meanwhile, its own time is close enough.
  const id = await firstEvent(redis, [keys.batch(oldest)], []);
  return Math.min(epochMsOfId(oldest), id !== null && isUuid(id) ? epochMsOfId(id) : Infinity);
}

/**
 * An event joins a batch that was opened 5 s after it was received, at most (find-staged.ts). The rest is for the clocks of API
 * machines and of Postgres, which differ.
 */
const RECEIVED_BEFORE_MS_MAX = 10_000;

/**
 * The same, so early that whatever was accepted before is certainly in Postgres: what must not miss an event waits for this.
 * Throws while Redis is away.
 */
export async function findQueuedSinceAtMost(
  queue: QueueConnection,
  organizationId: string,
): Promise<number | undefined> {
  const since = await findQueuedSince(queue, organizationId);
  return since === undefined ? undefined : since - RECEIVED_BEFORE_MS_MAX;
}

/** For so long at most what is staged of others holds up who waits for all that is replayed. */
const REPLAYED_WAITS_MS_MAX = 24 * 3_600_000;

/**
 * Whether all events of an organization that were accepted, or replayed, before a time (milliseconds since 1970) are in Postgres.
 * Throws while Redis is away.
 */
export async function isAllRecorded(
  queue: QueueConnection,
  organizationId: string,
  acceptedBefore: number,
): Promise<boolean> {
  // What was received, or checked before it is replayed, may be on its way here for so long, and is to be seen nowhere yet.
  if (Date.now() - acceptedBefore < RECEIVED_BEFORE_MS_MAX) return false;
  const since = await findQueuedSinceAtMost(queue, organizationId);
  if (since !== undefined && since <= acceptedBefore) return false;
  // Whose events are replayed stands nowhere: they may be in any batch.
  const [oldest] = await queue.redis.zrange(queue.keys.staged, 0, '0');
  return (
    oldest === undefined ||
    epochMsOfId(oldest) - RECEIVED_BEFORE_MS_MAX > acceptedBefore ||
    Date.now() - acceptedBefore > REPLAYED_WAITS_MS_MAX
  );
}
