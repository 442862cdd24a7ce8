// Finds what the quick way missed: batches whose job was never added (the API died in between), and jobs that BullMQ holds
// for failed. Both are put back; putting back what is on its way already does nothing.

import { Queue } from 'bullmq';
import type { QueueConnection } from './connection.ts';
import { noteOfRedis } from './redis-away.ts';
import { RECORD_QUEUE, recordJobOptions, type RecordJob } from './record-jobs.ts';

/**
 * Batches that are looked at in one sweep, the oldest first: some 10 ms of work. Where there are more, the next sweep goes on behind them:
 * those that cannot be recorded stay, and must not hide one without a job.
 */
const BATCHES_MAX = 5_000;

export interface Sweeper {
  /**
   * Enqueues each batch that was staged more than `ageMs` ago and has no job (of 5,000 in one call, and of the next ones in the next), and has failed jobs and those that wait for their
   * next attempt tried now. Returns how many batches it had to enqueue. Clocks may differ by hours: a batch of the future is
   * one of a machine whose clock is ahead, and its job, like one that such a machine has delayed, would wait as long.
   */
  sweep(ageMs: number): Promise<number>;
  close(): Promise<void>;
}

export function openSweeper({ redis, keys }: QueueConnection, onError: (error: Error) => void): Sweeper {
  const queue = new Queue<RecordJob>(RECORD_QUEUE, { connection: redis, prefix: keys.prefix });
  queue.on('error', (error) => onError(noteOfRedis(error)));
  let from = 0;
  return {
    async sweep(ageMs) {
      const now = Date.now();
      const old = await redis.zrangebyscore(keys.staged, '-inf', now - ageMs, 'LIMIT', from, BATCHES_MAX);
      const ahead = await redis.zrangebyscore(keys.staged, now + ageMs, '+inf', 'LIMIT', 0, BATCHES_MAX);
      const staged = [...old, ...ahead];
      const pipeline = redis.pipeline();
      for (const batch of staged) pipeline.exists(queue.toKey(batch));
      const replies = (await pipeline.exec()) ?? [];
      const orphans = staged.filter((_, index) => {
        const [error, exists] = replies[index] ?? [
          new Error('Redis answered for fewer batches than it was asked about'),
        ];
        if (error !== null) throw error;
        return exists === 0;
      });
      await queue.addBulk(
        orphans.map((batch) => ({ name: RECORD_QUEUE, data: { batch }, opts: recordJobOptions(batch) })),
      );
      await queue.retryJobs({ state: 'failed' });
      await queue.promoteJobs();
      from = old.length < BATCHES_MAX ? 0 : from + BATCHES_MAX;
      return orphans.length;
    },
    close: () => queue.close(),
  };
}
