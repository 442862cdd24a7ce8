import type { SchemaRange } from '@weir/db/installation';
import { buildProbe } from '@weir/shared/probe';
import fastify, { type FastifyInstance } from 'fastify';
import type { WorkerMetrics } from './worker-metrics.ts';

/** Asked by `/readyz`. */
export interface ReadyChecks {
  /** Each answers when its part does, and throws when it does not. */
  postgres(): Promise<unknown>;
  redis(): Promise<unknown>;
  /** Why no batches are taken; undefined when they are. */
  problem(): string | undefined;
  /** Which schemas it runs on; undefined while Postgres has not been seen. */
  schema(): SchemaRange | undefined;
  isDraining(): boolean;
}

/** The worker's own small server, for those who run it: `/healthz`, `/readyz` and `/metrics`. */
export function buildHealth(metrics: WorkerMetrics, checks: ReadyChecks): FastifyInstance {
  const app = fastify({ logger: false });
  const hasPostgres = buildProbe(checks.postgres);
  const hasRedis = buildProbe(checks.redis);
  app.get('/healthz', () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const [postgres, redis] = await Promise.all([hasPostgres(), hasRedis()]);
    const problem = checks.problem();
    const parts = {
      postgres,
      redis,
      schema: checks.schema() ?? null,
      draining: checks.isDraining(),
      ...(problem !== undefined && { problem }),
    };
    const ready = postgres && redis && !parts.draining && problem === undefined;
    return reply.code(ready ? 200 : 503).send({ status: ready ? 'ok' : 'not ready', ...parts });
  });
  app.get('/metrics', async (_request, reply) => {
    const text = await metrics.registry.metrics();
    return reply.type(metrics.registry.contentType).send(text);
  });
  return app;
}
