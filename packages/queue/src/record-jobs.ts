// A job only names a batch. Without it the batch would wait for the sweeper of a worker (sweep.ts), a few seconds; with
// it the batch is recorded at once. So a job that cannot be added costs time and never an event.

import {
  RECORD_QUEUE,
  producerQueueOptions,
  recordJobOptions,
  type QueueKeys,
  type RecordJob,
} from '@weir/shared/queue';
import { Queue } from 'bullmq';
import type { FastifyBaseLogger } from 'fastify';
import type { Redis } from 'ioredis';

/** The producer's end of the queue of batches. */
export interface RecordQueue {
  /** Asks the workers to record a batch. Never fails: what goes wrong is logged and left to the sweeper. */
  enqueue(batch: string): void;
  /** Waits for the jobs that are on their way, and lets go of the queue. The connection stays open. */
  close(): Promise<void>;
}

export function openRecordQueue(
  redis: Redis,
  keys: QueueKeys,
  log: FastifyBaseLogger,
  onFailure: () => void,
): RecordQueue {
  const queue = new Queue<RecordJob>(RECORD_QUEUE, { connection: redis, prefix: keys.prefix, ...producerQueueOptions });
  queue.on('error', (error) => log.warn({ err: error }, 'the queue lost its connection'));
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
