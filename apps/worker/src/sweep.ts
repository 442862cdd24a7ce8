// Finds what the quick way missed: batches whose job was never added (the API died in between), and jobs that BullMQ holds
// for failed. Both are put back; putting back what is on its way already does nothing.

import { RECORD_QUEUE, recordJobOptions, type QueueKeys, type RecordJob } from '@weir/shared/queue';
import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';

/** Batches that are looked at in one go, so that a backlog of any length is swept with little memory. */
const PAGE = 500;

/**
 * Enqueues every batch that was staged more than `ageMs` ago and has no job, and retries failed jobs. Answers how many
 * batches it had to enqueue.
 */
export async function sweep(redis: Redis, keys: QueueKeys, queue: Queue<RecordJob>, ageMs: number): Promise<number> {
  const oldest = Date.now() - ageMs;
  let swept = 0;
  for (let offset = 0; ; offset += PAGE) {
    const batches = await redis.zrangebyscore(keys.staged, '-inf', oldest, 'LIMIT', offset, PAGE);
    const jobs = await Promise.all(batches.map((batch) => queue.getJob(batch)));
    const orphans = batches.filter((_, index) => jobs[index] === undefined);
    await queue.addBulk(
      orphans.map((batch) => ({ name: RECORD_QUEUE, data: { batch }, opts: recordJobOptions(batch) })),
    );
    swept += orphans.length;
    if (batches.length < PAGE) break;
  }
  await queue.retryJobs({ state: 'failed' });
  return swept;
}
