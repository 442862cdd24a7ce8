import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { Connections } from './connections.ts';
import type { App } from './typed-app.ts';

/** What Prometheus reads from the API. Names end in their unit. */
export interface Metrics {
  registry: Registry;
  admissions: Counter<'outcome'>;
  enqueueFailures: Counter;
  shed: Counter<'reason'>;
  requestSeconds: Histogram<'method' | 'route' | 'status'>;
}

/** What is asked for whenever Prometheus reads. */
export interface MetricSources {
  bufferDepth(): number;
  queue(): { batches: number; memoryShare: number };
}

export function buildMetrics(sources: MetricSources): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const gauges: Gauges = [
    ['weir_buffer_events', 'Events that wait in memory for a flush to Redis.', () => sources.bufferDepth()],
    ['weir_queue_batches', 'Batches in Redis that are not recorded yet.', () => sources.queue().batches],
    ['weir_redis_memory_ratio', 'How much of its maxmemory Redis uses.', () => sources.queue().memoryShare],
  ];
  addGauges(registry, gauges);
  return {
    registry,
    admissions: new Counter({
      name: 'weir_admissions_total',
      help: 'Events that were put to the admit script, by its answer: staged, held, revoked or unsure.',
      labelNames: ['outcome'],
      registers: [registry],
    }),
    enqueueFailures: new Counter({
      name: 'weir_enqueue_failures_total',
      help: 'Jobs that could not be added to the queue and were left to the sweeper.',
      registers: [registry],
    }),
    shed: new Counter({
      name: 'weir_shed_requests_total',
      help: 'Requests that were refused before they began: event_loop, memory, requests, database, bodies; and connections.',
      labelNames: ['reason'],
      registers: [registry],
    }),
    requestSeconds: new Histogram({
      name: 'weir_http_request_seconds',
      help: 'Time from the headers of a request to the end of its answer; status aborted: to the end of its connection.',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers: [registry],
    }),
  };
}

type Gauges = [name: string, help: string, value: () => number][];

/** Gauges whose value is asked for whenever Prometheus reads. */
export function addGauges(registry: Registry, gauges: Gauges): void {
  for (const [name, help, value] of gauges) {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(value());
      },
    });
  }
}

/** Counts what the admit script said of the events of one flush. */
export function countAdmissions({ admissions: counter }: Metrics, admissions: readonly { outcome: string }[]): void {
  const counts = new Map<string, number>();
  for (const { outcome } of admissions) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  for (const [outcome, count] of counts) counter.inc({ outcome }, count);
}

/** A request that takes longer than this is worth a line in the log. */
const SLOW_MS = 1_000;

export function useMetrics(app: App, metrics: Metrics, connections: Connections): void {
  connections.onEnd((request, reply, isHungUp) => {
    const route = request.routeOptions.url ?? 'none';
    const status = isHungUp ? 'aborted' : reply.statusCode;
    metrics.requestSeconds.observe({ method: request.method, route, status }, reply.elapsedTime / 1000);
    if (reply.elapsedTime > SLOW_MS) {
      request.log.warn({ route, status, ms: Math.round(reply.elapsedTime) }, 'a request was slow');
    }
  });
  app.get('/metrics', { schema: { hide: true }, config: { traffic: 'vital' } }, async (_request, reply) => {
    const text = await metrics.registry.metrics();
    return reply.type(metrics.registry.contentType).serializer(String).send(text);
  });
}
