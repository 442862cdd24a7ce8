import { epochMsOfId, isUuid } from '@weir/shared/ids';
import { findRecorded } from './batches.ts';
import type { QueueConnection } from './connection.ts';
import { loadScript } from './script.ts';

/**
 * Batches are sorted by the time of their last flush, which is a fifth of a second after the first at most. So the oldest is
 * among the first of them, of which each API process has one: as many processes as anybody runs.
 */
const LOOK = 16;

/** So many at most are looked at where some of them are recorded and stay: a millisecond or two. */
const LOOK_PAST_MAX = 1_000;

const firstEvent = loadScript<string | null>('first-event');

/**
 * Since when events of an organization may wait to be recorded, in milliseconds since 1970; undefined when none of them
 * waits. It is the time of receipt of the oldest event that waits, of whatever organization: all of this one's that were
 * received before are recorded. Events that are replayed do not count, as they were rejected before.
 */
export async function findQueuedSince(queue: QueueConnection, organizationId: string): Promise<number | undefined> {
  const { redis, keys } = queue;
  // In this order, on one connection, and not by pipeline(): ioredis copies every command that it knows onto each pipeline, which
  // was most of what an entitlement left to collect.
  const [waiting, batches] = await Promise.all([
    redis.hget(keys.waiting, organizationId),
    redis.zrange(keys.staged, 0, String(LOOK - 1)),
  ]);
  if (Number(waiting) <= 0) return undefined;
  const [since, recorded] = await Promise.all([beginningOf(queue, batches), findRecorded(queue, batches)]);
  return recorded.size === 0 ? since : await beginningOf(queue, await listWaiting(queue));
}

/** When the oldest event in the oldest of some batches was received. */
async function beginningOf({ redis, keys }: QueueConnection, batches: readonly string[]): Promise<number | undefined> {
  const oldest = batches.toSorted()[0];
  if (oldest === undefined) return undefined;
  // An event has its id before its flush opens the batch. Where the batch has gone meanwhile, its own time is close enough.
  const id = await firstEvent(redis, [keys.batch(oldest)], []);
  return Math.min(epochMsOfId(oldest), id !== null && isUuid(id) ? epochMsOfId(id) : Infinity);
}

/**
 * The first of the batches that wait to be recorded, in the order of their last flushes: without those that are recorded, and stay while no
 * replica acknowledges them.
 */
export async function listWaiting(queue: QueueConnection): Promise<string[]> {
  const { redis, keys } = queue;
  // All ids at one moment: workers take batches off meanwhile, and a second look by position would skip some.
  const batches = await redis.zrange(keys.staged, 0, String(LOOK_PAST_MAX - 1));
  const recorded = await findRecorded(queue, batches);
  const waiting = batches.filter((batch) => !recorded.has(batch));
  // None of those behind them is older than the last one.
  return waiting.length === 0 && batches.length === LOOK_PAST_MAX ? batches.slice(-1) : waiting;
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
  const [oldest] = await listWaiting(queue);
  return (
    oldest === undefined ||
    epochMsOfId(oldest) - RECEIVED_BEFORE_MS_MAX > acceptedBefore ||
    Date.now() - acceptedBefore > REPLAYED_WAITS_MS_MAX
  );
}
