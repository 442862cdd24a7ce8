// What is compared. Each pattern runs as processes of its own, which share the machine with the load, Redis and Postgres.

import { randomBytes, randomUUID } from 'node:crypto';
import { queueKeys } from '@weir/shared/queue';
import { Queue } from 'bullmq';
import { startChild, type Child } from './child.ts';
import type { Ground, RoundDatabase } from './ground.ts';
import { EVENT_QUEUE } from './rivals/event-job.ts';
import { signUp } from './sign-up.ts';

/** A pattern that takes requests. */
export interface Target {
  url: string;
  path: string;
  apiKey: string;
  meterToken: string;
  children: Child[];
  /** What was accepted and is not in Postgres yet, in whatever unit; 0 means that everything is. */
  pending(): Promise<number>;
}

export interface Pattern {
  name: string;
  title: string;
  eventsPerRequest: number;
  /** False for the floor, which keeps nothing. */
  records: boolean;
  /** Adds each process to `children` as soon as it runs, so that they can be stopped when a later one fails. */
  start(ground: Ground, database: RoundDatabase, children: Child[], signal: AbortSignal): Promise<Target>;
}

export const PATTERNS: readonly Pattern[] = [
  {
    name: 'floor',
    title: 'a bare Fastify route that does nothing',
    eventsPerRequest: 1,
    records: false,
    start: (ground, database, children, signal) =>
      startRivals(['floor-main'], ground, database, children, signal, async () => 0),
  },
  weir('weir-single', 'Weir, one event a request', '/api/v1/sdk/track', 1),
  weir('weir-batch', 'Weir, 100 events a request', '/api/v1/sdk/track/batch', 100),
  {
    name: 'job-per-request',
    title: 'SET NX and one BullMQ job a request',
    eventsPerRequest: 1,
    records: true,
    async start(ground, database, children, signal) {
      const pending = async () => {
        const queue = new Queue(EVENT_QUEUE, { connection: ground.redis, prefix: ground.prefix });
        try {
          return await queue.getJobCountByTypes('waiting', 'active', 'delayed', 'prioritized');
        } finally {
          await queue.close();
        }
      };
      return startRivals(['job-api-main', 'job-worker-main'], ground, database, children, signal, pending);
    },
  },
  {
    name: 'insert-per-request',
    title: 'one transaction a request, no queue',
    eventsPerRequest: 1,
    records: true,
    start: (ground, database, children, signal) =>
      startRivals(['insert-main'], ground, database, children, signal, async () => 0),
  },
];

function weir(name: string, title: string, path: string, eventsPerRequest: number): Pattern {
  return {
    name,
    title,
    eventsPerRequest,
    records: true,
    async start(ground, database, children, signal) {
      const env = {
        DATABASE_URL: database.url,
        REDIS_URL: ground.redisUrl,
        QUEUE_PREFIX: ground.prefix,
        PORT: '0',
        WORKER_PORT: '0',
        LOG_LEVEL: 'warn',
        SIGNUP: 'open',
      };
      const api = await startChild('apps/api/dist/main.js', env, signal);
      children.push(api);
      children.push(await startChild('apps/worker/dist/main.js', env, signal));
      const { apiKey, meterToken } = await signUp(api.url);
      const { staged } = queueKeys(ground.prefix);
      return { url: api.url, path, apiKey, meterToken, children, pending: () => ground.redis.zcard(staged) };
    },
  };
}

/** Starts the named programs in order; the first is the one that takes requests. */
async function startRivals(
  programs: string[],
  ground: Ground,
  database: RoundDatabase,
  children: Child[],
  signal: AbortSignal,
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
  for (const program of programs) children.push(await startChild(`bench/dist/rivals/${program}.js`, env, signal));
  const [door] = children;
  if (door === undefined) throw new Error('a pattern needs a program');
  return { url: door.url, path: '/track', apiKey, meterToken, children, pending };
}
