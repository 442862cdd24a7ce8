import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { App } from './typed-app.ts';

/** What Prometheus reads from the API. Names end in their unit. */
export interface Metrics {
  registry: Registry;
  admissions: Counter<'outcome'>;
  enqueueFailures: Counter;
  requestSeconds: Histogram<'method' | 'route' | 'status'>;
}

export function buildMetrics(bufferDepth: () => number): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'weir_buffer_events',
    help: 'Events that wait in memory for a flush to Redis.',
    registers: [registry],
    collect() {
      this.set(bufferDepth());
    },
  });
  return {
    registry,
    admissions: new Counter({
      name: 'weir_admissions_total',
      help: 'Events that were put to the admit script, by its answer: staged, held or revoked.',
      labelNames: ['outcome'],
      registers: [registry],
    }),
    enqueueFailures: new Counter({
      name: 'weir_enqueue_failures_total',
      help: 'Jobs that could not be added to the queue and were left to the sweeper.',
      registers: [registry],
    }),
    requestSeconds: new Histogram({
      name: 'weir_http_request_seconds',
      help: 'Time from the first byte of a request to the end of its answer.',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers: [registry],
    }),
  };
}

/** A request that takes longer than this is worth a line in the log. */
const SLOW_MS = 1_000;

export function useMetrics(app: App, metrics: Metrics): void {
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none';
    metrics.requestSeconds.observe(
      { method: request.method, route, status: reply.statusCode },
      reply.elapsedTime / 1000,
    );
    if (reply.elapsedTime > SLOW_MS) {
      request.log.warn({ route, status: reply.statusCode, ms: Math.round(reply.elapsedTime) }, 'a request was slow');
    }
    done();
  });
  app.get('/metrics', { schema: { hide: true } }, async (_request, reply) => {
    const text = await metrics.registry.metrics();
    return reply.type(metrics.registry.contentType).serializer(String).send(text);
  });
}
