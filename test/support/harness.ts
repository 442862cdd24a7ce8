// A whole Weir for a test: an API and a worker in this process, on a database and a queue of their own.

import { createLog } from '@weir/shared/log';
import { loadSettings } from '@weir/shared/settings';
import { serveApi, type RunningApi } from '@weir/api/serve';
import { apiSettings } from '@weir/api/settings';
import { serveWorker, type RunningWorker } from '@weir/worker/serve';
import { workerSettings } from '@weir/worker/settings';
import type { QueueConnection } from '@weir/queue/connection';
import { queueKeys, type QueueKeys } from '@weir/queue/keys';
import { openRecordJobs, type RecordJobs } from '@weir/queue/record-jobs';
import { stagedEvents } from '@weir/queue/staged';
import type { AggregationType } from '@weir/shared/meter';
import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import pg from 'pg';
import { Agent } from 'undici';
import { inject } from 'vitest';
import { NODE_ARGUMENTS } from './node-arguments.ts';
import { createTestDatabase } from './setup/database.ts';

type Env = Record<string, string>;

export interface WeirOptions {
  /** Settings of the API that differ from the defaults. */
  api?: Env;
  worker?: Env;
  /** False leaves the worker out, so that events stay in the queue. */
  withWorker?: boolean;
  /** How long an API of this process waits for what tracking looks up, where a test is of a Postgres that does not answer. */
  lookupMsMax?: number;
  /** Where rows are counted that something reads. */
  unobserved?: boolean;
}

export interface Answer {
  status: number;
  headers: Headers;
  // Tests look into answers of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
}

export interface RequestOptions {
  body?: unknown;
  /** A body that is sent as it stands. */
  raw?: string | Uint8Array;
  headers?: Record<string, string>;
  /** The cookie of a signed-in admin. */
  session?: string;
  apiKey?: string;
  /** Another API process than the first. */
  baseUrl?: string;
}

export interface Weir {
  /** The API at `baseUrl`. */
  api: RunningApi;
  baseUrl: string;
  workerUrl: string | undefined;
  databaseUrl: string;
  env: Env;
  keys: QueueKeys;
  pool: pg.Pool;
  redis: Redis;
  /** The same two, as functions of packages/queue take them. */
  queue: QueueConnection;
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  startApi(settings?: Env): Promise<RunningApi>;
  startWorker(settings?: Env): Promise<RunningWorker>;
  /** A real process of its own. */
  spawnApi(settings?: Env, options?: SpawnOptions): Promise<Spawned>;
  spawnWorker(settings?: Env, options?: SpawnOptions): Promise<Spawned>;
  /** The name in Redis of the claim on an idempotency key. */
  claim(organizationId: string, idempotencyKey: string): Promise<string>;
  /** How many events wait in Redis. */
  stagedEvents(): Promise<number>;
  /**
   * Waits until no batch is staged any more: everything accepted so far is recorded, rejected or known as a duplicate. Asks for each
   * batch that is still open, which would take flushes for a while.
   */
  drained(seconds?: number): Promise<void>;
  /** The same, and asks for nothing: batches without a job are left to the sweeper. */
  swept(seconds?: number): Promise<void>;
  close(): Promise<void>;
}

interface SpawnOptions {
  /** How many files and connections the process may have open. */
  descriptorsMax?: number;
  /** The Node that it runs on, where that is another than this one. */
  node?: string;
}

