import { z } from 'zod';
import type { App } from './typed-app.ts';
import { Refusal } from '@weir/shared/errors';
import { problemResponses } from './problem.ts';

/** What `/readyz` asks: each answers when its part can serve, and throws when it cannot. */
export interface ReadyChecks {
  postgres(): Promise<unknown>;
  redis(): Promise<unknown>;
  /** Whether the process has been told to stop. */
  isDraining(): boolean;
}

export function healthRoutes(app: App, checks: ReadyChecks): void {
  const okay = { 200: z.object({ status: z.literal('ok') }) };

  const config = { traffic: 'vital' } as const;

  app.get(
    '/healthz',
    { config, schema: { tags: ['Operations'], summary: 'The process is alive', response: okay } },
    () => ({ status: 'ok' as const }),
  );

  app.get(
    '/readyz',
    {
      config,
      schema: {
        tags: ['Operations'],
        summary: 'The process can serve: Postgres and Redis answer, and it is not shutting down',
        response: { ...okay, ...problemResponses('unavailable', 'shutting_down') },
      },
    },
    async () => {
      // Whoever watches this path learns of a stop here; everyone else is still served.
      if (checks.isDraining())
        throw new Refusal('shutting_down', 'This process is shutting down: send requests to another one.');
      const parts = { Postgres: checks.postgres(), Redis: checks.redis() };
      const results = await Promise.allSettled(Object.values(parts));
      const down = Object.keys(parts).filter((_, index) => results[index]?.status === 'rejected');
      if (down.length > 0)
        throw new Refusal('unavailable', `${down.join(' and ')} cannot be reached: check that it runs.`);
      return { status: 'ok' as const };
    },
  );
}
