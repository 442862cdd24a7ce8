// Work that any one worker does again and again.

import { isDatabaseAway, isStandbyAway, type Database } from '@weir/db/database';
import { reckonRevenue } from '@weir/db/billing/run/expected-revenue';
import { backfillGroups } from '@weir/db/group-backfill';
import { performMoves } from '@weir/db/moves/perform-moves';
import { readMovesOldestSeconds } from '@weir/db/moves/usage-moves';
import { makePartitions } from '@weir/db/partitions';
import { disconnect, openWorker, type QueueAddress, type QueueConnection } from '@weir/queue/connection';
import {
  DELETING_QUEUE,
  MAINTENANCE_QUEUE,
  openMaintenance as openSchedule,
  type MaintenanceTask,
} from '@weir/queue/maintenance-jobs';
import type { JobWorker } from '@weir/queue/job-worker';
import { isAllRecorded } from '@weir/queue/oldest-staged';
import { NotOurQueue, type Ownership } from '@weir/queue/ownership';
import { isRedisAway } from '@weir/queue/redis-away';
import { openSweeper, type Sweeper } from '@weir/queue/sweep';
import { markWorkerSeen } from '@weir/queue/worker-seen';
import type { BillingJobs } from '@weir/queue/billing-jobs';
import type { WebhookJobs } from '@weir/queue/webhook-jobs';
import type { Logger } from '@weir/shared/log';
import { SparseLog } from '@weir/shared/sparse-log';
import { addDueWork, addLooks, addSettling } from './billing/find-work.ts';
import { addWebhookWork } from './webhooks/open-webhooks.ts';
import { deletingTasks } from './deleting.ts';
import { bringCountsBack, drainAcceptedCounts } from './drain-accepted-counts.ts';
import { watchOldest } from './watch-oldest.ts';
import type { WorkerMetrics } from './worker-metrics.ts';

export interface MaintenanceDeps {
  address: QueueAddress;
  database: Database;
  ownership: Pick<Ownership, 'check'>;
  sweepIntervalMs: number;
  sweepAgeMs: number;
  billingIntervalMs: number;
  movesIntervalMs: number;
  /** How long entries of the audit log are kept; 0: for ever. */
  auditLogDays: number;
  billingJobs: BillingJobs;
  webhookIntervalMs: number;
  webhookJobs: Pick<WebhookJobs, 'add'>;
  log: Logger;
  metrics: WorkerMetrics;
}

/** Does maintenance at once: it is told not to where the queue belongs to another database. */
export function openMaintenance(deps: MaintenanceDeps): JobWorker {
  const { log } = deps;
  const queue = openWorker(deps.address, (error) =>
    log.warn({ err: error }, 'maintenance lost its connection to Redis'),
  );
  const sweeper = openSweeper(queue, (error) => log.warn({ err: error }, 'the sweeper met an error'));
  const begin = async () => {
    // What another Weir has counted must not be drained into this one's database.
    await deps.ownership.check();
    await markWorkerSeen(queue);
  };
  const onFailed = (error: Error) => {
    // That a part is away has metrics of its own.
    const isOfAPart = isDatabaseAway(error) || isStandbyAway(error) || isRedisAway(error);
    if (!isOfAPart && !(error instanceof NotOurQueue)) deps.metrics.faults.inc({ fault: 'maintenance' });
  };
  const showOverdue = (task: string, seconds: number) => deps.metrics.maintenanceOverdueSeconds.set({ task }, seconds);
  const options = { begin, onFailed, showOverdue, log };
  const workers = [
    openSchedule(queue, { name: MAINTENANCE_QUEUE, tasks: tasksOf(deps, queue, sweeper), ...options }),
    openSchedule(queue, { name: DELETING_QUEUE, tasks: deletingTasks(deps), ...options }),
  ];
  const endWatch = watchOldest(deps.metrics.movesOldestSeconds, {
    intervalMs: STATE_INTERVAL_MS,
    look: () => readMovesOldestSeconds(deps.database.kysely),
    onFailed: (error) => log.warn({ err: error }, 'which erasures and moves of usage wait could not be read'),
  });
  return {
    take(isOn) {
      for (const worker of workers) worker.take(isOn);
    },
    async close() {
      endWatch();
      await Promise.all(workers.map((worker) => worker.close()));
      await sweeper.close();
      disconnect(queue);
    },
  };
}

/** How often it is looked what waits, for the metrics. */
const STATE_INTERVAL_MS = 10_000;

