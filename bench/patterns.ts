// The patterns that are compared. Each runs as processes of its own, which share the machine with the load, Redis and Postgres.

import { randomBytes, randomUUID } from 'node:crypto';
import { queueKeys } from '@weir/queue/keys';
import { BATCH_EVENTS_MAX } from '@weir/queue/record-jobs';
import { Queue } from 'bullmq';
import type { Child, RunProgram } from './child.ts';
import type { Environment, RoundDatabase } from './environment.ts';
import { fillFeed } from './fill/feed.ts';
import type { Caller } from './load/plan.ts';
import { EVENT_QUEUE } from './baselines/event-job.ts';
import type { Store } from './second-copy.ts';
import { signIn, signInToPost, signUp } from './sign-up.ts';

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

/** Needed by a pattern to start. */
export interface PatternDeps {
  environment: Environment;
  database: RoundDatabase;
  /** Processes that take requests, and processes of Weir that record them. */
  apis: number;
  workers: number;
  /** Those that are in the database already; undefined: the pattern makes one. */
  callers: Caller[] | undefined;
  /** Starts a process that the round stops at its end, also when a later one fails. */
  run: RunProgram;
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
  /** What has a second copy on the same machine for the length of a round. */
  secondCopyOf?: Store;
  start(deps: PatternDeps): Promise<Target>;
}

const WORKER = 'apps/worker/dist/main.js';

/** As many batches as a worker records at a time. */
const CEILING_CONNECTIONS = 4;

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
  start: (deps) => startBaseline(deps, 'floor-main', [], async () => 0),
};

const FLOOR_2 = onTwoProcesses(FLOOR, 'a bare Fastify route, two processes');

const TRACK = '/api/v1/sdk/track';

export const WEIR_SINGLE = weir('weir-single', 'Weir, one event a request', TRACK, 1);
const WEIR_SINGLE_2 = onTwoProcesses(WEIR_SINGLE, 'Weir, one event a request, two API processes');

/** The same while ten people have the console open. */
const WEIR_SINGLE_CONSOLES: Pattern = {
  ...WEIR_SINGLE,
  name: 'weir-single-consoles',
  title: 'Weir, one event a request, ten consoles open',
  async start(deps) {
    const target = await WEIR_SINGLE.start(deps);
    const [url = ''] = target.urls;
    const cookie = await signIn(url);
    const { rows } = await deps.database.client.query<{ id: string }>('SELECT id FROM meters');
    await deps.run('bench/dist/consoles/consoles-main.js', {
      API_URL: url,
      SESSION: cookie,
      METER_ID: rows[0]?.id ?? '',
    });
    return target;
  },
};

/** What a worker sends by itself, and enough of it for every round. */
const DELIVERIES = { perSecond: 100, events: 100_000 } as const;
const SENT_LOCALLY = weir('weir-single-webhooks', 'Weir, one event a request, webhooks delivered', TRACK, 1, {
  WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
  WEBHOOK_RATE_MAX: String(DELIVERIES.perSecond),
});

/** The same while a receiver is sent what has happened, as fast as one worker sends. */
const WEIR_SINGLE_WEBHOOKS: Pattern = {
  ...SENT_LOCALLY,
  async start(deps) {
    const target = await SENT_LOCALLY.start(deps);
    const post = await signInToPost(target.urls[0] ?? '');
    const receiver = await deps.run('bench/dist/receiver/receiver-main.js', {
      DELIVERIES_PER_SECOND: String(DELIVERIES.perSecond),
    });
    await post('/webhook-endpoints', { url: receiver.url });
    await fillFeed(deps.database.client, DELIVERIES.events);
    return target;
  },
};

const WEIR_SINGLE_REPLICA: Pattern = {
  ...weir('weir-single-replica', 'Weir, one event a request, on two disks in Redis', TRACK, 1, { REDIS_COPIES: '2' }),
  secondCopyOf: 'Redis',
};

const WEIR_SINGLE_STANDBY: Pattern = {
  ...weir('weir-single-standby', 'Weir, one event a request, on two disks in Postgres', TRACK, 1, {
    DATABASE_COPIES: '2',
  }),
  secondCopyOf: 'Postgres',
};

/** Every process has seen a Redis, which is gone before the first event. */
const WEIR_SINGLE_DIRECT: Pattern = {
  ...WEIR_SINGLE,
  name: 'weir-single-direct',
  title: 'Weir, one event a request, Redis away',
  async start(deps) {
    const redis = await deps.environment.openOtherRedis();
    try {
      const environment = { ...deps.environment, redisUrl: redis.redisUrl };
      return { ...(await WEIR_SINGLE.start({ ...deps, environment })), pending: async () => 0 };
    } finally {
      await redis.close();
    }
  },
};

export const WEIR_BATCH = weir('weir-batch', 'Weir, 100 events a request', `${TRACK}/batch`, 100);

const JOB_PER_REQUEST: Pattern = {
  ...requestPattern,
  name: 'job-per-request',
  title: 'SET NX and one BullMQ job a request',
  async start(deps) {
    const { redis, prefix } = deps.environment;
    const pending = async () => {
      const queue = new Queue(EVENT_QUEUE, { connection: redis, prefix });
      try {
        return await queue.getJobCountByTypes('waiting', 'active', 'delayed', 'prioritized');
      } finally {
        await queue.close();
      }
    };
    return startBaseline(deps, 'job-api-main', ['job-worker-main'], pending);
  },
};

