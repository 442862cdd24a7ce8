import type { QueuedEvent } from '@weir/db/accounted';
import type { QueueKeys } from '@weir/shared/queue';
import { stagedEvents } from '@weir/shared/staged';
import type { Redis } from 'ioredis';

/** Batches in one round trip: some tens of thousands of events in memory at most. */
const PAGE = 50;

/**
 * The events of these batches, page by page. A batch that is gone by now was recorded: look into Postgres after this, and
 * they are there.
 */
export async function* readStaged(
  redis: Redis,
  keys: QueueKeys,
  batches: readonly string[],
): AsyncGenerator<QueuedEvent[]> {
  for (let at = 0; at < batches.length; at += PAGE) {
    const pipeline = redis.pipeline();
    for (const batch of batches.slice(at, at + PAGE)) pipeline.lrange(keys.batch(batch), 0, -1);
    const replies = (await pipeline.exec()) ?? [];
    yield replies.flatMap(([error, flushes]) => {
      if (error !== null) throw error;
      return stagedEvents(flushes as string[]).map(({ organization_id: organizationId, id }) => ({
        organizationId,
        id,
      }));
    });
  }
}
