import { serverGauges } from '@weir/db/server-watch';
import { Gauge, Histogram, type Counter, type Registry } from 'prom-client';
import type { DirectAnswer } from '@weir/db/record-directly';
import type { Admission } from '@weir/queue/admit';
import type { StoreFault } from '@weir/queue/ownership';
import type { Shortage } from '@weir/shared/errors';
import { openMetrics } from '@weir/shared/process-metrics';
import { SparseLog } from '@weir/shared/sparse-log';
import { trafficOf, type ShedReason } from './load/pressure.ts';
import type { Connections } from './connection/connections.ts';
import type { App } from './typed-app.ts';

/** Why an event is refused for now. `away`: what it needs of Redis and Postgres does not answer; `broken`: Weir is to blame. */
export type RefusedBecause = Shortage | 'away' | 'broken' | 'shutting_down';

/** Metrics of the API. Names end in their unit. */
export type Metrics = ReturnType<typeof buildMetrics>;

/** Asked whenever Prometheus reads. */
export interface MetricSources {
  bufferDepth(): number;
  isDirect(): boolean;
  queue(): {
    batches: number;
    oldestStagedAt?: number | undefined;
    memoryShare: number;
    claimSeconds: number;
    isSynced: boolean;
  };
}

export function buildMetrics(sources: MetricSources) {
  const { registry, counter, gauge } = openMetrics();
  const gauges: Gauges = [
    ['weir_buffer_events', 'Events that wait in memory for a flush.', () => sources.bufferDepth()],
    [
      'weir_direct_way',
      '1 while events are recorded directly in Postgres, since Redis does not take them; else 0.',
      () => Number(sources.isDirect()),
    ],
    ['weir_queue_batches', 'Batches in Redis that are not recorded yet.', () => sources.queue().batches],
    [
      'weir_queue_oldest_seconds',
      'Age of the oldest batch in Redis that is not recorded yet; 0 when none waits.',
      () => ageSeconds(sources.queue().oldestStagedAt),
    ],
    ['weir_redis_memory_ratio', 'How much of its maxmemory Redis uses.', () => sources.queue().memoryShare],
    ['weir_claim_life_seconds', 'How long a new claim lives; 0: none is made.', () => sources.queue().claimSeconds],
    [
      'weir_redis_synced',
      '1 while Redis is known to have events on disk before it answers, by its settings; else 0.',
      () => Number(sources.queue().isSynced),
    ],
  ];
  addGauges(registry, gauges);
  const metrics = {
    registry,
    faults: counter(
      'weir_faults_total',
      'Faults that a person has to look at: postgres_replaced, redis_replaced; of APIs also internal_error, of workers maintenance.',
      'fault',
    ),
    admissions: counter(
      'weir_admissions_total',
      'Events that were put to the admit script, by its answer: staged, held, revoked or unsure.',
      'outcome',
    ),
    directEvents: counter(
      'weir_direct_events_total',
      'Events that took the direct way to Postgres, by what became of them: taken, rejected, held, revoked, locked or failed.',
      'outcome',
    ),
    enqueueFailures: counter(
      'weir_enqueue_failures_total',
      'Jobs that could not be added to the queue and were left to the sweeper.',
    ),
    claimsLetGo: counter(
      'weir_claims_let_go_total',
      'Claims that were let go of before their time, since memory was short.',
    ),
    refusedEvents: counter(
      'weir_refused_events_total',
      'Events that were answered with 503 or 500, alone or within a batch, by the reason.',
      'reason',
    ),
    shed: counter(
      'weir_shed_requests_total',
      'Requests that were refused before they began: event_loop, memory, requests, database, bodies, passwords; and connections.',
      'reason',
    ),
    requestSeconds: new Histogram({
      name: 'weir_http_request_seconds',
      help: 'Time from the headers of a request to the end of its answer; status aborted: to the end of its connection.',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers: [registry],
    }),
    showServer: serverGauges(gauge),
  };
  // Prometheus sees no rise in a series that begins with its first count.
  for (const fault of Object.keys(FAULTS)) metrics.faults.inc({ fault }, 0);
  for (const outcome of Object.keys(ADMISSIONS)) metrics.admissions.inc({ outcome }, 0);
  for (const outcome of Object.keys(DIRECT)) metrics.directEvents.inc({ outcome }, 0);
  for (const reason of Object.keys(SHED)) metrics.shed.inc({ reason }, 0);
  for (const route of ['/api/v1/sdk/track', '/api/v1/sdk/track/batch'])
    metrics.requestSeconds.zero({ method: 'POST', route, status: 503 });
  for (const reason of Object.keys(REFUSED)) metrics.refusedEvents.inc({ reason }, 0);
  return metrics;
}

