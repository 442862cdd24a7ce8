// BullMQ's side of a worker: which jobs it takes, how many at once, and what happens when one throws. A job is never given
// up: it is tried again after a growing pause, for as long as it takes.

import {
  RECORD_QUEUE,
  backoffMs,
  workerConnection,
  workerTiming,
  type QueueKeys,
  type RecordJob,
} from '@weir/shared/queue';
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import type { Logger } from '@weir/shared/log';
import type { WorkerMetrics } from './metrics.ts';
import { persist, type PersistParts } from './persist.ts';

export interface Consumer {
  /** Takes no more jobs and waits for those under way. */
  close(): Promise<void>;
}

export function openConsumer(
  redisUrl: string,
  keys: QueueKeys,
  parts: PersistParts,
  options: { concurrency: number; log: Logger; metrics: WorkerMetrics },
): Consumer {
  const { log, metrics } = options;
  const connection = new Redis(redisUrl, workerConnection());
  connection.on('error', (error) => log.warn({ err: error }, 'the worker lost its connection to Redis'));
  const worker = new Worker<RecordJob>(
    RECORD_QUEUE,
    async (job) => {
      const endTimer = metrics.batchSeconds.startTimer();
      const persisted = await persist(parts, job.data.batch);
      endTimer();
      for (const outcome of ['recorded', 'duplicates', 'rejected'] as const)
        metrics.events.inc({ outcome }, persisted[outcome]);
    },
    {
      connection,
      prefix: keys.prefix,
      concurrency: options.concurrency,
      ...workerTiming,
      settings: { backoffStrategy: backoffMs },
    },
  );
  worker.on('failed', (job, error) => {
    metrics.batchFailures.inc();
    log.warn(
      { err: error, batch: job?.data.batch, attempts: job?.attemptsMade },
      'a batch could not be recorded; it will be tried again',
    );
  });
  worker.on('error', (error) => log.warn({ err: error }, 'the worker met an error outside any job'));
  return {
    async close() {
      await worker.close();
      connection.disconnect();
    },
  };
}
