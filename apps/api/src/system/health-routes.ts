import { z } from 'zod';
import type { App } from '../http/typed-app.ts';
import { buildProbe } from '@weir/shared/probe';
import { Refusal } from '@weir/shared/errors';
import type { SchemaRange } from '@weir/db/installation';
import { problemResponses } from '../http/problem.ts';

/** Asked by `/readyz`. */
export interface ReadyChecks {
  /** Resolves when Postgres does what it is asked; rejects when it does not. */
  postgres(): Promise<unknown>;
  /** The same of Redis. */
  redis(): Promise<unknown>;
  /** Why tracking is refused, for the operator; undefined while the door is open. */
  shutBecause(): string | undefined;
  /** Which schemas it runs on. */
  schema(): SchemaRange | undefined;
  /** Whether events are recorded directly, since Redis does not take them. */
  isDirect(): boolean;
  /** Whether the process has been told to stop. */
  isDraining(): boolean;
}

const NEITHER = 'Neither Redis nor Postgres can be reached: check that they run.';

/** Which way events take. */
export const way = z.enum(['redis', 'direct']).meta({
  description: 'Which way events take: through Redis, or directly to Postgres, while Redis is away, full or too slow.',
});

/** An API that has had nothing to send since Redis went does not know yet that it will be sent directly. */
export function wayOf({ isDirect, hasRedis }: { isDirect: boolean; hasRedis: boolean }): z.output<typeof way> {
  return isDirect || !hasRedis ? 'direct' : 'redis';
}

export function healthRoutes(app: App, checks: ReadyChecks): void {
  const config = { traffic: 'vital' } as const;
  const part = z.enum(['ok', 'away']);
  const schemas = z
    .object({
      needs: z
        .string()
        .meta({ description: 'The number of the oldest schema that it runs on. It runs on newer ones too.' }),
      found: z.string().nullable().meta({ description: 'The one that the database had when it was looked at.' }),
    })
    .nullable()
    .meta({ description: 'Null: Postgres has not been seen since the start.' });
  const redis = buildProbe(checks.redis);
  const postgres = buildProbe(checks.postgres);

  app.get(
    '/healthz',
    {
      config,
      schema: {
        operationId: 'getHealth',
        tags: ['Operations'],
        security: [],
        summary: 'The process is alive',
        response: { 200: z.object({ status: z.literal('ok') }) },
      },
    },
    () => ({ status: 'ok' as const }),
  );

  app.get(
    '/readyz',
    {
      config,
      schema: {
        operationId: 'getReadiness',
        tags: ['Operations'],
        security: [],
        summary: 'The door is open: tracking is taken',
        description:
          'While either of Redis and Postgres is away tracking goes on, so this stays 200, and the body says what is away, and ' +
          'which way events take: through Redis, or directly to Postgres. It is 503 while events cannot be taken, with the ' +
          'reason, and once the process was told to stop.',
        response: {
          200: z.object({ status: z.literal('ok'), redis: part, postgres: part, way, schema: schemas }),
          ...problemResponses('unavailable', 'shutting_down'),
        },
      },
    },
    async () => {
      // Whoever watches this path learns of a stop here; everyone else is still served.
      if (checks.isDraining())
        throw new Refusal('shutting_down', 'This process is shutting down: send requests to another one.');
      const [hasRedis, hasPostgres] = await Promise.all([redis(), postgres()]);
      const why = checks.shutBecause();
      if (why !== undefined) throw new Refusal('unavailable', why);
      if (!hasRedis && !hasPostgres) throw new Refusal('unavailable', NEITHER);
      return {
        status: 'ok',
        redis: hasRedis ? 'ok' : 'away',
        postgres: hasPostgres ? 'ok' : 'away',
        way: wayOf({ isDirect: checks.isDirect(), hasRedis }),
        schema: checks.schema() ?? null,
      } as const;
    },
  );
}
