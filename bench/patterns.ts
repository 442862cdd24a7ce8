// What is compared. Each pattern runs as processes of its own, which share the machine with the load, Redis and Postgres.

import { randomBytes, randomUUID } from 'node:crypto';
import { queueKeys } from '@weir/shared/queue';
import { Queue } from 'bullmq';
import type { Child } from './child.ts';
import type { Ground, RoundDatabase } from './ground.ts';
import { EVENT_QUEUE } from './rivals/event-job.ts';
import { signUp } from './sign-up.ts';

/** A pattern that takes requests. */
export interface Target {
  url: string;
  path: string;
  apiKey: string;
  meterToken: string;
  /** What was accepted and is not in Postgres yet, in whatever unit; 0 means that everything is. */
  pending(): Promise<number>;
}

/** Where a pattern is started. */
interface Stage {
  ground: Ground;
  database: RoundDatabase;
  /** Starts a process that the round stops at its end, also when a later one fails. */
  run(program: string, env: Record<string, string>): Promise<Child>;
}

export interface Pattern {
  name: string;
  title: string;
  eventsPerRequest: number;
  /** Of the connections that were asked for. A batch takes less of them, as each holds its events until all are answered. */
  connectionShare: number;
  /** False for the floor, which keeps nothing. */
  records: boolean;
  start(stage: Stage): Promise<Target>;
}

export const PATTERNS: readonly Pattern[] = [
  {
    name: 'floor',
    title: 'a bare Fastify route that does nothing',
    eventsPerRequest: 1,
    connectionShare: 1,
    records: false,
    start: (stage) => startRivals(stage, ['floor-main'], async () => 0),
  },
  weir('weir-single', 'Weir, one event a request', '/api/v1/sdk/track', 1),
  weir('weir-batch', 'Weir, 100 events a request', '/api/v1/sdk/track/batch', 100),
  {
    name: 'job-per-request',
    title: 'SET NX and one BullMQ job a request',
    eventsPerRequest: 1,
    connectionShare: 1,
    records: true,
    async start(stage) {
      const { ground } = stage;
      const pending = async () => {
        const queue = new Queue(EVENT_QUEUE, { connection: ground.redis, prefix: ground.prefix });
        try {
          return await queue.getJobCountByTypes('waiting', 'active', 'delayed', 'prioritized');
        } finally {
          await queue.close();
        }
      };
      return startRivals(stage, ['job-api-main', 'job-worker-main'], pending);
    },
  },
  {
    name: 'insert-per-request',
    title: 'one transaction a request, no queue',
    eventsPerRequest: 1,
    connectionShare: 1,
    records: true,
    start: (stage) => startRivals(stage, ['insert-main'], async () => 0),
  },
];

function weir(name: string, title: string, path: string, eventsPerRequest: number): Pattern {
  return {
    name,
    title,
    eventsPerRequest,
    connectionShare: eventsPerRequest === 1 ? 1 : 1 / 8,
    records: true,
    async start({ ground, database, run }) {
      const env = {
        DATABASE_URL: database.url,
        REDIS_URL: ground.redisUrl,
        QUEUE_PREFIX: ground.prefix,
        PORT: '0',
        WORKER_PORT: '0',
        LOG_LEVEL: 'error',
        SIGNUP: 'open',
      };
      const { url } = await run('apps/api/dist/main.js', env);
      await run('apps/worker/dist/main.js', env);
      const { apiKey, meterToken } = await signUp(url);
      const { staged } = queueKeys(ground.prefix);
      return { url, path, apiKey, meterToken, pending: () => ground.redis.zcard(staged) };
    },
  };
}

/** Starts the named programs in order; the first is the one that takes requests. */
async function startRivals(
  { ground, database, run }: Stage,
  [door, ...others]: [string, ...string[]],
  pending: () => Promise<number>,
): Promise<Target> {
  const apiKey = `org_live_${randomBytes(20).toString('hex')}`;
  const meterToken = randomBytes(16).toString('hex');
  const env = {
    DATABASE_URL: database.url,
    REDIS_URL: ground.redisUrl,
    QUEUE_PREFIX: ground.prefix,
    API_KEY: apiKey,
    METER_TOKEN: meterToken,
    METER_ID: randomUUID(),
    ORGANIZATION_ID: randomUUID(),
  };
  const start = (program: string) => run(`bench/dist/rivals/${program}.js`, env);
  const { url } = await start(door);
  for (const other of others) await start(other);
  return { url, path: '/track', apiKey, meterToken, pending };
}
