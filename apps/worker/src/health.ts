import fastify, { type FastifyInstance } from 'fastify';
import type { WorkerMetrics } from './metrics.ts';

/** What `/readyz` asks: each answers when its part can serve, and throws when it cannot. */
export interface ReadyChecks {
  postgres(): Promise<unknown>;
  redis(): Promise<unknown>;
  isDraining(): boolean;
}

/** The worker's own small server, for those who run it: `/healthz`, `/readyz` and `/metrics`. */
export function buildHealth(metrics: WorkerMetrics, checks: ReadyChecks): FastifyInstance {
  const app = fastify({ logger: false });
  app.get('/healthz', () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const [postgres, redis] = await Promise.allSettled([checks.postgres(), checks.redis()]);
    const parts = {
      postgres: postgres.status === 'fulfilled',
      redis: redis.status === 'fulfilled',
      draining: checks.isDraining(),
    };
    const ready = parts.postgres && parts.redis && !parts.draining;
    return reply.code(ready ? 200 : 503).send({ status: ready ? 'ok' : 'not ready', ...parts });
  });
  app.get('/metrics', async (_request, reply) => {
    const text = await metrics.registry.metrics();
    return reply.type(metrics.registry.contentType).send(text);
  });
  return app;
}
