// What is compared. Each pattern runs as processes of its own, which share the machine with the load, Redis and Postgres.

import { randomBytes, randomUUID } from 'node:crypto';
import { queueKeys } from '@weir/queue/keys';
import { BATCH_EVENTS_MAX } from '@weir/queue/record-jobs';
import { Queue } from 'bullmq';
import type { Child } from './child.ts';
import type { Ground, RoundDatabase } from './ground.ts';
import type { Caller } from './load/plan.ts';
import { EVENT_QUEUE } from './rivals/event-job.ts';
import { signUp } from './sign-up.ts';

/** A pattern that is ready for its load. */
export interface Target {
  /** Of the processes that take requests; none where the events are made in the process that records them. */
  urls: string[];
  path: string;
  callers: Caller[];
  /** The process that makes the load, where it is not the one that makes it for every pattern. */
  loader?: Child;
  /** What was accepted and is not in Postgres yet, in whatever unit; 0 means that everything is. */
  pending(): Promise<number>;
}

/** Where a pattern is started. */
export interface Stage {
  ground: Ground;
  database: RoundDatabase;
  /** Processes that take requests, and processes of Weir that record them. */
  apis: number;
  workers: number;
  /** Those that are in the database already; undefined: the pattern makes one. */
  callers: Caller[] | undefined;
  /** Starts a process that the round stops at its end, also when a later one fails. */
  run(program: string, env: Record<string, string>): Promise<Child>;
}

export interface Pattern {
  name: string;
  title: string;
  eventsPerRequest: number;
  /** Connections of the load, out of those that were asked for. */
  connections(asked: number): number;
  /** False for the floor, which keeps nothing. */
  records: boolean;
  /** False for the ceiling, whose events come from memory. */
  takesRequests: boolean;
  start(stage: Stage): Promise<Target>;
}

/** The name of the ceiling, and how the names of its variants begin. */
export const CEILING = 'raw-postgres';

/** All patterns; `ceilingConnections`: with how many connections the ceiling is run, each of them a pattern. */
export function patternsOf(ceilingConnections: readonly number[]): Pattern[] {
  const ceilings = ceilingConnections.map((connections) =>
    ceiling(ceilingConnections.length === 1 ? CEILING : `${CEILING}-${connections}`, connections),
  );
  return [FLOOR, FLOOR_2, WEIR_SINGLE, WEIR_SINGLE_2, WEIR_BATCH, ...ceilings, JOB_PER_REQUEST, INSERT_PER_REQUEST];
}

const requestPattern = {
  eventsPerRequest: 1,
  connections: (asked: number) => asked,
  records: true,
  takesRequests: true,
};

const FLOOR: Pattern = {
  ...requestPattern,
  name: 'floor',
  title: 'a bare Fastify route that does nothing',
  records: false,
  start: (stage) => startRivals(stage, 'floor-main', [], async () => 0),
};

const FLOOR_2 = onTwoProcesses(FLOOR, 'a bare Fastify route, two processes');

export const WEIR_SINGLE = weir('weir-single', 'Weir, one event a request', '/api/v1/sdk/track', 1);
const WEIR_SINGLE_2 = onTwoProcesses(WEIR_SINGLE, 'Weir, one event a request, two API processes');
export const WEIR_BATCH = weir('weir-batch', 'Weir, 100 events a request', '/api/v1/sdk/track/batch', 100);

const JOB_PER_REQUEST: Pattern = {
  ...requestPattern,
  name: 'job-per-request',
  title: 'SET NX and one BullMQ job a request',
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
    return startRivals(stage, 'job-api-main', ['job-worker-main'], pending);
  },
};

const INSERT_PER_REQUEST: Pattern = {
  ...requestPattern,
  name: 'insert-per-request',
  title: 'one transaction a request, no queue',
  start: (stage) => startRivals(stage, 'insert-main', [], async () => 0),
};

