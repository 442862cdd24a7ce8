// Jobs of alerts are hints: which organization to look at, and nothing that Postgres does not know. One that comes twice or late finds
// nothing to do; one that never comes is added again by the next look. So they are not tried again, and may be lost.

import type { Logger } from '@weir/shared/log';
import { Queue } from 'bullmq';
import type { QueueConnection } from './connection.ts';
import { openJobWorker, type JobWorker } from './job-worker.ts';
import { noteOfRedis } from './redis-away.ts';

/** The queue of alerts. */
const ALERT_QUEUE = 'alerts';

/** A turn of an organization. */
interface AlertJob {
  organizationId: string;
}

/** The producer's end. */
export interface AlertJobs {
  /** Adds a job for each. An organization whose job waits or is under way gets no other. */
  add(organizationIds: readonly string[]): Promise<void>;
  /** Lets go of the queue. The connection stays open. */
  close(): Promise<void>;
}

export function openAlertJobs({ redis, keys }: QueueConnection, log: Pick<Logger, 'warn'>): AlertJobs {
  const options = { skipWaitingForReady: true, skipVersionCheck: true };
  const queue = new Queue<AlertJob>(ALERT_QUEUE, { connection: redis, prefix: keys.prefix, ...options });
  queue.on('error', (error) => log.warn({ err: noteOfRedis(error) }, 'the queue of alerts lost its connection'));
  return {
    async add(organizationIds) {
      if (organizationIds.length === 0) return;
      const opts = { removeOnComplete: true, removeOnFail: true };
      await queue.addBulk(
        organizationIds.map((organizationId) => ({
          name: 'turn',
          data: { organizationId },
          opts: { ...opts, deduplication: { id: organizationId } },
        })),
      );
    },
    close: () => queue.close(),
  };
}

export interface AlertWorkerOptions {
  /** Turns at the same time. */
  concurrency: number;
  /** Has a turn of an organization, and returns whether it left something. */
  perform(organizationId: string): Promise<boolean>;
  /** Told of an organization whose turn left something once its job is gone, so that it may have another one behind those that wait. */
  onLeft(organizationId: string): void;
  /** Told of each turn that failed. */
  onFailed(error: Error, organizationId: string | undefined): void;
  onError(error: Error): void;
}

/** The worker's end. */
export function openAlertWorker(queue: QueueConnection, options: AlertWorkerOptions): JobWorker {
  const { concurrency, perform, onLeft, onFailed, onError } = options;
  return openJobWorker<AlertJob, string | null>(
    queue,
    ALERT_QUEUE,
    { concurrency },
    async ({ data: { organizationId } }) => ((await perform(organizationId)) ? organizationId : null),
    {
      onCompleted: (left) => {
        if (left !== null) onLeft(left);
      },
      onFailed: (error, job) => onFailed(error, job?.data.organizationId),
      onError,
    },
  );
}
