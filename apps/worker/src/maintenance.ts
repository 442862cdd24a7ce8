// Work that any one worker does again and again.

import type { Database } from '@weir/db/database';
import { deleteOldAuditEntries } from '@weir/db/audit-log';
import { deleteExpiredInvitations } from '@weir/db/invitations';
import { reckonRevenue } from '@weir/db/billing/run/expected-revenue';
import { deleteOldLooks } from '@weir/db/billing/usage/unbilled-usage';
import { backfillGroups } from '@weir/db/group-backfill';
import { performMoves } from '@weir/db/moves/perform-moves';
import { makePartitions } from '@weir/db/partitions';
import { deleteOldRequestKeys } from '@weir/db/request-keys';
import { deleteExpiredPasswordResets } from '@weir/db/password-resets';
import { deleteExpiredSessions } from '@weir/db/sessions';
import { deleteOldDeliveries } from '@weir/db/webhooks/deliveries';
import { deleteExpiredWidgetTokens } from '@weir/db/widget-tokens';
import { disconnect, openWorker, type QueueAddress, type QueueConnection } from '@weir/queue/connection';
import { openMaintenance as openSchedule } from '@weir/queue/maintenance-jobs';
import type { JobWorker } from '@weir/queue/job-worker';
import { isAllRecorded } from '@weir/queue/oldest-staged';
import type { Ownership } from '@weir/queue/ownership';
import { openSweeper, type Sweeper } from '@weir/queue/sweep';
import { markWorkerSeen } from '@weir/queue/worker-seen';
import type { BillingJobs } from '@weir/queue/billing-jobs';
import type { WebhookJobs } from '@weir/queue/webhook-jobs';
import type { Logger } from '@weir/shared/log';
import { addDueWork, addLooks, addSettling } from './billing/find-work.ts';
import { addWebhookWork } from './webhooks/open-webhooks.ts';
import { bringCountsBack, drainAcceptedCounts } from './drain-accepted-counts.ts';
import type { WorkerMetrics } from './worker-metrics.ts';

/** What Redis forgets between two drains is missing in the door's count; the events themselves are not touched by it. */
const DRAIN_INTERVAL_MS = 10_000;

/** Partitions are made months ahead, so looking a few times a day is plenty. */
const PARTITIONS_INTERVAL_MS = 6 * 3_600_000;

/** What has ended, a session or a link, opens nothing; deleting it only spares room. */
const SESSIONS_INTERVAL_MS = 3_600_000;

/** What is late for a subscription that has ended is put on an invoice once a day; the hour of it does not matter. */
const SETTLING_INTERVAL_MS = 3_600_000;

/** Usage that no charge bills is looked for once a day, in days that are over; what could not be looked at is tried again. */
const UNBILLED_INTERVAL_MS = 3_600_000;

/**
 * Of what any request may add to, entries of the audit log, keys of requests, deliveries of webhooks and tokens of widgets, a bounded
 * number is deleted each time: more than an API writes meanwhile.
 */
const DELETING_INTERVAL_MS = 300_000;

/** Who changes the metadata keys of a meter waits for its usage to be grouped anew. */
const GROUPS_INTERVAL_MS = 2_000;

/** So much of it at a time; other maintenance has its turn in between. */
const GROUPS_MS = 1_000;

/** The same of moves of usage: so much at a time. */
const MOVES_MS = 1_000;

/** Who opens the first page of the console waits for what may be expected to be invoiced, where that is old. */
const REVENUE_INTERVAL_MS = 2_000;

/** So much of it at a time. */
const REVENUE_MS = 500;

type Task =
  | 'sweep'
  | 'drain'
  | 'partitions'
  | 'sessions'
  | 'auditLog'
  | 'requestKeys'
  | 'webhooks'
  | 'deliveries'
  | 'widgetTokens'
  | 'billing'
  | 'settling'
  | 'unbilled'
  | 'groups'
  | 'moves'
  | 'revenue';

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
  const worker = openSchedule<Task>(queue, {
    every: {
      sweep: deps.sweepIntervalMs,
      drain: DRAIN_INTERVAL_MS,
      partitions: PARTITIONS_INTERVAL_MS,
      sessions: SESSIONS_INTERVAL_MS,
      auditLog: DELETING_INTERVAL_MS,
      requestKeys: DELETING_INTERVAL_MS,
      webhooks: deps.webhookIntervalMs,
      deliveries: DELETING_INTERVAL_MS,
      widgetTokens: DELETING_INTERVAL_MS,
      billing: deps.billingIntervalMs,
      settling: SETTLING_INTERVAL_MS,
      unbilled: UNBILLED_INTERVAL_MS,
      groups: GROUPS_INTERVAL_MS,
      moves: deps.movesIntervalMs,
      revenue: REVENUE_INTERVAL_MS,
    },
    async perform(task) {
      // What another Weir has counted must not be drained into this one's database.
      await deps.ownership.check();
      await markWorkerSeen(queue);
      await perform(task, deps, queue, sweeper);
    },
    log,
  });
  return {
    take: worker.take,
    async close() {
      await worker.close();
      await sweeper.close();
      disconnect(queue);
    },
  };
}

