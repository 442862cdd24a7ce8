import type { StagedEvent } from '@weir/shared/event';
import { epochMsOfId } from '@weir/shared/ids';
import type { QueueKeys } from '@weir/shared/queue';
import type { Redis } from 'ioredis';

/** An event is staged at most this long after it got its id: the client has given up long before. */
const STAGED_WITHIN_MS = 30_000;

/** Batches that are asked at once, from the time of receipt on; the first page has the event but for a very busy door. */
const PAGE = 100;

/** Clocks of several API machines differ; the batch's time is from the same machine as the id, so a little is enough. */
const CLOCK_SLACK_MS = 1_000;

/**
 * The event with this id, if it waits in the queue. There is no index for this: the id holds the time of receipt, and
 * only the few batches that were staged right after it can hold the event.
 */
export async function findStagedEvent(redis: Redis, keys: QueueKeys, id: string): Promise<StagedEvent | undefined> {
  const receivedAt = epochMsOfId(id);
  const [from, to] = [receivedAt - CLOCK_SLACK_MS, receivedAt + STAGED_WITHIN_MS];
  // All ids at one moment: workers take batches off meanwhile, and a second look by position would skip some.
  const batches = await redis.zrangebyscore(keys.staged, from, to);
  for (let at = 0; at < batches.length; at += PAGE) {
    const found = await Promise.all(batches.slice(at, at + PAGE).map((batch) => redis.hget(keys.batch(batch), id)));
    const event = found.find((each) => each !== null);
    if (event !== undefined && event !== null) return JSON.parse(event) as StagedEvent;
  }
  return undefined;
}
