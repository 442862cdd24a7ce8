// Whether anything is left in the queue.

import { setTimeout as delay } from 'node:timers/promises';
import { withQueue } from '../environment/redis-queue.ts';
import type { SystemUnderTest } from '../environment/system.ts';
import { Check } from './check.ts';

/** What is left in Redis of events that were accepted. */
export interface QueueState {
  /** Batches in the sorted set. */
  staged: number;
  /** Lists of batches. */
  batches: number;
  /** Jobs of the queue of batches, by their state. */
  jobs: Record<string, number>;
}

export function readQueue(system: SystemUnderTest): Promise<QueueState> {
  return withQueue(system, async ({ redis, queue, keys }) => {
    // A hash tag holds no character that SCAN reads as a pattern.
    const pattern = keys.batch('*');
    let batches = 0;
    for await (const found of redis.scanStream({ match: pattern, count: 10_000 }))
      batches += (found as string[]).length;
    return { staged: await redis.zcard(keys.staged), batches, jobs: await queue.getJobCounts() };
  });
}

/** Resolves when nothing waits any more. Returns false when that has not come in so many seconds. */
export function untilDrained(system: SystemUnderTest, seconds: number): Promise<boolean> {
  const deadline = performance.now() + seconds * 1_000;
  return withQueue(system, async ({ redis, queue, keys }) => {
    while (performance.now() < deadline) {
      const jobs = Object.values(await queue.getJobCounts()).reduce((sum, count) => sum + count, 0);
      if (jobs === 0 && (await redis.zcard(keys.staged)) === 0) return true;
      await delay(100);
    }
    return false;
  });
}

/** Nothing is left behind. */
export function queueIsDrained({ staged, batches, jobs }: QueueState): Check {
  const check = new Check('drained', 'The queue is empty: no batch is staged, no job waits, runs or has failed.');
  check.examine(2 + Object.keys(jobs).length);
  if (staged > 0) check.violate(`${staged} batches are staged`);
  if (batches > 0) check.violate(`${batches} lists of batches are left`);
  for (const [state, count] of Object.entries(jobs)) if (count > 0) check.violate(`${count} jobs are ${state}`);
  return check;
}