async function perform(task: Task, deps: MaintenanceDeps, queue: QueueConnection, sweeper: Sweeper): Promise<void> {
  const { database, log, metrics } = deps;
  switch (task) {
    case 'sweep': {
      const swept = await sweeper.sweep(deps.sweepAgeMs);
      metrics.sweptBatches.inc(swept);
      if (swept > 0) log.info({ batches: swept }, 'batches without a job were enqueued again');
      return;
    }
    case 'drain': {
      const drained = await drainAcceptedCounts(queue, database);
      if (drained?.outcome === 'again' && drained.events !== 0) {
        const { id, events } = drained;
        log.warn({ counts: id, events }, 'Redis came back with an older state: some counts of the door are lost');
      }
      const events = await bringCountsBack(queue, database);
      if (events !== undefined && events > 0)
        log.warn({ events }, 'events that Postgres had counted before it went back in time are counted again');
      return;
    }
    case 'partitions': {
      const client = await database.pool.connect();
      try {
        const made = await makePartitions(client, new Date());
        if (made.length > 0) log.info({ partitions: made }, 'partitions were made');
      } finally {
        client.release();
      }
      return;
    }
    case 'sessions': {
      await deleteExpiredSessions(database.kysely);
      await deleteExpiredInvitations(database.kysely);
      await deleteExpiredPasswordResets(database.kysely);
      return;
    }
    case 'auditLog': {
      if (deps.auditLogDays === 0) return;
      const entries = await deleteOldAuditEntries(database.kysely, deps.auditLogDays);
      if (entries > 0) log.info({ entries, days: deps.auditLogDays }, 'old entries of the audit log were deleted');
      return;
    }
    case 'requestKeys': {
      const keys = await deleteOldRequestKeys(database.kysely);
      if (keys > 0) log.info({ keys }, 'old keys of requests were deleted');
      return;
    }
    case 'webhooks': {
      await addWebhookWork(database, deps.webhookJobs);
      return;
    }
    case 'deliveries': {
      const deliveries = await deleteOldDeliveries(database.kysely);
      if (deliveries > 0) log.info({ deliveries }, 'old deliveries of webhooks were deleted');
      return;
    }
    case 'widgetTokens': {
      await deleteExpiredWidgetTokens(database.kysely);
      return;
    }
    case 'billing': {
      await deps.billingJobs.promoteAhead();
      await addDueWork(database, deps.billingJobs);
      return;
    }
    case 'settling': {
      await addSettling(database, deps.billingJobs);
      return;
    }
    case 'unbilled': {
      await deleteOldLooks(database.kysely);
      await addLooks(database, deps.billingJobs);
      return;
    }
    case 'groups': {
      const meters = await backfillGroups(database, GROUPS_MS);
      if (meters > 0) log.info({ meters }, 'usage of before was grouped by new metadata keys');
      return;
    }
    case 'moves': {
      const isRecorded = (organizationId: string, acceptedBefore: string): Promise<boolean> =>
        isAllRecorded(queue, organizationId, Date.parse(acceptedBefore));
      const done = await performMoves(database, MOVES_MS, isRecorded, (error, { id, organization_id }) =>
        log.warn({ err: error, move: id, organization_id }, 'usage could not be moved on; it is tried again'),
      );
      for (const { id, organization_id, kind } of done)
        log.info({ move: id, organization_id, kind }, 'usage was moved');
      return;
    }
    case 'revenue': {
      await reckonRevenue(database, REVENUE_MS, (error, organizationId) =>
        log.warn({ err: error, organization_id: organizationId }, 'expected revenue could not be reckoned'),
      );
    }
  }
}