/** The same with two processes that take requests, however many are asked for. */
function onTwoProcesses(pattern: Pattern, title: string): Pattern {
  return {
    ...pattern,
    name: `${pattern.name}-2`,
    title,
    start: (stage) => pattern.start({ ...stage, apis: 2 }),
  };
}

function ceiling(name: string, connections: number): Pattern {
  return {
    name,
    title: `Weir's statement from memory, ${connections} connections`,
    // As many at once as Weir's worker records at most, since more of them share a rollup.
    eventsPerRequest: BATCH_EVENTS_MAX,
    connections: () => connections,
    records: true,
    takesRequests: false,
    async start({ ground, database, run }) {
      const loader = await run(rival('ceiling-main'), await rivalEnv(ground, database, newCaller()));
      return { urls: [], path: '', callers: [], loader, pending: async () => 0 };
    },
  };
}

function weir(name: string, title: string, path: string, eventsPerRequest: number): Pattern {
  return {
    ...requestPattern,
    name,
    title,
    eventsPerRequest,
    // A batch takes less of them, as each holds its events until all are answered.
    connections: (asked) => (eventsPerRequest === 1 ? asked : Math.max(1, Math.round(asked / 8))),
    async start(stage) {
      const { ground, apis, workers, run } = stage;
      const env = weirEnv(stage);
      const urls: string[] = [];
      for (let count = 0; count < apis; count += 1) urls.push((await run('apps/api/dist/main.js', env)).url);
      for (let count = 0; count < workers; count += 1) await startWorker(stage);
      const callers = stage.callers ?? [await signUp(urls[0] ?? '')];
      const { staged } = queueKeys(ground.prefix);
      return { urls, path, callers, pending: () => ground.redis.zcard(staged) };
    },
  };
}

/** Starts one more worker of Weir. */
export async function startWorker(stage: Pick<Stage, 'ground' | 'database' | 'run'>): Promise<void> {
  await stage.run('apps/worker/dist/main.js', weirEnv(stage));
}

function weirEnv({ ground, database }: Pick<Stage, 'ground' | 'database'>): Record<string, string> {
  return {
    DATABASE_URL: database.url,
    REDIS_URL: ground.redisUrl,
    QUEUE_PREFIX: ground.prefix,
    PORT: '0',
    WORKER_PORT: '0',
    LOG_LEVEL: 'error',
    SIGNUP: 'open',
  };
}

const rival = (program: string) => `bench/dist/rivals/${program}.js`;

const newCaller = (): Caller => ({
  apiKey: `org_live_${randomBytes(20).toString('hex')}`,
  meterToken: randomBytes(16).toString('hex'),
});

/** Usage has a meter: what a rival records is that of one that it does not have to look up. */
async function rivalEnv(ground: Ground, database: RoundDatabase, caller: Caller): Promise<Record<string, string>> {
  const [organization, meter] = [randomUUID(), randomUUID()];
  await database.client.query(`INSERT INTO organizations (id, name) VALUES ($1, 'Rival')`, [organization]);
  await database.client.query(
    `INSERT INTO meters (organization_id, id, name, meter_token, aggregation_type) VALUES ($1, $2, 'Rival', $3, 'SUM')`,
    [organization, meter, caller.meterToken],
  );
  return {
    DATABASE_URL: database.url,
    REDIS_URL: ground.redisUrl,
    QUEUE_PREFIX: ground.prefix,
    API_KEY: caller.apiKey,
    METER_TOKEN: caller.meterToken,
    METER_ID: meter,
    ORGANIZATION_ID: organization,
  };
}

/** Starts the named programs in order; the door is the one that takes requests, and there may be several of it. */
async function startRivals(
  { ground, database, apis, run }: Stage,
  door: string,
  others: string[],
  pending: () => Promise<number>,
): Promise<Target> {
  const caller = newCaller();
  const env = await rivalEnv(ground, database, caller);
  const urls: string[] = [];
  for (let count = 0; count < apis; count += 1) urls.push((await run(rival(door), env)).url);
  for (const other of others) await run(rival(other), env);
  return { urls, path: '/track', callers: [caller], pending };
}
