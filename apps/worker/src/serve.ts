// Opens a worker and closes it again, last opened first.

import { raiseTotals } from '@weir/db/accepted';
import { openDatabase, pingDatabase } from '@weir/db/database';
import { identify, requireSchema, type SchemaRange } from '@weir/db/installation';
import { openServerWatch } from '@weir/db/server-watch';
import { STALLED_SESSIONS_MAX } from '@weir/db/standby';
import { openBillingJobs } from '@weir/queue/billing-jobs';
import { disconnect, openWorker, ping } from '@weir/queue/connection';
import { openWebhookJobs } from '@weir/queue/webhook-jobs';
import type { JobWorker } from '@weir/queue/job-worker';
import { Ownership } from '@weir/queue/ownership';
import { requireRedisPolicy } from '@weir/queue/redis-policy';
import { Closer } from '@weir/shared/closer';
import type { Logger } from '@weir/shared/log';
import { explainListening } from '@weir/shared/settings';
import { openAlerts } from './alerts/open-alerts.ts';
import { openBilling } from './billing/open-billing.ts';
import { openWebhooks } from './webhooks/open-webhooks.ts';
import { openConsumer } from './consume.ts';
import { buildHealth } from './worker-health.ts';
import { openMaintenance } from './maintenance.ts';
import { buildWorkerMetrics } from './worker-metrics.ts';
import type { WorkerSettings } from './settings.ts';

/** A worker that runs. */
export interface RunningWorker {
  /** Which schemas it runs on; undefined while Postgres has not been seen. */
  schema(): SchemaRange | undefined;
  /** The address of its health and metrics. */
  url: string;
  /** Takes no more jobs, finishes those under way, and lets go of everything. What an error that nobody caught cuts off is a death. */
  close(uncaught?: Error): Promise<void>;
}

/** What is left of the time for a stop when what could not be closed in order is given up. */
const STOP_SPARE_MS = 250;

const NO_STANDBY =
  'Commits wait for the synchronous standby of Postgres, and no work is taken until it is back: see "Postgres with a standby" in docs/operations.md.';

/** How often it is looked whose queue this is; each batch asks for it as well. */
const OWNERSHIP_INTERVAL_MS = 2_000;

/**
 * Starts a worker; waits for Redis where it is away. Throws a SettingsError for a Redis that would lose events or belongs to
 * another database, and for a database that is not migrated to this version. While Postgres is away it takes no batches.
 */
