// The queue, as the judge and the run look at it: past every proxy, and past Weir.

import { queueKeys } from '@weir/queue/keys';
import { RECORD_QUEUE } from '@weir/queue/record-jobs';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { setTimeout as delay } from 'node:timers/promises';
import type { Ground } from '../ground/ground.ts';
import { Tally, type Check } from './check.ts';

/** What is left in Redis of events that were accepted. */
export interface QueueState {
  /** Batches in the sorted set. */
  staged: number;
  /** Lists of batches. */
  batches: number;
  /** Jobs of the queue of batches, by their state. */
  jobs: Record<string, number>;
}

export async function readQueue(ground: Ground): Promise<QueueState> {
  return withQueue(ground, async (redis, queue) => {
    const keys = queueKeys(ground.queuePrefix);
    // A hash tag holds no character that SCAN reads as a pattern.
    const pattern = keys.batch('*');
    let batches = 0;
    for await (const found of redis.scanStream({ match: pattern, count: 10_000 }))
      batches += (found as string[]).length;
    return { staged: await redis.zcard(keys.staged), batches, jobs: await queue.getJobCounts() };
  });
}

/** Resolves when nothing waits any more; answers false when that has not come in so many seconds. */
export async function untilDrained(ground: Ground, seconds: number): Promise<boolean> {
  const deadline = performance.now() + seconds * 1_000;
  return withQueue(ground, async (redis, queue) => {
    const { staged } = queueKeys(ground.queuePrefix);
    while (performance.now() < deadline) {
      const jobs = Object.values(await queue.getJobCounts()).reduce((sum, count) => sum + count, 0);
      if (jobs === 0 && (await redis.zcard(staged)) === 0) return true;
      await delay(100);
    }
    return false;
  });
}

async function withQueue<T>(
  { redisUrl, queuePrefix }: Ground,
  use: (redis: Redis, queue: Queue) => Promise<T>,
): Promise<T> {
  const redis = new Redis(redisUrl, { maxRetriesPerRequest: null });
  const queue = new Queue(RECORD_QUEUE, { connection: redis, prefix: queuePrefix });
  try {
    return await use(redis, queue);
  } finally {
    await queue.close();
    redis.disconnect();
  }
}

/** Nothing is left behind. */
export function queueIsDrained({ staged, batches, jobs }: QueueState): Check {
  const tally = new Tally('drained', 'The queue is empty: no batch is staged, no job waits, runs or has failed.');
  tally.examine(2 + Object.keys(jobs).length);
  if (staged > 0) tally.violate(`${staged} batches are staged`);
  if (batches > 0) tally.violate(`${batches} lists of batches are left`);
  for (const [state, count] of Object.entries(jobs)) if (count > 0) tally.violate(`${count} jobs are ${state}`);
  return tally.check;
}
