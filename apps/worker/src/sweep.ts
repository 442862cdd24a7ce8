// Finds what the quick way missed: batches whose job was never added (the API died in between), and jobs that BullMQ holds
// for failed. Both are put back; putting back what is on its way already does nothing.

import { RECORD_QUEUE, recordJobOptions, type QueueKeys, type RecordJob } from '@weir/shared/queue';
import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';

/**
 * Batches that are looked at in one sweep, the oldest first: some 10 ms of work. Behind a longer backlog a batch without a
 * job waits until those before it are recorded, which is its turn anyway.
 */
const BATCHES_MAX = 5_000;

/**
 * Enqueues every batch that was staged more than `ageMs` ago and has no job, and retries failed jobs. Answers how many
 * batches it had to enqueue.
 */
export async function sweep(redis: Redis, keys: QueueKeys, queue: Queue<RecordJob>, ageMs: number): Promise<number> {
  const staged = await redis.zrangebyscore(keys.staged, '-inf', Date.now() - ageMs, 'LIMIT', 0, BATCHES_MAX);
  const pipeline = redis.pipeline();
  for (const batch of staged) pipeline.exists(queue.toKey(batch));
  const replies = (await pipeline.exec()) ?? [];
  const orphans = staged.filter((_, index) => {
    const [error, exists] = replies[index] ?? [new Error('Redis answered for fewer batches than it was asked about')];
    if (error !== null) throw error;
    return exists === 0;
  });
  await queue.addBulk(orphans.map((batch) => ({ name: RECORD_QUEUE, data: { batch }, opts: recordJobOptions(batch) })));
  await queue.retryJobs({ state: 'failed' });
  return orphans.length;
}
