import { readBuild } from '@weir/shared/build';
import { SERVER_GAUGES } from '@weir/db/server-watch';
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { Persisted } from '@weir/db/record-batch';

/** Metrics of a worker. */
export interface WorkerMetrics {
  registry: Registry;
  events: Counter<'outcome'>;
  reusedKeys: Counter;
  batchSeconds: Histogram;
  batchFailures: Counter;
  sweptBatches: Counter;
  unknownOrganizations: Counter;
  finalizedInvoices: Counter;
  billingFailures: Counter;
  billingDeaths: Counter;
  draftsDue: Gauge;
  draftsWaitingForEvents: Gauge;
  billingOldestSeconds: Gauge;
  unbilledUsageMeters: Gauge;
  alertCrossings: Counter;
  alertsOldestSeconds: Gauge;
  webhookAttempts: Counter<'outcome'>;
  webhookEndpoints: Gauge<'state'>;
  webhookOldestSeconds: Gauge;
  databaseSynced: Gauge;
  standbyWaitingSessions: Gauge;
  clockOffsetSeconds: Gauge;
}

export function buildWorkerMetrics(): WorkerMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'weir_build_info',
    help: 'Always 1: which version of Weir runs here, on which Node, and from which commit it was built.',
    labelNames: ['version', 'node', 'revision'],
    registers: [registry],
  }).set({ ...readBuild() }, 1);
  const metrics: WorkerMetrics = {
    registry,
    events: new Counter({
      name: 'weir_events_total',
      help: 'Events that left the queue, by what became of them: recorded, duplicates or rejected.',
      labelNames: ['outcome'],
      registers: [registry],
    }),
    reusedKeys: new Counter({
      name: 'weir_reused_keys_total',
      help: 'Events that were rejected since another event with another payload holds their idempotency key.',
      registers: [registry],
    }),
    batchSeconds: new Histogram({
      name: 'weir_batch_seconds',
      help: 'Time from loading a batch to taking it off Redis.',
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
      registers: [registry],
    }),
    batchFailures: new Counter({
      name: 'weir_batch_failures_total',
      help: 'Attempts at a batch that failed and will be made again.',
      registers: [registry],
    }),
    sweptBatches: new Counter({
      name: 'weir_swept_batches_total',
      help: 'Staged batches that had no live job for some seconds and were enqueued again.',
      registers: [registry],
    }),
    unknownOrganizations: new Counter({
      name: 'weir_unknown_organization_attempts_total',
      help: 'Attempts at batches with events of an organization that the database does not have; they are kept and tried again.',
      registers: [registry],
    }),
    finalizedInvoices: new Counter({
      name: 'weir_finalized_invoices_total',
      help: 'Invoices that the run finalized.',
      registers: [registry],
    }),
    billingFailures: new Counter({
      name: 'weir_billing_failures_total',
      help: 'What of billing failed by itself, or was refused by Postgres again and again, and will be tried again.',
      registers: [registry],
    }),
    billingDeaths: new Counter({
      name: 'weir_billing_deaths_total',
      help: 'Chunks of billing that a worker began and did not come back from; a smaller part of each is tried next.',
      registers: [registry],
    }),
    draftsDue: new Gauge({
      name: 'weir_drafts_due',
      help: 'Drafts whose grace is over.',
      registers: [registry],
    }),
    draftsWaitingForEvents: new Gauge({
      name: 'weir_drafts_waiting_for_events',
      help: 'Drafts whose grace is over that wait for events of their period which are not recorded yet.',
      registers: [registry],
    }),
    billingOldestSeconds: new Gauge({
      name: 'weir_billing_oldest_seconds',
      help: 'How long the oldest boundary, draft or due date of an invoice has waited since it was due.',
      registers: [registry],
    }),
    unbilledUsageMeters: new Gauge({
      name: 'weir_unbilled_usage_meters',
      help: 'Priced meters that had usage on the last day looked at which no charge bills.',
      registers: [registry],
    }),
    alertCrossings: new Counter({
      name: 'weir_alert_crossings_total',
      help: 'Thresholds of alerts that were crossed.',
      registers: [registry],
    }),
    alertsOldestSeconds: new Gauge({
      name: 'weir_alerts_oldest_seconds',
      help: 'How long the oldest change of usage, or the oldest new alert, has waited to be looked at.',
      registers: [registry],
    }),
    webhookAttempts: new Counter({
      name: 'weir_webhook_attempts_total',
      help: 'Requests to receivers of webhooks, by what came of them: delivered or failed.',
      labelNames: ['outcome'],
      registers: [registry],
    }),
    webhookEndpoints: new Gauge({
      name: 'weir_webhook_endpoints',
      help: 'Webhook endpoints that are on and failed last (failing), and that Weir turned off (disabled).',
      labelNames: ['state'],
      registers: [registry],
    }),
    webhookOldestSeconds: new Gauge({
      name: 'weir_webhook_oldest_seconds',
      help: 'How long the oldest webhook waits that is to be sent by now to an endpoint which is on.',
      registers: [registry],
    }),
    databaseSynced: new Gauge({ ...SERVER_GAUGES.databaseSynced, registers: [registry] }),
    standbyWaitingSessions: new Gauge({ ...SERVER_GAUGES.standbyWaitingSessions, registers: [registry] }),
    clockOffsetSeconds: new Gauge({ ...SERVER_GAUGES.clockOffsetSeconds, registers: [registry] }),
  };
  // It begins as what it is meant to be, until Postgres is seen.
  metrics.databaseSynced.set(1);
  // Nobody has looked yet: 0 would say that nothing waits.
  const unseen = [
    metrics.billingOldestSeconds,
    metrics.alertsOldestSeconds,
    metrics.webhookOldestSeconds,
    metrics.standbyWaitingSessions,
    metrics.clockOffsetSeconds,
  ];
  for (const gauge of unseen) gauge.set(NaN);
  // Prometheus sees no rise in a series that begins with its first count.
  for (const outcome of Object.keys(OUTCOMES)) metrics.events.inc({ outcome }, 0);
  for (const outcome of ['delivered', 'failed']) metrics.webhookAttempts.inc({ outcome }, 0);
  return metrics;
}

const OUTCOMES: Record<Exclude<keyof Persisted, 'reused'>, true> = { recorded: true, duplicates: true, rejected: true };