const INSERT_PER_REQUEST: Pattern = {
  ...requestPattern,
  name: 'insert-per-request',
  title: 'one transaction a request, no queue',
  start: (deps) => startBaseline(deps, 'insert-main', [], async () => 0),
};

/** The same with two processes that take requests, however many are asked for. */
function onTwoProcesses(pattern: Pattern, title: string): Pattern {
  return {
    ...pattern,
    name: `${pattern.name}-2`,
    title,
    start: (deps) => pattern.start({ ...deps, apis: 2 }),
  };
}

export const RAW_POSTGRES: Pattern = {
  name: 'raw-postgres',
  title: `Weir's statement from memory, ${CEILING_CONNECTIONS} connections`,
  // As many at once as Weir's worker records at most, since more of them share a rollup.
  eventsPerRequest: BATCH_EVENTS_MAX,
  connections: () => CEILING_CONNECTIONS,
  records: true,
  takesRequests: false,
  async start(deps) {
    const loader = await deps.run(baseline('ceiling-main'), await baselineEnv(deps, newCaller()));
    return { urls: [], path: '', callers: [], loader, pending: async () => 0 };
  },
};

export const PATTERNS: readonly Pattern[] = [
  FLOOR,
  FLOOR_2,
  WEIR_SINGLE,
  WEIR_SINGLE_2,
  WEIR_SINGLE_CONSOLES,
  WEIR_SINGLE_WEBHOOKS,
  WEIR_SINGLE_REPLICA,
  WEIR_SINGLE_STANDBY,
  WEIR_SINGLE_DIRECT,
  WEIR_BATCH,
  RAW_POSTGRES,
  JOB_PER_REQUEST,
  INSERT_PER_REQUEST,
];

function weir(
  name: string,
  title: string,
  path: string,
  eventsPerRequest: number,
  settings: Record<string, string> = {},
): Pattern {
  return {
    ...requestPattern,
    name,
    title,
    eventsPerRequest,
    // A batch takes less of them, as each holds its events until all are answered.
    connections: (asked) => (eventsPerRequest === 1 ? asked : Math.max(1, Math.round(asked / 8))),
    async start(deps) {
      const { environment, apis, workers, run } = deps;
      const env = { ...weirEnv(deps), ...settings };
      const urls: string[] = [];
      for (let count = 0; count < apis; count += 1) urls.push((await run('apps/api/dist/main.js', env)).url);
      for (let count = 0; count < workers; count += 1) await run(WORKER, env);
      const callers = deps.callers ?? [(await signUp(urls[0] ?? '')).caller];
      const { staged } = queueKeys(environment.prefix);
      return { urls, path, callers, pending: () => environment.redis.zcard(staged) };
    },
  };
}

/** Starts one more worker of Weir. */
export async function startWorker(deps: Pick<PatternDeps, 'environment' | 'database' | 'run'>): Promise<void> {
  await deps.run(WORKER, weirEnv(deps));
}

function servicesEnv({ environment, database }: Pick<PatternDeps, 'environment' | 'database'>): Record<string, string> {
  return { DATABASE_URL: database.url, REDIS_URL: environment.redisUrl, QUEUE_PREFIX: environment.prefix };
}

/** The settings of an API or a worker of Weir. */
export function weirEnv(deps: Pick<PatternDeps, 'environment' | 'database'>): Record<string, string> {
  return {
    ...servicesEnv(deps),
    DRAIN_DELAY_MS: '0',
    PORT: '0',
    WORKER_PORT: '0',
    LOG_LEVEL: 'error',
    SIGNUP: 'open',
  };
}

const baseline = (program: string) => `bench/dist/baselines/${program}.js`;

const newCaller = (): Caller => ({
  apiKey: `org_live_${randomBytes(20).toString('hex')}`,
  meterToken: randomBytes(16).toString('hex'),
});

/** Usage has a meter: what a baseline records is of one that it does not have to look up. */
async function baselineEnv(deps: PatternDeps, { apiKey, meterToken }: Caller): Promise<Record<string, string>> {
  const [organization, meter] = [randomUUID(), randomUUID()];
  const { client } = deps.database;
  await client.query(`INSERT INTO organizations (id, name) VALUES ($1, 'Baseline')`, [organization]);
  await client.query(
    `INSERT INTO meters (organization_id, id, name, meter_token, aggregation_type) VALUES ($1, $2, 'Baseline', $3, 'SUM')`,
    [organization, meter, meterToken],
  );
  return {
    ...servicesEnv(deps),
    API_KEY: apiKey,
    METER_TOKEN: meterToken,
    METER_ID: meter,
    ORGANIZATION_ID: organization,
  };
}

/** Starts the named programs in order; the door is the one that takes requests, and there may be several of it. */
async function startBaseline(
  deps: PatternDeps,
  door: string,
  others: string[],
  pending: () => Promise<number>,
): Promise<Target> {
  const caller = newCaller();
  const env = await baselineEnv(deps, caller);
  const urls: string[] = [];
  for (let count = 0; count < deps.apis; count += 1) urls.push((await deps.run(baseline(door), env)).url);
  for (const other of others) await deps.run(baseline(other), env);
  return { urls, path: '/track', callers: [caller], pending };
}
