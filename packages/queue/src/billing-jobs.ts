// Jobs of billing are hints: which organization to look at, and nothing that Postgres does not know. One that comes twice or late
// finds nothing to do; one that never comes is added again by the next look for work. So they are not tried again, and may be lost.

import type { Logger } from '@weir/shared/log';
import { Queue, type Job } from 'bullmq';
import type { QueueConnection } from './connection.ts';
import { openJobWorker, type JobWorker } from './job-worker.ts';
import { noteOfRedis } from './redis-away.ts';

/** The queue of billing. */
const BILLING_QUEUE = 'billing';

/**
 * `open`: subscriptions whose boundary is past. `finalize`, `past_due`: invoices. `settle`: subscriptions that have ended. `unbilled`:
 * days of usage that may be billed by nothing.
 */
export type BillingTask = 'open' | 'finalize' | 'past_due' | 'settle' | 'unbilled';

/** A turn of an organization at one task. */
export interface BillingJob {
  task: BillingTask;
  organizationId: string;
  /** Of `settle`: those behind this one. */
  after?: string;
  /** So many rows at once at most: smaller after a worker died, or was stopped. */
  chunkMax?: number;
  /** Postgres refused the turn before, which this one takes the place of. */
  wasRefused?: true;
  /** What a worker began and did not come back from, where it is still there when the job is taken. */
  begun?: BegunChunk;
}

/** A chunk that is under way. */
export interface BegunChunk {
  /** Its first row, by its id; of a look at a day the meter and the day. */
  first: string;
  rows: number;
  /** How often a worker died of this row while it was alone. */
  deaths: number;
  /** The worker was told to stop meanwhile: if it did not come back from the chunk, that is no death. */
  isStopped?: true;
}

/** What one transaction takes on: with more it would hold its locks for longer, with fewer the run takes longer. */
export const BILLING_CHUNK_MAX = 500;

/** No rest is as long. What waits for longer was delayed by a machine whose clock was ahead, and would hold its organization up for as long. */
const REST_MS_MAX = 600_000;

/** So many of these have their turn at once. */
const PROMOTED_MAX = 100;

/** The producer's end. */
export interface BillingJobs {
  /** Adds a job for each, to be taken after so long. An organization whose job for the task waits or is under way gets no other. */
  add(jobs: readonly BillingJob[], delayMs?: number): Promise<void>;
  /** Has jobs that were delayed by a clock that was ahead taken now: while they wait, their organizations get no others. */
  promoteAhead(): Promise<void>;
  /**
   * Has the run look at an organization now, such as one that just made a subscription with a start long ago. A turn that is under
   * way may have looked already, so another one follows it. Never fails: without it the run looks there when it looks the next time.
   */
  wakeRun(organizationId: string): void;
  /** Waits for the jobs that are on their way, and lets go of the queue. The connection stays open. */
  close(): Promise<void>;
}

export function openBillingJobs({ redis, keys }: QueueConnection, log: Pick<Logger, 'warn'>): BillingJobs {
  const options = { skipWaitingForReady: true, skipVersionCheck: true };
  const queue = new Queue<BillingJob>(BILLING_QUEUE, { connection: redis, prefix: keys.prefix, ...options });
  queue.on('error', (error) => log.warn({ err: noteOfRedis(error) }, 'the queue of billing lost its connection'));
  const underWay = new Set<Promise<unknown>>();
  const addAll = async (jobs: readonly BillingJob[], delayMs: number, keepLastIfActive: boolean): Promise<void> => {
    if (jobs.length === 0) return;
    const opts = { removeOnComplete: true, removeOnFail: true, delay: Math.round(delayMs) };
    await queue.addBulk(
      jobs.map((data) => ({
        name: data.task,
        data,
        opts: { ...opts, deduplication: { id: `${data.task}_${data.organizationId}`, keepLastIfActive } },
      })),
    );
  };
  return {
    add: (jobs, delayMs = 0) => addAll(jobs, delayMs, false),
    async promoteAhead() {
      const furthest = await queue.getJobs('delayed', 0, PROMOTED_MAX - 1, false);
      for (const job of furthest.filter(({ timestamp, delay }) => timestamp + delay > Date.now() + REST_MS_MAX)) {
        try {
          await job.promote();
        } catch (error) {
          // Another worker may have been quicker.
          if (await job.isDelayed()) throw error;
        }
      }
    },
    wakeRun(organizationId) {
      const tasks = ['open', 'finalize'] as const;
      const woken = tasks.map((task) => ({ task, organizationId }));
      const adding = addAll(woken, 0, true)
        .catch((error: unknown) => log.warn({ err: error }, 'the run could not be woken; it comes by itself'))
        .finally(() => underWay.delete(adding));
      underWay.add(adding);
    },
    async close() {
      await Promise.all(underWay);
      await queue.close();
    },
  };
}

export interface BillingWorkerOptions {
  /** Jobs at the same time. */
  concurrency: number;
  /**
   * Does a job, and returns those that are to follow it. Before each chunk it calls `begin`, which the job remembers should the worker
   * die. When it throws, the job is gone, and what is due is found again.
   */
  perform(job: BillingJob, begin: (chunk: BegunChunk) => Promise<void>): Promise<BillingJob[]>;
  /** Told what a job returned once it is gone, so that its organization may have another one, behind those that wait. */
  onDone(next: readonly BillingJob[]): void;
  /** Told of each job that failed. */
  onFailed(error: Error, job: BillingJob | undefined): void;
  onError(error: Error): void;
}

/** The worker's end. */
export interface BillingWorker extends JobWorker {
  /** Takes no more jobs and waits for those under way. What an error that nobody caught cuts off, the worker died of. */
  close(uncaught?: Error): Promise<void>;
}

export function openBillingWorker(queue: QueueConnection, options: BillingWorkerOptions): BillingWorker {
  const { concurrency, perform, onDone, onFailed, onError } = options;
  /** What this worker began. */
  const inHand = new Map<Job<BillingJob>, BegunChunk>();
  let isStopping = false;
  const remember = async (job: Job<BillingJob>, begun: BegunChunk): Promise<void> => {
    inHand.set(job, begun);
    await job.updateData({ ...job.data, begun: { ...begun, ...(isStopping && { isStopped: true }) } });
  };
  const worker = openJobWorker<BillingJob, BillingJob[]>(
    queue,
    BILLING_QUEUE,
    { concurrency },
    async (job) => {
      try {
        return await perform(job.data, (begun) => remember(job, begun));
      } finally {
        inHand.delete(job);
      }
    },
    {
      onCompleted: onDone,
      onFailed: (error, job) => onFailed(error, job?.data),
      onError,
    },
  );
  return {
    take: (isOn) => worker.take(isOn),
    async close(uncaught) {
      isStopping = uncaught === undefined;
      // Before anything is waited for: the process may end before the chunk does. One that ends first leaves no job to write to, and where
      // Redis cannot be told, what is cut off counts as a death.
      if (isStopping) for (const [job, begun] of inHand) remember(job, begun).catch(() => {});
      await worker.close();
    },
  };
}
