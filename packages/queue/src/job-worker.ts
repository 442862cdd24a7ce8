import { ErrorCode, Worker, type Job, type WorkerOptions } from 'bullmq';
import type { QueueConnection } from './connection.ts';
import { noteOfRedis } from './redis-away.ts';

/** Takes jobs of one queue. */
export interface JobWorker {
  /** Has it take jobs or leave them, whatever it did before. Those in hand go on. */
  take(isOn: boolean): void;
  /** Takes no more jobs and waits for those under way. */
  close(): Promise<void>;
}

/**
 * Timing of jobs under a worker that dies: another worker has its job within about 10 s. A job may be taken over any
 * number of times, since by default BullMQ gives it up as failed after the second.
 */
const TIMING = {
  lockDuration: 5_000,
  stalledInterval: 5_000,
  maxStalledCount: Number.MAX_SAFE_INTEGER,
} as const;

export function openJobWorker<Data, Result = void, Name extends string = string>(
  { redis, keys }: QueueConnection,
  name: string,
  options: Pick<WorkerOptions, 'concurrency' | 'settings'>,
  work: (job: Job<Data, Result, Name>) => Promise<Result>,
  events: {
    /** Told of each job that is done and gone. */
    onCompleted?(result: Result): void;
    onFailed(error: Error, job: Job<Data, Result, Name> | undefined): void;
    onError(error: Error): void;
  },
): JobWorker {
  const worker = new Worker<Data, Result, Name>(name, work, {
    connection: redis,
    prefix: keys.prefix,
    ...TIMING,
    ...options,
  });
  worker.on('completed', (_, result) => events.onCompleted?.(result));
  worker.on('failed', (job, error) => events.onFailed(error, job));
  // It has connections of its own beside the one that it was given.
  worker.on('error', (error) => {
    if (!isOver(error)) events.onError(noteOfRedis(error));
  });
  return {
    take(isOn) {
      if (worker.isPaused() !== isOn) return;
      // Both only fail where the worker is being closed.
      (isOn ? worker.resume() : worker.pause(true)).catch(() => {});
    },
    close: () => worker.close(),
  };
}

/** Whether the end of a job did not find it: the end was written before, and the answer lost with the connection. Nothing is left to do. */
const isOver = (error: Error): boolean => 'code' in error && error.code === ErrorCode.JobNotExist;
