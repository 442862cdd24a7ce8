// How the installation is, for the people of one organization: what is theirs, and what all of its organizations may know.

import { findReconciliation } from '@weir/db/reconciliations';
import type { QueueConnection } from '@weir/queue/connection';
import { readWaiting } from '@weir/queue/read-waiting';
import { isRedisAway } from '@weir/queue/redis-away';
import { findWorkerSeen } from '@weir/queue/worker-seen';
import { readBuild } from '@weir/shared/build';
import { buildProbe } from '@weir/shared/probe';
import { z } from 'zod';
import { time } from '../http/fields.ts';
import { problemResponses } from '../http/problem.ts';
import type { App } from '../http/typed-app.ts';
import type { RouteDeps } from '../route-deps.ts';
import { way, wayOf } from './health-routes.ts';
import { revision } from './version-route.ts';

export interface SystemDeps extends RouteDeps {
  queue: QueueConnection;
  /** Each resolves when its part does what it is asked. */
  postgres(): Promise<unknown>;
  redis(): Promise<unknown>;
  /** Whether events are recorded directly, since Redis does not take them. */
  isDirect(): boolean;
}

/** Events of an organization that are accepted and not recorded yet. */
export const waiting = z
  .object({
    events: z.int().meta({ description: 'How many, about: exactly where they are few.' }),
    oldest_seconds: z.int().nullable().meta({ description: 'How long the oldest may wait already. Null: none waits.' }),
  })
  .nullable()
  .meta({ description: 'Accepted events that are not recorded yet. Null while Redis is away.' });

const system = z
  .object({
    postgres: z.enum(['ok', 'away']),
    redis: z.enum(['ok', 'away']),
    way,
    worker: z.object({
      last_seen_at: time.nullable().meta({
        description: 'When a worker was last at work: some seconds ago at most while one runs. Null: not known.',
      }),
    }),
    waiting,
    reconcile: z
      .object({
        finished_at: time,
        is_equal: z.boolean(),
        problems: z.int().meta({ description: 'Those that were found of your organization.' }),
      })
      .nullable()
      .meta({ description: 'What npm run reconcile has found of your organization last. Null: it was not run yet.' }),
    version: z.string(),
    revision,
  })
  .meta({ id: 'System' });

const build = readBuild();

export function systemRoute(app: App, deps: SystemDeps): void {
  const { guards, database, queue } = deps;
  const postgres = buildProbe(deps.postgres);
  const redis = buildProbe(deps.redis);
  app.get(
    '/api/v1/system',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'getSystem',
        tags: ['Operations'],
        summary: 'How this installation is, as far as it concerns your organization',
        // Version 1.0.0 told of this code, and codes stay.
        response: { 200: system, ...problemResponses('missing_scope') },
      },
    },
    async (request): Promise<z.output<typeof system>> => {
      const { organizationId } = request.caller;
      const [hasPostgres, hasRedis] = await Promise.all([postgres(), redis()]);
      const seen = await unlessAway(() => findWorkerSeen(queue));
      return {
        postgres: hasPostgres ? 'ok' : 'away',
        redis: hasRedis ? 'ok' : 'away',
        way: wayOf({ isDirect: deps.isDirect(), hasRedis }),
        worker: { last_seen_at: seen === undefined ? null : new Date(seen).toISOString() },
        waiting: await readWaitingUnlessAway(queue, organizationId),
        reconcile: (await findReconciliation(database.kysely, organizationId)) ?? null,
        version: build.version,
        revision: build.revision,
      };
    },
  );
}

/** Null while Redis is away: what else there is to say is said all the same. */
export async function readWaitingUnlessAway(
  queue: QueueConnection,
  organizationId: string,
): Promise<z.output<typeof waiting>> {
  const found = await unlessAway(() => readWaiting(queue, organizationId));
  return found === undefined ? null : { events: found.events, oldest_seconds: found.oldestSeconds };
}

async function unlessAway<Value>(read: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await read();
  } catch (error) {
    if (isRedisAway(error)) return undefined;
    throw error;
  }
}