const FAULTS: Record<StoreFault | 'internal_error', true> = {
  postgres_replaced: true,
  redis_replaced: true,
  internal_error: true,
};
const ADMISSIONS: Record<Admission['outcome'], true> = { staged: true, held: true, revoked: true, unsure: true };
const DIRECT: Record<DirectAnswer['outcome'], true> = {
  taken: true,
  rejected: true,
  held: true,
  revoked: true,
  locked: true,
  failed: true,
};
const SHED: Record<ShedReason, true> = {
  event_loop: true,
  memory: true,
  requests: true,
  database: true,
  bodies: true,
  passwords: true,
  connections: true,
};
const REFUSED: Record<RefusedBecause, true> = {
  away: true,
  broken: true,
  memory: true,
  batches: true,
  share: true,
  policy: true,
  ownership: true,
  crowd: true,
  locked: true,
  shutting_down: true,
};

/** Of a moment in milliseconds since 1970. One that was staged under a clock ahead of this one is new. */
function ageSeconds(at: number | undefined): number {
  return at === undefined ? 0 : Math.max(0, Date.now() - at) / 1000;
}

type Gauges = [name: string, help: string, value: () => number][];

/** Gauges whose value is asked for whenever Prometheus reads. */
export function addGauges(registry: Registry, gauges: Gauges): void {
  for (const [name, help, value] of gauges) {
    const gauge = new Gauge({
      name,
      help,
      registers: [],
      collect() {
        this.set(value());
      },
    });
    registry.registerMetric(gauge);
  }
}

/** Counts what became of the events of one flush. */
export function countOutcomes(counter: Counter<'outcome'>, answers: readonly { outcome: string }[]): void {
  const counts = new Map<string, number>();
  for (const { outcome } of answers) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  for (const [outcome, count] of counts) counter.inc({ outcome }, count);
}

/** A request that takes longer than this is worth a line in the log. */
const SLOW_MS = 1_000;

/** Slow requests of one kind: the same route and status. */
const slowLog = new SparseLog();

export function useMetrics(app: App, metrics: Metrics, connections: Connections): void {
  connections.onEnd((request, reply, isHungUp) => {
    const route = request.routeOptions.url ?? 'none';
    const status = isHungUp ? 'aborted' : reply.statusCode;
    metrics.requestSeconds.observe({ method: request.method, route, status }, reply.elapsedTime / 1000);
    if (status === 500) metrics.faults.inc({ fault: 'internal_error' });
    // A question for health takes as long as a part that is silent is given.
    if (reply.elapsedTime > SLOW_MS && trafficOf(request) !== 'vital') {
      const fields = { route, status, ms: Math.round(reply.elapsedTime) };
      slowLog.warn(request.log, `${route} ${status}`, fields, 'a request was slow');
    }
  });
  app.get('/metrics', { schema: { hide: true }, config: { traffic: 'vital' } }, async (_request, reply) => {
    const text = await metrics.registry.metrics();
    return reply.type(metrics.registry.contentType).serializer(String).send(text);
  });
}