interface Spawned {
  url: string;
  child: ChildProcess;
  /** Ends the process with a signal and waits until it is gone. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** For tests in which a caller has the share of reading that it has by default. */
export const DEFAULT_SHARE = { READ_BUCKETS_PER_CALLER: '' };

export async function startWeir(options: WeirOptions = {}): Promise<Weir> {
  const database = await createTestDatabase(options);
  const prefix = `{weir-test-${randomBytes(6).toString('hex')}}`;
  const redisUrl = inject('redisUrl');
  const env: Env = {
    DATABASE_URL: database.url,
    REDIS_URL: redisUrl,
    QUEUE_PREFIX: prefix,
    PORT: '0',
    WORKER_PORT: '0',
    LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'silent',
    SIGNUP: 'open',
    // No balancer has to hear of a stop.
    DRAIN_DELAY_MS: '0',
    // Each test signs up organizations of its own, all of them from this machine.
    RATE_LIMIT_SIGNUPS_PER_ADDRESS: '0',
    // Nor does a test wait for the share of its one caller.
    READ_BUCKETS_PER_CALLER: '1000000000',
    // A slow disk under a busy test machine is no outage.
    REDIS_COMMAND_TIMEOUT_MS: '10000',
    // Nor is a busy one overloaded.
    EVENT_LOOP_DELAY_MS_MAX: '60000',
    SWEEP_INTERVAL_MS: '250',
    SWEEP_AGE_MS: '1000',
    // Tests of billing say themselves when it runs.
    BILLING_CONCURRENCY: '0',
    BILLING_INTERVAL_MS: '600000',
    // Tests of webhooks have a worker of their own.
    WEBHOOK_CONCURRENCY: '0',
    WEBHOOK_INTERVAL_MS: '600000',
    // And tests of moves when they go on.
    MOVES_INTERVAL_MS: '600000',
  };
  const closers: (() => Promise<unknown>)[] = [];
  const pool = new pg.Pool({ connectionString: database.url, max: 2, options: '-c timezone=UTC' });
  const redis = new Redis(redisUrl);
  const keys = queueKeys(prefix);
  const client = new Agent();
  let jobs: RecordJobs | undefined;

  // Nor is a Postgres that takes long for the first connections away.
  const { lookupMsMax = 10_000 } = options;
  const startApi = async (settings: Env = {}): Promise<RunningApi> => {
    const loaded = loadSettings(apiSettings, { ...env, ...options.api, ...settings });
    const api = await serveApi(loaded, createLog('api', loaded.LOG_LEVEL), undefined, lookupMsMax);
    closers.push(onlyOnce(() => api.close()));
    return api;
  };
  const startWorker = async (settings: Env = {}): Promise<RunningWorker> => {
    const loaded = loadSettings(workerSettings, { ...env, ...options.worker, ...settings });
    const worker = await serveWorker(loaded, createLog('worker', loaded.LOG_LEVEL));
    closers.push(onlyOnce(() => worker.close()));
    return worker;
  };
  const spawnMain = async (
    app: 'api' | 'worker',
    settings: Env = {},
    spawnOptions: SpawnOptions = {},
  ): Promise<Spawned> => {
    const all = { ...env, ...options[app], ...settings };
    const spawned = await spawnProgram(app, all, spawnOptions);
    closers.push(() => spawned.stop());
    return spawned;
  };

  const api = await startApi();
  const worker = options.withWorker === false ? undefined : await startWorker();
  return {
    api,
    baseUrl: api.url,
    workerUrl: worker?.url,
    databaseUrl: database.url,
    env,
    keys,
    pool,
    redis,
    queue: { redis, keys },
    request: (method, path, request) => send(client, request?.baseUrl ?? api.url, method, path, request),
    startApi,
    startWorker,
    spawnApi: (settings, spawnOptions) => spawnMain('api', settings, spawnOptions),
    spawnWorker: (settings, spawnOptions) => spawnMain('worker', settings, spawnOptions),
    claim: async (organizationId, idempotencyKey) =>
      keys.claim((await redis.get(keys.epoch)) ?? '', organizationId, idempotencyKey),
    stagedEvents: () => countStagedEvents(redis, keys),
    async drained(seconds) {
      jobs ??= openRecordJobs({ redis, keys }, createLog('test', 'silent'), () => {});
      const asked = new Set<string>();
      const isEmpty = async (): Promise<boolean> => {
        const staged = await redis.zrange(keys.staged, 0, '-1');
        for (const batch of staged.filter((each) => !asked.has(each))) jobs?.enqueue(batch);
        for (const batch of staged) asked.add(batch);
        return staged.length === 0;
      };
      await until(isEmpty, 'the queue is empty', seconds);
    },
    swept: (seconds) => until(async () => (await redis.zcard(keys.staged)) === 0, 'the queue is empty', seconds),
    async close() {
      // An API that closes waits a quarter of a second for what clients may still send over connections that are idle.
      await client.destroy();
      for (const close of closers.reverse()) await close();
      await jobs?.close();
      await pool.end();
      const left = await redis.keys(`${prefix.replace(/[{}]/g, '\\$&')}*`);
      if (left.length > 0) await redis.unlink(...left);
      redis.disconnect();
      await database.drop();
    },
  };
}

/** How many events wait in a Redis. */
export async function countStagedEvents(redis: Redis, keys: QueueKeys): Promise<number> {
  const batches = await redis.zrange(keys.staged, 0, '-1');
  const flushes = await Promise.all(batches.map((batch) => redis.lrange(keys.batch(batch), 0, -1)));
  return stagedEvents(flushes.flat()).length;
}

function onlyOnce(close: () => Promise<void>): () => Promise<void> {
  let closed: Promise<void> | undefined;
  return () => (closed ??= close());
}

async function spawnProgram(
  app: 'api' | 'worker',
  env: Env,
  { descriptorsMax, node = process.execPath }: SpawnOptions,
): Promise<Spawned> {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const built = [node, ...NODE_ARGUMENTS, `apps/${app}/dist/main.js`];
  const limited = ['bash', '-c', `ulimit -n ${descriptorsMax}; exec "$0" "$@"`, ...built];
  const [command = '', ...args] = descriptorsMax === undefined ? built : limited;
  const child = spawn(command, args, {
    cwd: root,
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const gone = once(child, 'exit');
  const [message] = (await Promise.race([
    once(child, 'message'),
    gone.then(([code]) => Promise.reject(new Error(`the ${app} ended with code ${String(code)} before it was ready`))),
  ])) as [{ url: string }];
  return {
    url: message.url,
    child,
    async stop(signal = 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      await gone;
    },
  };
}

async function send(
  client: Agent,
  baseUrl: string,
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<Answer> {
  const sent: Record<string, string> = { ...options.headers };
  if (options.body !== undefined || options.raw !== undefined) sent['content-type'] ??= 'application/json';
  if (options.session !== undefined) sent['cookie'] = `access_token=${options.session}`;
  if (options.apiKey !== undefined) sent['x-api-key'] = options.apiKey;
  const { origin, pathname, search } = new URL(baseUrl + path);
  const answer = await client.request({
    origin,
    path: pathname + search,
    method,
    headers: sent,
    body: options.raw ?? (options.body === undefined ? null : JSON.stringify(options.body)),
  });
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(answer.headers))
    for (const value of [values].flat()) headers.append(name, value);
  const text = await answer.body.text();
  const isJson = /json/.test(headers.get('content-type') ?? '');
  return { status: answer.statusCode, headers, body: isJson && text !== '' ? JSON.parse(text) : text };
}

/** Asks again and again until a condition holds; fails after half a minute with what was waited for. */
export async function until(condition: () => Promise<boolean> | boolean, what: string, seconds = 30): Promise<void> {
  const deadline = Date.now() + seconds * 1000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`waited ${seconds} s in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A signed-in admin of a new organization, and what such an admin makes first. */
export interface Organization {
  id: string;
  session: string;
  email: string;
  password: string;
  /** Asks the API, as this admin, for a path below `/api/v1`. */
  ask(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Does the same and returns the body; throws unless it is answered with this status, or with any success if there is none. */
  call(method: string, path: string, body?: unknown, status?: number): Promise<Answer['body']>;
  createMeter(
    aggregation: AggregationType,
    unit?: string,
    metadataKeys?: string[],
  ): Promise<{ id: string; token: string; featureId: string; lookupKey: string }>;
  createKey(...scopes: string[]): Promise<string>;
}

let organizations = 0;

export async function signUp(weir: Weir): Promise<Organization> {
  organizations += 1;
  const email = `admin-${organizations}@example.com`;
  const password = `correct horse battery ${organizations}`;
  const signup = await weir.request('POST', '/api/v1/auth/signup', {
    body: { email, password, organization_name: `Organization ${organizations}` },
  });
  if (signup.status !== 201) throw new Error(`signing up answered ${signup.status}: ${JSON.stringify(signup.body)}`);
  const session = /access_token=([^;]+)/.exec(signup.headers.get('set-cookie') ?? '')?.[1];
  if (session === undefined) throw new Error('signing up set no cookie');
  const ask: Organization['ask'] = (method, path, body) => weir.request(method, `/api/v1${path}`, { session, body });
  const call: Organization['call'] = async (method, path, sent, expected) => {
    const { status, body } = await ask(method, path, sent);
    if (expected === undefined ? status >= 300 : status !== expected)
      throw new Error(`${method} ${path} answered ${status}: ${JSON.stringify(body)}`);
    return body;
  };
  return {
    id: signup.body.organization.id,
    session,
    email,
    password,
    ask,
    call,
    async createMeter(aggregation, unit, metadata_keys) {
      const lookup_key = randomBytes(6).toString('hex');
      const named = { name: `Meter ${lookup_key}`, lookup_key, type: 'meter' };
      const body = { ...named, aggregation_type: aggregation, unit, metadata_keys };
      const made = await call('POST', '/features', body, 201);
      return { id: made.meter_id, token: made.meter_token, featureId: made.id, lookupKey: lookup_key };
    },
    async createKey(...scopes) {
      const body = { name: 'test', scopes: scopes.length === 0 ? ['usage.write', 'usage.read'] : scopes };
      return (await call('POST', '/api-keys', body, 201)).key;
    },
  };
}