export async function serveWorker(settings: WorkerSettings, log: Logger): Promise<RunningWorker> {
  const closer = new Closer();
  let isDraining = false;
  let died: Error | undefined;
  let schema: SchemaRange | undefined;
  try {
    const metrics = buildWorkerMetrics();
    const database = openDatabase(settings.DATABASE_URL, {
      // One for each batch in hand, one for maintenance, one for health, one to see whose queue this is.
      connectionsMax: settings.WORKER_CONCURRENCY + 3,
      statementTimeoutMs: settings.DATABASE_STATEMENT_TIMEOUT_MS,
      onConnectionError: (error) => log.warn({ err: error }, 'an idle connection to Postgres was lost'),
    });
    closer.add('the database', () => database.close());

    const address = { url: settings.REDIS_URL, prefix: settings.QUEUE_PREFIX };
    const copied = { ...address, copies: settings.REDIS_COPIES };
    const queue = openWorker(
      copied,
      (error) => log.warn({ err: error }, 'the connection to Redis was lost'),
      // Each batch in hand is read with an acknowledgement.
      settings.WORKER_CONCURRENCY,
    );
    closer.add('Redis', () => disconnect(queue));

    const takers: JobWorker[] = [];
    // Each commit that is given up while the standby is away leaves its session in Postgres, until there is none left for reading.
    let hasStandby = true;
    const takeOrLeave = () => {
      const takes = ownership.problem() === undefined && hasStandby && !isDraining;
      for (const taker of takers) taker.take(takes);
    };
    const ownership = new Ownership({
      queue,
      database: {
        requireSchema: async () => (schema = await requireSchema(database)),
        identify: (drained) => identify(database, drained),
        raiseTotals: (remembered) => raiseTotals(database, remembered),
      },
      log,
      intervalMs: OWNERSHIP_INTERVAL_MS,
      onLook: takeOrLeave,
      onFault: (fault) => metrics.faults.inc({ fault }),
    });
    closer.add('the watch on the queue', () => ownership.close());
    const health = buildHealth(metrics, {
      postgres: () => pingDatabase(database),
      redis: () => ping(queue),
      problem: () => ownership.problem() ?? (hasStandby ? undefined : NO_STANDBY),
      schema: () => schema,
      isDraining: () => isDraining,
    });
    closer.add('health', () => health.close());
    const { WORKER_PORT: port, HOST: host } = settings;
    const url = await explainListening(health.listen({ port, host }), { setting: 'WORKER_PORT', port, host });

    const warning = await requireRedisPolicy(queue);
    if (warning !== undefined) log.warn(warning);
    await ownership.requireOurs();
    const serverWatch = openServerWatch(database, settings.DATABASE_COPIES, log, (state) => {
      metrics.showServer(state);
      if (!Number.isNaN(state.stalledSessions)) hasStandby = state.stalledSessions < STALLED_SESSIONS_MAX;
      takeOrLeave();
    });
    closer.add('the watch on the server of Postgres', () => serverWatch.close());
    const billingJobs = openBillingJobs(queue, log);
    closer.add('the jobs of billing', () => billingJobs.close());
    const webhookJobs = openWebhookJobs(queue, log);
    closer.add('the jobs of webhooks', () => webhookJobs.close());
    const maintenance = openMaintenance({
      address: copied,
      database,
      ownership,
      sweepIntervalMs: settings.SWEEP_INTERVAL_MS,
      sweepAgeMs: settings.SWEEP_AGE_MS,
      billingIntervalMs: settings.BILLING_INTERVAL_MS,
      movesIntervalMs: settings.MOVES_INTERVAL_MS,
      auditLogDays: settings.AUDIT_LOG_DAYS,
      billingJobs,
      webhookIntervalMs: settings.WEBHOOK_INTERVAL_MS,
      webhookJobs,
      log,
      metrics,
    });
    closer.add('maintenance', () => maintenance.close());
    const deps = { database, queue, ownership };
    const consumer = openConsumer(address, deps, {
      concurrency: settings.WORKER_CONCURRENCY,
      hasStandby: () => hasStandby,
      log,
      metrics,
    });
    closer.add('the consumer', () => consumer.close());
    const billing = openBilling({
      address,
      databaseUrl: settings.DATABASE_URL,
      ownership,
      concurrency: settings.BILLING_CONCURRENCY,
      statementTimeoutMs: settings.BILLING_STATEMENT_TIMEOUT_MS,
      jobs: billingJobs,
      log,
      metrics,
    });
    closer.add('billing', () => billing.close(died));
    const webhooks = openWebhooks({
      address,
      databaseUrl: settings.DATABASE_URL,
      concurrency: settings.WEBHOOK_CONCURRENCY,
      ratePerSecond: settings.WEBHOOK_RATE_MAX,
      statementTimeoutMs: settings.DATABASE_STATEMENT_TIMEOUT_MS,
      allowedNetworks: settings.WEBHOOK_ALLOWED_NETWORKS,
      jobs: webhookJobs,
      log,
      metrics,
    });
    closer.add('webhooks', () => webhooks.close());
    const alerts = openAlerts({
      databaseUrl: settings.DATABASE_URL,
      statementTimeoutMs: settings.DATABASE_STATEMENT_TIMEOUT_MS,
      log,
      metrics,
    });
    closer.add('alerts', () => alerts.close());
    takers.push(maintenance, consumer, billing, webhooks, alerts);
    takeOrLeave();
    return {
      url,
      schema: () => schema,
      async close(uncaught) {
        isDraining = true;
        died = uncaught;
        // At once, so that none goes on while another one is waited for.
        takeOrLeave();
        try {
          await closer.close(settings.DRAIN_TIMEOUT_MS - STOP_SPARE_MS);
        } catch (error) {
          // A Redis or Postgres that does not answer keeps jobs in hand and connections open. The jobs go to other workers.
          log.warn({ err: error }, 'not everything could be closed in order; nothing is lost');
        }
      },
    };
  } catch (error) {
    await closer.close();
    throw error;
  }
}
