// Jobs of billing are hints: which rows of Postgres to look at, and nothing that Postgres does not know. One that comes twice or late
// finds nothing to do; one that never comes is added again by the next look for work. So they are not tried again, and may be lost.

import type { Logger } from '@weir/shared/log';
import { Queue } from 'bullmq';
import type { QueueConnection } from './connection.ts';
import { openJobWorker, type JobWorker } from './job-worker.ts';

/** The queue of billing. */
const BILLING_QUEUE = 'billing';

/** `open`: subscriptions whose boundary is past. `finalize`, `past_due`: invoices. `settle`: those that have ended, of an organization. */
export type BillingTask = 'open' | 'finalize' | 'past_due' | 'settle';

export interface BillingJob {
  task: BillingTask;
  organizationId: string;
  /** Of subscriptions or invoices; none for `settle`. */
  ids: string[];
}

/** What one transaction takes on: with more it would hold its locks for longer, with fewer the run takes longer. */
export const BILLING_CHUNK_MAX = 500;

/**
 * While so many jobs wait, nothing is looked for: they name what would be found again, and keep several workers busy until the next
 * look. To find 100,000 drafts is work for Postgres, and to name them to Redis, which has most of them, takes megabytes.
 */
const WAITING_MAX = 50;

/** The producer's end. */
export interface BillingJobs {
  /** Whether so many jobs wait that more would be of no use. */
  isFull(): Promise<boolean>;
  /** Adds jobs for chunks of these rows of an organization. A chunk whose job waits or is under way is not added again. */
  add(task: BillingTask, organizationId: string, ids: readonly string[]): Promise<void>;
  /**
   * Has the run look at a subscription now, such as one that was just made with a start long ago. Never fails: without it the run looks
   * at it when it looks the next time.
   */
  wakeRun(organizationId: string, subscriptionId: string): void;
  /** Waits for the jobs that are on their way, and lets go of the queue. The connection stays open. */
  close(): Promise<void>;
}

export function openBillingJobs({ redis, keys }: QueueConnection, log: Pick<Logger, 'warn'>): BillingJobs {
  const options = { skipWaitingForReady: true, skipVersionCheck: true };
  const queue = new Queue<BillingJob>(BILLING_QUEUE, { connection: redis, prefix: keys.prefix, ...options });
  queue.on('error', (error) => log.warn({ err: error }, 'the queue of billing lost its connection'));
  const underWay = new Set<Promise<unknown>>();
  const add: BillingJobs['add'] = async (task, organizationId, ids) => {
    await queue.addBulk(
      chunksOf(ids).map((chunk) => ({
        name: task,
        data: { task, organizationId, ids: chunk },
        opts: { jobId: jobId(task, organizationId, chunk), removeOnComplete: true, removeOnFail: true },
      })),
    );
  };
  return {
    isFull: async () => (await queue.getWaitingCount()) >= WAITING_MAX,
    add,
    wakeRun(organizationId, subscriptionId) {
      const adding = add('open', organizationId, [subscriptionId])
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

function chunksOf(ids: readonly string[]): string[][] {
  if (ids.length === 0) return [[]];
  const chunks: string[][] = [];
  for (let at = 0; at < ids.length; at += BILLING_CHUNK_MAX) chunks.push(ids.slice(at, at + BILLING_CHUNK_MAX));
  return chunks;
}

/** Chunks are done as a whole, so what is left is cut in the same places when it is found again. */
function jobId(task: BillingTask, organizationId: string, ids: readonly string[]): string {
  return [task, organizationId, ids.at(0), ids.at(-1)].filter((part) => part !== undefined).join('_');
}

export interface BillingWorkerOptions {
  /** Jobs at the same time. */
  concurrency: number;
  /** Does a job. When it throws, the job is gone, and what it named is found again. */
  perform(job: BillingJob): Promise<void>;
  /** Told of each job that failed. */
  onFailed(error: Error, job: BillingJob | undefined): void;
  onError(error: Error): void;
}

/** The worker's end. */
export function openBillingWorker(queue: QueueConnection, options: BillingWorkerOptions): JobWorker {
  const { concurrency, perform, onFailed, onError } = options;
  return openJobWorker<BillingJob>(queue, BILLING_QUEUE, { concurrency }, async (job) => perform(job.data), {
    onFailed: (error, job) => onFailed(error, job?.data),
    onError,
  });
}
