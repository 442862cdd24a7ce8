// Holds alerts against usage that has changed, beside recording, with connections of its own.

import { findAlertWork, performAlerts, readAlertsOldestSeconds } from '@weir/db/alerts/perform-alerts';
import { openDatabase, type Database } from '@weir/db/database';
import { openAlertWorker, type AlertJobs } from '@weir/queue/alert-jobs';
import { disconnect, openWorker, type QueueAddress } from '@weir/queue/connection';
import type { JobWorker } from '@weir/queue/job-worker';
import type { Logger } from '@weir/shared/log';
import type { WorkerMetrics } from '../worker-metrics.ts';

export interface AlertOptions {
  address: QueueAddress;
  databaseUrl: string;
  statementTimeoutMs: number;
  jobs: Pick<AlertJobs, 'add'>;
  log: Logger;
  metrics: WorkerMetrics;
}

/** Organizations at the same time. A turn is mostly Postgres's work. */
const CONCURRENCY = 2;

/** A turn ends after this, so that other organizations have theirs. */
const TURN_MS = 1_000;

/** How often it is looked what waits, for the metrics. */
const STATE_INTERVAL_MS = 10_000;

/** Adds a job for each organization in which usage has changed that alerts may have to do with. */
export async function addAlertWork({ kysely }: Pick<Database, 'kysely'>, jobs: Pick<AlertJobs, 'add'>): Promise<void> {
  await jobs.add(await findAlertWork(kysely));
}

/** Takes jobs at once: it is told not to where the queue belongs to another database. */
export function openAlerts(options: AlertOptions): JobWorker {
  const { log, metrics } = options;
  const database = openDatabase(options.databaseUrl, {
    // One for each turn, and one for the metrics.
    connectionsMax: CONCURRENCY + 1,
    statementTimeoutMs: options.statementTimeoutMs,
    onConnectionError: (error) => log.warn({ err: error }, 'an idle connection of alerts to Postgres was lost'),
  });
  const queue = openWorker(options.address, (error) =>
    log.warn({ err: error }, 'alerts lost their connection to Redis'),
  );
  const worker = openAlertWorker(queue, {
    concurrency: CONCURRENCY,
    async perform(organizationId) {
      const { crossings, hasLeft } = await performAlerts(database, organizationId, TURN_MS);
      metrics.alertCrossings.inc(crossings);
      return hasLeft;
    },
    onLeft(organizationId) {
      options.jobs.add([organizationId]).catch((error: unknown) => {
        log.warn({ err: error }, 'alerts could not go on at once; what is left will be found again');
      });
    },
    onFailed: (error, organizationId) =>
      log.warn(
        { err: error, organization_id: organizationId },
        'alerts could not be held against usage; it is tried again',
      ),
    onError: (error) => log.warn({ err: error }, 'alerts met an error outside any job'),
  });
  const timer = setInterval(() => {
    readAlertsOldestSeconds(database.kysely).then(
      (seconds) => metrics.alertsOldestSeconds.set(seconds),
      (error: unknown) => log.debug({ err: error }, 'what alerts have not looked at could not be read'),
    );
  }, STATE_INTERVAL_MS);
  return {
    take: worker.take,
    async close() {
      clearInterval(timer);
      await worker.close();
      disconnect(queue);
      await database.close();
    },
  };
}
