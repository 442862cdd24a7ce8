// The jobs that have batches recorded. A job only names a batch. Without it the batch would wait for the sweeper, a few seconds;
// with it the batch is recorded at once. So a job that cannot be added costs time and never an event.

import type { Logger } from '@weir/shared/log';
import { Queue, type JobsOptions } from 'bullmq';
import type { QueueConnection } from './connection.ts';
import { openJobWorker, type JobWorker } from './job-worker.ts';
import { noteOfRedis } from './redis-away.ts';

/** The queue of batches to record. */
export const RECORD_QUEUE = 'record';

export interface RecordJob {
  batch: string;
}

/**
 * A batch of this many events is full: one statement of some 50 ms. The more events it records, the more of them share the row of
 * a customer, so that 2,000 take three quarters of the time of twice 1,000; with more a busy worker blocks others for longer.
 */
export const BATCH_EVENTS_MAX = 2_000;

/** So is a batch of this many characters of events, since a worker has all of a batch in memory, several times over. */
export const BATCH_CHARACTERS_MAX = 4 * 1_048_576;

/**
 * Options of the job that records a batch. Its id is the batch's, so adding it again while it exists does nothing. It
 * is tried until it succeeds: a job in `failed` would be an accepted event that nobody counts.
 */
export function recordJobOptions(batch: string): JobsOptions {
  return {
    jobId: batch,
    attempts: Number.MAX_SAFE_INTEGER,
    backoff: { type: 'capped' },
    removeOnComplete: true,
    removeOnFail: false,
    stackTraceLimit: 1,
  };
}

/** Milliseconds to wait before the next attempt at a job: 0.25 s, doubled each time, at most 5 s. */
export function backoffMs(attemptsMade: number): number {
  return Math.min(5_000, 250 * 2 ** Math.min(attemptsMade - 1, 10));
}

/** The producer's end of the queue of batches. */
export interface RecordJobs {
  /** Asks the workers to record a batch. Never fails: what goes wrong is logged and left to the sweeper. */
  enqueue(batch: string): void;
  /** Waits for the jobs that are on their way, and lets go of the queue. The connection stays open. */
  close(): Promise<void>;
}

export function openRecordJobs(
  { redis, keys }: QueueConnection,
  log: Pick<Logger, 'warn'>,
  onFailure: () => void,
): RecordJobs {
  // Without the first of these a queue that is made while Redis is away would reject for ever.
  const options = { skipWaitingForReady: true, skipVersionCheck: true };
  const queue = new Queue<RecordJob>(RECORD_QUEUE, { connection: redis, prefix: keys.prefix, ...options });
  queue.on('error', (error) => log.warn({ err: noteOfRedis(error) }, 'the queue lost its connection'));
  const underWay = new Set<Promise<unknown>>();
  return {
    enqueue(batch) {
      const adding = queue
        .add(RECORD_QUEUE, { batch }, recordJobOptions(batch))
        .catch((error: unknown) => {
          onFailure();
          log.warn({ err: error, batch }, 'a job could not be added; the sweeper will add it');
        })
        .finally(() => underWay.delete(adding));
      underWay.add(adding);
    },
    async close() {
      await Promise.all(underWay);
      await queue.close();
    },
  };
}

export interface RecordWorkerOptions {
  /** Jobs at the same time. */
  concurrency: number;
  /** Records a batch. When it throws, the job is tried again after a growing pause, for as long as it takes. */
  record(batch: string, isRetry: boolean): Promise<void>;
  /** Told of each attempt that failed. */
  onFailed(error: Error, batch: string | undefined, attempts: number | undefined): void;
  onError(error: Error): void;
}

/** The worker's end of the queue of batches. */
export function openRecordWorker(queue: QueueConnection, options: RecordWorkerOptions): JobWorker {
  const { concurrency, record, onFailed, onError } = options;
  const settings = { backoffStrategy: backoffMs };
  return openJobWorker<RecordJob>(
    queue,
    RECORD_QUEUE,
    { concurrency, settings },
    async (job) => record(job.data.batch, job.attemptsMade > 0),
    {
      onFailed: (error, job) => onFailed(error, job?.data.batch, job?.attemptsMade),
      onError,
    },
  );
}
