// BullMQ's side of a worker: which jobs it takes, how many at once, and what happens when one throws. A job is never given
// up: it is tried again after a growing pause, for as long as it takes. While Postgres or Redis is away, the worker keeps the
// jobs that it has in hand and takes no others: thousands that fail in turn would keep Redis busy with nothing.

import {
  RECORD_QUEUE,
  backoffMs,
  workerConnection,
  workerTiming,
  type QueueKeys,
  type RecordJob,
} from '@weir/shared/queue';
import { isUnavailable } from '@weir/db/database';
import { isRedisAway } from '@weir/shared/redis-away';
import { Worker } from 'bullmq';
import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Logger } from '@weir/shared/log';
import type { WorkerMetrics } from './metrics.ts';
import { persist, UnknownOrganization, type Persisted, type PersistParts } from './persist.ts';

/** How soon after Postgres is back the jobs in hand go on. */
const IN_HAND_PAUSE_MS_MAX = 1_000;

/** After this many attempts a job goes back to the queue: whatever keeps this one from being recorded may spare others. */
const ATTEMPTS_IN_HAND_MAX = 10;

/** While events of an unknown organization wait, each attempt finds them; one line in this time says so as well. */
const UNKNOWN_TOLD_MS = 60_000;

export interface Consumer {
  /** Whether jobs are taken. Those in hand go on. */
  take(isOn: boolean): void;
  /** Takes no more jobs and waits for those under way. */
  close(): Promise<void>;
}

export function openConsumer(
  redisUrl: string,
  keys: QueueKeys,
  parts: PersistParts,
  options: { concurrency: number; isTaking: boolean; log: Logger; metrics: WorkerMetrics },
): Consumer {
  const { log, metrics } = options;
  const connection = new Redis(redisUrl, workerConnection());
  connection.on('error', (error) => log.warn({ err: error }, 'the worker lost its connection to Redis'));
  const closing = new AbortController();
  // Each pause of each job listens to it.
  setMaxListeners(0, closing.signal);

  const persistWhenPossible = async (batch: string): Promise<Persisted> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await persist(parts, batch);
      } catch (error) {
        const isAway = isUnavailable(error) || isRedisAway(error);
        if (!isAway || attempt === ATTEMPTS_IN_HAND_MAX || closing.signal.aborted) throw error;
        metrics.batchFailures.inc();
        if (attempt === 1)
          log.warn({ err: error, batch }, 'a batch cannot be recorded now; it is kept and tried again');
        await delay(Math.min(IN_HAND_PAUSE_MS_MAX, backoffMs(attempt)), undefined, { signal: closing.signal });
      }
    }
  };
  const count = (persisted: Persisted) => {
    for (const outcome of ['recorded', 'duplicates', 'rejected'] as const)
      metrics.events.inc({ outcome }, persisted[outcome]);
    metrics.reusedKeys.inc(persisted.reused);
  };
  let toldOfUnknownAt = -Infinity;
  const tellOfUnknown = (error: UnknownOrganization) => {
    metrics.unknownOrganizations.inc();
    if (performance.now() - toldOfUnknownAt < UNKNOWN_TOLD_MS) return;
    toldOfUnknownAt = performance.now();
    log.error(
      { organization_id: error.organizationId },
      'events of an organization that this database does not have wait in the queue; they are kept and tried again',
    );
  };
  const worker = new Worker<RecordJob>(
    RECORD_QUEUE,
    async (job) => {
      const endTimer = metrics.batchSeconds.startTimer();
      try {
        count(await persistWhenPossible(job.data.batch));
      } catch (error) {
        if (error instanceof UnknownOrganization) count(error.persisted);
        throw error;
      }
      endTimer();
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
    if (error instanceof UnknownOrganization) {
      tellOfUnknown(error);
      return;
    }
    log.warn(
      { err: error, batch: job?.data.batch, attempts: job?.attemptsMade },
      'a batch could not be recorded; it will be tried again',
    );
  });
  worker.on('error', (error) => log.warn({ err: error }, 'the worker met an error outside any job'));
  const take = (isOn: boolean) => setTaking(worker, isOn);
  take(options.isTaking);
  return {
    take,
    async close() {
      closing.abort();
      await worker.close();
      connection.disconnect();
    },
  };
}

/** Has a worker take jobs or leave them, whatever it did before. */
export function setTaking(worker: Pick<Worker, 'isPaused' | 'pause' | 'resume'>, isOn: boolean): void {
  if (worker.isPaused() !== isOn) return;
  // Both only fail where the worker is being closed.
  (isOn ? worker.resume() : worker.pause(true)).catch(() => {});
}
