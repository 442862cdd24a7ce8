// Jobs of webhooks are hints: which endpoint to look at, and nothing that Postgres does not know. One that comes twice or late finds
// nothing to do; one that never comes is added again by the next look. So they are not tried again, and may be lost.

import type { Logger } from '@weir/shared/log';
import { Queue } from 'bullmq';
import type { QueueConnection } from './connection.ts';
import { openJobWorker, type JobWorker } from './job-worker.ts';
import { noteOfRedis } from './redis-away.ts';

/** The queue of webhooks. */
const WEBHOOK_QUEUE = 'webhooks';

/** A turn of an endpoint. */
interface WebhookJob {
  organizationId: string;
  endpointId: string;
}

/** The producer's end. */
export interface WebhookJobs {
  /** Adds a job for each. An endpoint whose job waits or is under way gets no other. */
  add(jobs: readonly WebhookJob[]): Promise<void>;
  /** Lets go of the queue. The connection stays open. */
  close(): Promise<void>;
}

export function openWebhookJobs({ redis, keys }: QueueConnection, log: Pick<Logger, 'warn'>): WebhookJobs {
  const options = { skipWaitingForReady: true, skipVersionCheck: true };
  const queue = new Queue<WebhookJob>(WEBHOOK_QUEUE, { connection: redis, prefix: keys.prefix, ...options });
  queue.on('error', (error) => log.warn({ err: noteOfRedis(error) }, 'the queue of webhooks lost its connection'));
  return {
    async add(jobs) {
      if (jobs.length === 0) return;
      const opts = { removeOnComplete: true, removeOnFail: true };
      await queue.addBulk(
        jobs.map((data) => ({ name: 'turn', data, opts: { ...opts, deduplication: { id: data.endpointId } } })),
      );
    },
    close: () => queue.close(),
  };
}

export interface WebhookWorkerOptions {
  /** Turns at the same time. */
  concurrency: number;
  /** Has a turn of an endpoint, and returns whether it left something. */
  perform(job: WebhookJob): Promise<boolean>;
  /** Told of an endpoint whose turn left something once its job is gone, so that it may have another one behind those that wait. */
  onLeft(job: WebhookJob): void;
  /** Told of each turn that failed. */
  onFailed(error: Error, job: WebhookJob | undefined): void;
  onError(error: Error): void;
}

/** The worker's end. */
export function openWebhookWorker(queue: QueueConnection, options: WebhookWorkerOptions): JobWorker {
  const { concurrency, perform, onLeft, onFailed, onError } = options;
  return openJobWorker<WebhookJob, WebhookJob | null>(
    queue,
    WEBHOOK_QUEUE,
    { concurrency },
    async (job) => ((await perform(job.data)) ? job.data : null),
    {
      onCompleted: (left) => {
        if (left !== null) onLeft(left);
      },
      onFailed: (error, job) => onFailed(error, job?.data),
      onError,
    },
  );
}
