// Holds alerts against usage that has changed, beside recording, with connections of its own.
//
// Each worker looks by itself, and nothing of it goes through Redis: what is noted in Postgres is all there is to know, and rows that
// one has in hand are passed over by the others. So a worker that dies holds nobody up, not even by a job that has to be taken over.

import { findAlertWork, readAlertsOldestSeconds, TouchedPlaces } from '@weir/db/alerts/find-alert-work';
import { performAlerts } from '@weir/db/alerts/perform-alerts';
import { SlowUsage } from '@weir/db/alerts/slow-usage';
import { openDatabase, type Database } from '@weir/db/database';
import type { JobWorker } from '@weir/queue/job-worker';
import type { Logger } from '@weir/shared/log';
import { SparseLog } from '@weir/shared/sparse-log';
import { setTimeout as delay } from 'node:timers/promises';
import { watchOldest } from '../watch-oldest.ts';
import type { WorkerMetrics } from '../worker-metrics.ts';

export interface AlertOptions {
  databaseUrl: string;
  statementTimeoutMs: number;
  log: Logger;
  metrics: WorkerMetrics;
}

/** How often a worker looks where usage has changed. */
const LOOK_MS = 1_000;

/** A turn of an organization ends after this, so that others have theirs. */
const TURN_MS = 1_000;

/** How often it is looked what waits, for the metrics. */
const STATE_INTERVAL_MS = 10_000;

/** Begins when it is told to: not where the queue belongs to another database. */
export function openAlerts(options: AlertOptions): JobWorker {
  const { log, metrics } = options;
  const database = openDatabase(options.databaseUrl, {
    // One for the turn, and one for the metrics.
    connectionsMax: 2,
    statementTimeoutMs: options.statementTimeoutMs,
    onConnectionError: (error) => log.warn({ err: error }, 'an idle connection of alerts to Postgres was lost'),
  });
  const closing = new AbortController();
  let isOn = false;
  const goesOn = () => isOn && !closing.signal.aborted;
  const places = new TouchedPlaces();
  const slow = new SlowUsage();
  const sparseLog = new SparseLog();
  const look = async (): Promise<boolean> => {
    if (!goesOn()) return false;
    try {
      return await haveTurns({ database, places, slow, log, metrics, sparseLog, goesOn });
    } catch (error) {
      log.warn({ err: error }, 'it could not be seen where usage has changed; alerts look again');
      return false;
    }
  };
  // From the moment on at which it is told to, also where it lives for no second more.
  let looking: Promise<void> | undefined;
  const endWatch = watchOldest(metrics.alertsOldestSeconds, {
    intervalMs: STATE_INTERVAL_MS,
    look: () => readAlertsOldestSeconds(database, places),
    onFailed: (error) => log.warn({ err: error }, 'what alerts have not looked at could not be read'),
  });
  return {
    take(on) {
      isOn = on;
      if (on) looking ??= lookUntil(closing.signal, look);
    },
    async close() {
      endWatch();
      closing.abort();
      await looking;
      await database.close();
    },
  };
}

/** Looks again and again; at once where the last look has left something. */
async function lookUntil(signal: AbortSignal, look: () => Promise<boolean>): Promise<void> {
  while (!signal.aborted) {
    if (await look()) continue;
    await delay(LOOK_MS, undefined, { signal }).catch(() => {});
  }
}

interface Turns {
  database: Database;
  places: TouchedPlaces;
  slow: SlowUsage;
  log: Logger;
  metrics: WorkerMetrics;
  /** What stays so is said now and then, and not at each look. */
  sparseLog: SparseLog;
  goesOn: () => boolean;
}

/** A turn of each organization in which usage has changed. Returns whether one of them has left something. */
async function haveTurns({ database, places, slow, log, metrics, sparseLog, goesOn }: Turns): Promise<boolean> {
  const organizations = await findAlertWork(database, places);
  // Workers begin at different ones.
  const first = Math.floor(Math.random() * organizations.length);
  let hasLeft = false;
  for (const organizationId of [...organizations.slice(first), ...organizations.slice(0, first)]) {
    if (!goesOn()) return false;
    try {
      const turn = await performAlerts(database, organizationId, TURN_MS, places.of(organizationId), slow);
      metrics.alertCrossings.inc(turn.crossings);
      hasLeft ||= turn.hasLeft;
      for (const why of turn.untold) {
        const fields = { err: why, organization_id: organizationId };
        sparseLog.warn(log, `${organizationId} ${why.month}`, fields, 'alerts cannot tell some usage');
      }
      if (turn.tooLong > 0) {
        const fields = { organization_id: organizationId, customers: turn.tooLong };
        const message = 'usage takes too long to be read to hold alerts against it; it is tried again each minute';
        sparseLog.warn(log, `${organizationId} too long`, fields, message);
      }
    } catch (error) {
      const fields = { err: error, organization_id: organizationId };
      sparseLog.warn(log, organizationId, fields, 'alerts could not be held against usage; it is tried again');
    }
  }
  return hasLeft;
}