/** So much of grouping, and of moves, at a time; other maintenance has its turn in between. */
const TURN_MS = 1_000;

/** The same of what may be expected to be invoiced. */
const REVENUE_TURN_MS = 500;

/** All that is done again and again: how often, and what. The name stands in Redis, so a new name is a new task. */
function tasksOf(deps: MaintenanceDeps, queue: QueueConnection, sweeper: Sweeper): Record<string, MaintenanceTask> {
  const { database, log, metrics } = deps;
  const sparseLog = new SparseLog();
  return {
    sweep: {
      everyMs: deps.sweepIntervalMs,
      async perform() {
        const swept = await sweeper.sweep(deps.sweepAgeMs);
        metrics.sweptBatches.inc(swept);
        if (swept > 0) log.info({ batches: swept }, 'batches without a job were enqueued again');
      },
    },
    drain: {
      // What Redis forgets between two drains is missing in the door's count; the events themselves are not touched by it.
      everyMs: 10_000,
      async perform() {
        const drained = await drainAcceptedCounts(queue, database);
        if (drained?.outcome === 'again' && drained.events !== 0) {
          const { id, events } = drained;
          log.warn({ counts: id, events }, 'Redis came back with an older state: some counts of the door are lost');
        }
        const events = await bringCountsBack(queue, database);
        if (events !== undefined && events > 0)
          log.warn({ events }, 'events that Postgres had counted before it went back in time are counted again');
      },
    },
    partitions: {
      // They are made months ahead, so looking a few times a day is plenty.
      everyMs: 6 * 3_600_000,
      async perform() {
        const client = await database.pool.connect();
        try {
          const made = await makePartitions(client, new Date());
          if (made.length > 0) log.info({ partitions: made }, 'partitions were made');
        } finally {
          client.release();
        }
      },
    },
    webhooks: {
      everyMs: deps.webhookIntervalMs,
      perform: () => addWebhookWork(database, deps.webhookJobs),
    },
    billing: {
      everyMs: deps.billingIntervalMs,
      async perform() {
        await deps.billingJobs.promoteAhead();
        await addDueWork(database, deps.billingJobs);
      },
    },
    settling: {
      // What is late for a subscription that has ended is put on an invoice once a day; the hour of it does not matter.
      everyMs: 3_600_000,
      perform: () => addSettling(database, deps.billingJobs),
    },
    unbilled: {
      // Usage that no charge bills is looked for once a day, in days that are over; what could not be looked at is tried again.
      everyMs: 3_600_000,
      perform: () => addLooks(database, deps.billingJobs),
    },
    groups: {
      // Who changes the metadata keys of a meter waits for its usage to be grouped anew.
      everyMs: 2_000,
      async perform() {
        const meters = await backfillGroups(database, TURN_MS, {
          onTakenOut(error, fields) {
            const key = `${fields.meter_id} ${error.message}`;
            sparseLog.warn(log, key, { err: error, ...fields }, 'usage could not be grouped on; it is tried again');
          },
        });
        if (meters > 0) log.info({ meters }, 'usage of before was grouped by new metadata keys');
      },
    },
    moves: {
      everyMs: deps.movesIntervalMs,
      async perform() {
        const isRecorded = (organizationId: string, acceptedBefore: string): Promise<boolean> =>
          isAllRecorded(queue, organizationId, Date.parse(acceptedBefore));
        const done = await performMoves(
          database,
          TURN_MS,
          isRecorded,
          (error, { id, organization_id }) => {
            const fields = { err: error, move: id, organization_id };
            // A month that is taken out is in the way of each move of it, at each look.
            sparseLog.warn(
              log,
              `${organization_id} ${textOf(error)}`,
              fields,
              'usage could not be moved on; it is tried again',
            );
          },
          (hours, { id, organization_id }) =>
            log.warn({ hours, move: id, organization_id }, 'events of hours are lost: these stay under the former id'),
        );
        for (const { id, organization_id, kind } of done)
          log.info({ move: id, organization_id, kind }, 'usage was moved');
      },
    },
    revenue: {
      // Who opens the first page of the console waits for what may be expected to be invoiced, where that is old.
      everyMs: 2_000,
      async perform() {
        await reckonRevenue(database, REVENUE_TURN_MS, (error, organizationId) =>
          log.warn(
            { err: error, organization_id: organizationId },
            'expected revenue could not be reckoned, or not all of it',
          ),
        );
      },
    },
  };
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
