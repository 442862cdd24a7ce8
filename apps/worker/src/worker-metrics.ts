import { serverGauges } from '@weir/db/server-watch';
import { openMetrics } from '@weir/shared/process-metrics';
import { Histogram } from 'prom-client';
import type { Persisted } from '@weir/db/record-batch';
import type { StoreFault } from '@weir/queue/ownership';

/** Metrics of a worker. */
export type WorkerMetrics = ReturnType<typeof buildWorkerMetrics>;

export function buildWorkerMetrics() {
  const { registry, counter, gauge } = openMetrics();
  const metrics = {
    registry,
    faults: counter(
      'weir_faults_total',
      'Faults that a person has to look at: postgres_replaced, redis_replaced, maintenance.',
      'fault',
    ),
    events: counter(
      'weir_events_total',
      'Events that left the queue, by what became of them: recorded, duplicates or rejected.',
      'outcome',
    ),
    reusedKeys: counter(
      'weir_reused_keys_total',
      'Events that were rejected since another event with another payload holds their idempotency key.',
    ),
    batchSeconds: new Histogram({
      name: 'weir_batch_seconds',
      help: 'Time from loading a batch to taking it off Redis.',
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
      registers: [registry],
    }),
    batchFailures: counter('weir_batch_failures_total', 'Attempts at a batch that failed and will be made again.'),
    sweptBatches: counter(
      'weir_swept_batches_total',
      'Staged batches that had no live job for some seconds and were enqueued again.',
    ),
    unknownOrganizations: counter(
      'weir_unknown_organization_attempts_total',
      'Attempts at batches with events of an organization that the database does not have; they are kept and tried again.',
    ),
    finalizedInvoices: counter('weir_finalized_invoices_total', 'Invoices that the run finalized.'),
    billingFailures: counter(
      'weir_billing_failures_total',
      'What of billing failed by itself, or was refused by Postgres again and again, and will be tried again.',
    ),
    billingDeaths: counter(
      'weir_billing_deaths_total',
      'Chunks of billing that a worker began and did not come back from; a smaller part of each is tried next.',
    ),
    draftsDue: gauge('weir_drafts_due', 'Drafts whose grace is over.'),
    draftsWaitingForEvents: gauge(
      'weir_drafts_waiting_for_events',
      'Drafts whose grace is over that wait for events of their period which are not recorded yet.',
    ),
    billingOldestSeconds: gauge(
      'weir_billing_oldest_seconds',
      'How long the oldest boundary, draft or due date of an invoice has waited since it was due.',
    ),
    billingLeftOut: gauge(
      'weir_billing_left_out',
      'Subscriptions and invoices that could not be billed when it was tried last, and are put off.',
    ),
    unbilledUsageMeters: gauge(
      'weir_unbilled_usage_meters',
      'Priced meters that had usage on the last day looked at which no charge bills.',
    ),
    alertCrossings: counter('weir_alert_crossings_total', 'Thresholds of alerts that were crossed.'),
    alertsOldestSeconds: gauge(
      'weir_alerts_oldest_seconds',
      'How long the oldest change of usage, or the oldest new alert, has waited to be looked at.',
    ),
    webhookAttempts: counter(
      'weir_webhook_attempts_total',
      'Requests to receivers of webhooks, by what came of them: delivered or failed.',
      'outcome',
    ),
    webhookEndpoints: gauge(
      'weir_webhook_endpoints',
      'Webhook endpoints that are on and failed last (failing), and that Weir turned off (disabled).',
      'state',
    ),
    webhookOldestSeconds: gauge(
      'weir_webhook_oldest_seconds',
      'How long the oldest webhook waits that is to be sent by now to an endpoint which is on.',
    ),
    movesOldestSeconds: gauge(
      'weir_moves_oldest_seconds',
      'How long ago the oldest erasure or move of usage was asked for that is not done.',
    ),
    maintenanceOverdueSeconds: gauge(
      'weir_maintenance_overdue_seconds',
      'For how long a task of maintenance has been overdue: it was not done for twice its interval, and a minute; else 0.',
      'task',
    ),
    showServer: serverGauges(gauge),
  };
  // Nobody has looked yet: 0 would say that nothing waits.
  const unseen = [
    metrics.billingOldestSeconds,
    metrics.alertsOldestSeconds,
    metrics.webhookOldestSeconds,
    metrics.movesOldestSeconds,
  ];
  for (const gauge of unseen) gauge.set(NaN);
  // Prometheus sees no rise in a series that begins with its first count.
  for (const fault of Object.keys(FAULTS)) metrics.faults.inc({ fault }, 0);
  for (const outcome of Object.keys(OUTCOMES)) metrics.events.inc({ outcome }, 0);
  for (const outcome of ['delivered', 'failed']) metrics.webhookAttempts.inc({ outcome }, 0);
  return metrics;
}

const FAULTS: Record<StoreFault | 'maintenance', true> = {
  postgres_replaced: true,
  redis_replaced: true,
  maintenance: true,
};
const OUTCOMES: Record<Exclude<keyof Persisted, 'reused'>, true> = { recorded: true, duplicates: true, rejected: true };
