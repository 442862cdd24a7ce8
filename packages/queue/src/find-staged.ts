import type { StagedEvent } from '@weir/shared/event';
import { epochMsOfId } from '@weir/shared/ids';
import type { QueueConnection } from './connection.ts';
import { loadScript } from './script.ts';
import { stagedBeginning, stagedEvents } from './staged.ts';

/** An event is staged at most this long after it got its id: the client has given up long before. */
const STAGED_WITHIN_MS = 30_000;

/**
 * A batch is open for a fifth of a second, and an event waits for its flush for a second at most: only one that was opened so long
 * before the event was received, or so long after, can hold it.
 */
const OPENED_WITHIN_MS = { before: 1_000, after: 5_000 };

/** Batches that are asked at once. Redis takes a fraction of a millisecond to look through one, and others are waiting. */
const PAGE = 10;

/** Clocks of several API machines differ; the batch's time is from the same machine as the id, so a little is enough. */
const CLOCK_SLACK_MS = 1_000;

const findFlush = loadScript<string | null>('find-flush');

/**
 * The event with this id, if it waits in the queue. There is no index for this: the id holds the time of receipt, and
 * only the few batches that were staged right after it can hold the event.
 */
export async function findStagedEvent({ redis, keys }: QueueConnection, id: string): Promise<StagedEvent | undefined> {
  const receivedAt = epochMsOfId(id);
  const [from, to] = [receivedAt - CLOCK_SLACK_MS, receivedAt + STAGED_WITHIN_MS];
  // All ids at one moment: workers take batches off meanwhile, and a second look by position would skip some.
  const staged = await redis.zrangebyscore(keys.staged, from, to);
  const batches = staged.filter((batch) => {
    const openedAfter = epochMsOfId(batch) - receivedAt;
    return openedAfter >= -OPENED_WITHIN_MS.before && openedAfter <= OPENED_WITHIN_MS.after;
  });
  for (let at = 0; at < batches.length; at += PAGE) {
    const page = batches.slice(at, at + PAGE);
    const found = await Promise.all(page.map((batch) => findFlush(redis, [keys.batch(batch)], [stagedBeginning(id)])));
    const flush = found.find((each) => each !== null);
    if (typeof flush === 'string') return stagedEvents([flush]).find((event) => event.id === id);
  }
  return undefined;
}
