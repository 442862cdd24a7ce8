// The jobs that a worker takes, how many at once, and what happens when one throws. A job is never given
// up: it is tried again after a growing pause, for as long as it takes. While Postgres or Redis is away, the worker keeps the
// jobs that it has in hand and takes no others: thousands that fail in turn would keep Redis busy with nothing.

import { isUnavailable, StandbyAway } from '@weir/db/database';
import type { Persisted } from '@weir/db/record-batch';
import { disconnect, openWorker, type QueueAddress } from '@weir/queue/connection';
import type { JobWorker } from '@weir/queue/job-worker';
import { backoffMs, openRecordWorker } from '@weir/queue/record-jobs';
import { isRedisAway } from '@weir/queue/redis-away';
import type { Logger } from '@weir/shared/log';
import { SparseLog } from '@weir/shared/sparse-log';
import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { WorkerMetrics } from './worker-metrics.ts';
import { NotAcknowledged, persist, UnknownOrganization, type PersistDeps } from './persist.ts';

/** How soon after Postgres is back the jobs in hand go on. */
const IN_HAND_PAUSE_MS_MAX = 1_000;

/** After this many attempts a job goes back to the queue: whatever keeps this one from being recorded may spare others. */
const ATTEMPTS_IN_HAND_MAX = 10;

export interface ConsumerOptions {
  /** Jobs at the same time. */
  concurrency: number;
  /** Whether a commit is worth trying: one that is given up leaves its session in Postgres until the standby is back. */
  hasStandby(): boolean;
  log: Logger;
  metrics: WorkerMetrics;
}

/** Takes jobs at once: it is told not to where the queue belongs to another database. */
export function openConsumer(address: QueueAddress, deps: PersistDeps, options: ConsumerOptions): JobWorker {
  const { concurrency, log, metrics } = options;
  const queue = openWorker(address, (error) => log.warn({ err: error }, 'the worker lost its connection to Redis'));
  const closing = new AbortController();
  // Each pause of each job listens to it.
  setMaxListeners(0, closing.signal);

  const persistWhenPossible = async (batch: string, isRetry: boolean): Promise<Persisted> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        if (!options.hasStandby()) throw new StandbyAway();
        return await persist(deps, batch, isRetry);
      } catch (error) {
        const isAway = isUnavailable(error) || isRedisAway(error);
        if (!isAway || attempt === ATTEMPTS_IN_HAND_MAX || closing.signal.aborted) throw error;
        metrics.batchFailures.inc();
        if (attempt === 1)
          log.warn({ err: error, batch }, 'a batch cannot be recorded now; it is kept and tried again');
        const pause = delay(Math.min(IN_HAND_PAUSE_MS_MAX, backoffMs(attempt)), undefined, { signal: closing.signal });
        // A stop meanwhile ends the tries, and the log has why there were any.
        await pause.catch(() => {
          throw error;
        });
      }
    }
  };
  const count = (persisted: Persisted) => {
    for (const outcome of ['recorded', 'duplicates', 'rejected'] as const)
      metrics.events.inc({ outcome }, persisted[outcome]);
    metrics.reusedKeys.inc(persisted.reused);
  };
  // While a batch stays for the same reason, each attempt finds that; one line a minute says so as well.
  const sparseLog = new SparseLog(60_000);
  const worker = openRecordWorker(queue, {
    concurrency,
    async record(batch, isRetry) {
      const endTimer = metrics.batchSeconds.startTimer();
      try {
        count(await persistWhenPossible(batch, isRetry));
      } catch (error) {
        if (error instanceof UnknownOrganization) count(error.persisted);
        throw error;
      }
      endTimer();
    },
    onFailed(error, batch, attempts) {
      if (error instanceof NotAcknowledged) {
        const message =
          'no replica of Redis acknowledges a batch: its events are recorded, and it stays there until one does';
        sparseLog.write(log, 'info', 'not acknowledged', { batch }, message);
        return;
      }
      metrics.batchFailures.inc();
      if (error instanceof UnknownOrganization) {
        metrics.unknownOrganizations.inc();
        const fields = { organization_id: error.organizationId, batch };
        const message =
          'events of an organization that this database does not have wait in the queue; they are kept and tried again';
        sparseLog.write(log, 'error', 'unknown', fields, message);
      } else log.warn({ err: error, batch, attempts }, 'a batch could not be recorded; it will be tried again');
    },
    onError: (error) => log.warn({ err: error }, 'the worker met an error outside any job'),
  });
  return {
    take: worker.take,
    async close() {
      closing.abort();
      await worker.close();
      disconnect(queue);
    },
  };
}
