// What the door does on a Redis that is nearly full, set up wrong, or away: it leaves that Redis alone, and refuses nobody. Each of
// these has a Redis of its own.

import { openRedisWatch } from '@weir/api/ingest/redis-watch';
import { queueKeys } from '@weir/queue/keys';
import { openTemporaryServices } from '@weir/services/temporary';
import type { Services } from '@weir/services/services';
import { newId } from '@weir/shared/ids';
import { createLog } from '@weir/shared/log';
import { Redis } from 'ioredis';
import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { countStagedEvents, signUp, until, type Organization } from '../support/harness.ts';
import { openContainers } from '../support/setup/containers.ts';
import { ownWeir } from '../support/use-weir.ts';
import { PROGRAMS } from '../support/programs-folder.ts';

let services: Services | Awaited<ReturnType<typeof openContainers>>;
let redisUrl: string;
let redis: Redis;
let admin: Organization;
let apiKey: string;
let token: string;

beforeAll(async () => {
  const given = { databaseUrl: inject('databaseUrl'), redisUrl: undefined };
  const log = () => {};
  const opened =
    (await openContainers(given, log)) ?? (await openTemporaryServices({ ...given, cacheHome: PROGRAMS, log }));
  services = opened;
  redisUrl = opened.redisUrl;
  redis = new Redis(redisUrl);
});
afterAll(async () => {
  redis.disconnect();
  await services?.close();
});

const weir = ownWeir(() => ({ api: { REDIS_URL: redisUrl }, withWorker: false }));
beforeAll(async () => {
  admin = await signUp(weir);
  apiKey = await admin.createKey();
  token = (await admin.createMeter('SUM')).token;
});
beforeEach(async () => {
  await redis.config('SET', 'maxmemory', '0', 'maxmemory-policy', 'noeviction');
});

const track = (baseUrl = weir.baseUrl) =>
  weir.request('POST', '/api/v1/sdk/track', {
    apiKey,
    baseUrl,
    body: { meter_token: token, customer_external_id: 'acme', quantity: 1 },
  });

/** What the API says of one metric. */
async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${weir.baseUrl}/metrics`)).text();
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  return line === undefined ? Number.NaN : Number(line.slice(name.length + 1));
}

/** How many events are recorded. There is no worker: those that were recorded directly. */
const countRecorded = async () => (await weir.pool.query('SELECT FROM events')).rowCount ?? 0;
const isDirect = async (url = weir.baseUrl) =>
  (await weir.request('GET', '/readyz', { baseUrl: url })).body.way === 'direct';

test('a Redis without maxmemory is told of once, and again where its limit is taken away', async () => {
  const lines: string[] = [];
  const log = createLog('api', 'warn', [], { write: (line) => void lines.push(JSON.parse(line).msg) });
  const queue = { redis, keys: queueKeys('{weir-unlimited}') };
  const counts = { batchesMax: 10, claimSecondsMax: 60, onClaimsLetGo: () => {}, onAway: () => {} };
  const told = () => lines.filter((line) => line.startsWith('Redis has no maxmemory: ')).length;
  const watch = openRedisWatch(queue, log, counts);
  try {
    await until(() => told() === 1, 'it is told of');
    await redis.config('SET', 'maxmemory', '1gb');
    await until(() => watch.state().memoryShare > 0, 'the limit is seen');
    expect(told()).toBe(1);
    await redis.config('SET', 'maxmemory', '0');
    await until(() => told() === 2, 'it is told of again');
    // It says nothing of what is on disk.
    expect(watch.state().isSynced).toBe(true);
  } finally {
    watch.close();
  }
});

test('a Redis that is nearly full gets no more events, until it has room again; Postgres takes them', async () => {
  expect((await track()).status).toBe(201);
  // With this in it, what maxmemory leaves free is 10 MB, more than the events of this test take: Redis itself refuses none.
  await redis.setrange('ballast', 50_000_000, 'x');
  const used = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
  await redis.config('SET', 'maxmemory', String(Math.round(used * 1.2)));
  await until(isDirect, 'no more goes there');
  const [staged, recorded] = [await countStagedEvents(redis, weir.keys), await countRecorded()];
  for (let event = 0; event < 3; event += 1) expect((await track()).status).toBe(201);
  expect(await countStagedEvents(redis, weir.keys)).toBe(staged);
  expect(await countRecorded()).toBe(recorded + 3);
  await redis.unlink('ballast');
  await until(async () => !(await isDirect()), 'events go there again');
  expect((await track()).status).toBe(201);
  expect(await countStagedEvents(redis, weir.keys)).toBe(staged + 1);
});

test('a Redis that refuses writes, full from one moment to the next, has no event refused', async () => {
  expect((await track()).status).toBe(201);
  const recorded = await countRecorded();
  await redis.config('SET', 'maxmemory', '1');
  const answers = await Promise.all(Array.from({ length: 20 }, () => track()));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
  expect(await countRecorded()).toBe(recorded + 20);
  await redis.config('SET', 'maxmemory', '0');
  await until(async () => !(await isDirect()), 'events go there again');
});

test('a Redis that is set to drop events while it runs gets no more of them, until it is set right', async () => {
  expect((await track()).status).toBe(201);
  await redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
  await until(isDirect, 'no more goes there');
  const staged = await countStagedEvents(redis, weir.keys);
  expect((await track()).status).toBe(201);
  expect(await countStagedEvents(redis, weir.keys)).toBe(staged);
  await redis.config('SET', 'maxmemory-policy', 'noeviction');
  await until(async () => !(await isDirect()), 'the settings are mended');
});

test.each([
  ['appendfsync', 'everysec', 'always'],
  ['no-appendfsync-on-rewrite', 'yes', 'no'],
])(
  'a Redis whose %s is set to %s while it runs is seen, and events are taken all the same',
  async (name, weak, right) => {
    const isSynced = async (value: number) => (await metric('weir_redis_synced')) === value;
    await until(() => isSynced(1), 'all is well');
    await redis.config('SET', name, weak);
    await until(() => isSynced(0), 'the metric says so');
    expect((await track()).status).toBe(201);
    await redis.config('SET', name, right);
    await until(() => isSynced(1), 'the setting is mended');
  },
);

/** Holds so many claims that were made so long ago. */
async function holdClaims(count: number, ageSeconds: number): Promise<string[]> {
  await until(async () => (await redis.exists(weir.keys.lettingGo)) === 0, 'nobody lets go of claims');
  const pipeline = redis.pipeline();
  const claims = Array.from({ length: count }, (_, index) =>
    weir.keys.claim('any memory', admin.id, `${ageSeconds} ${index}`),
  );
  for (const claim of claims) pipeline.set(claim, newId(Date.now() - ageSeconds * 1000) + 'f'.repeat(22), 'EX', 86_400);
  // Nobody has let go of any that were so old.
  pipeline.unlink(weir.keys.oldestClaim);
  await pipeline.exec();
  return claims;
}
/** How many of these keys are there. Asked by a few at a time: a question as long as all of them is itself memory that is in use. */
async function countKeys(keys: readonly string[]): Promise<number> {
  let count = 0;
  for (let first = 0; first < keys.length; first += 100) count += await redis.exists(...keys.slice(first, first + 100));
  return count;
}
const usedMemory = async () => Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
/** Has the door see that memory is in use to this share. What it sees is no growth: it saw what is in use before. */
async function fillTo(share: number): Promise<void> {
  const limit = (await usedMemory()) * 20;
  await redis.config('SET', 'maxmemory', String(limit));
  const isSeen = async () =>
    Math.abs(((await metric('weir_redis_memory_ratio')) * limit) / (await usedMemory()) - 1) < 0.005;
  await until(isSeen, 'the door has looked');
  await redis.config('SET', 'maxmemory', String(Math.round((await usedMemory()) / share)));
}

/** Waits for a condition while memory is in use to this share. Redis gives memory back by and by, so the limit follows it. */
async function untilAt(share: number, condition: () => Promise<boolean>, what: string): Promise<void> {
  await fillTo(share);
  await until(async () => {
    await redis.config('SET', 'maxmemory', String(Math.round((await usedMemory()) / share)));
    return condition();
  }, what);
}

test('claims that fill the memory are let go of, and never keep events away for long', async () => {
  await holdClaims(20_000, 60);
  const { id } = (await track()).body;
  await fillTo(0.9);
  await until(async () => (await metric('weir_claims_let_go_total')) >= 20_000, 'the claims are let go of');
  await until(async () => !(await isDirect()), 'events go there');
  const lives = async () => (await metric('weir_claim_life_seconds')) === 86_400;
  await until(lives, 'claims live as long as before');
  expect((await weir.request('GET', `/api/v1/events/${id}`, { apiKey })).body.status).toBe('queued');
});

test('under some pressure old claims are let go of, young ones are not, and new ones live shorter', async () => {
  const old = await holdClaims(10_000, 20 * 3_600);
  const young = await holdClaims(10_000, 10);
  await redis.set('a key of somebody else', newId(0));
  await untilAt(0.57, async () => (await countKeys(old)) === 0, 'the old claims are let go of');
  expect(await countKeys(young)).toBe(10_000);
  expect(await redis.exists('a key of somebody else')).toBe(1);
  expect((await track()).status).toBe(201);
  await redis.unlink(...young);
});

test('while memory is short a claim lives shorter, and none is kept when it is shorter still', async () => {
  await redis.setrange('ballast', 20_000_000, 'x');
  const lifeOf = async (key: string): Promise<number> => {
    const body = { meter_token: token, customer_external_id: 'acme', quantity: 1, idempotency_key: key };
    expect((await weir.request('POST', '/api/v1/sdk/track', { apiKey, body })).status).toBe(201);
    // The memory of the Redis of this file.
    return redis.ttl(weir.keys.claim((await redis.get(weir.keys.epoch)) ?? '', admin.id, key));
  };
  await until(async () => (await metric('weir_claim_life_seconds')) === 86_400, 'memory is not short');
  expect(await lifeOf('as long as it may')).toBeGreaterThan(86_000);
  await untilAt(0.55, async () => (await metric('weir_claim_life_seconds')) < 10_000, 'claims live shorter');
  expect(await lifeOf('shorter')).toBeLessThan(10_000);
  await untilAt(0.72, async () => (await metric('weir_claim_life_seconds')) === 0, 'claims are made no more');
  expect(await lifeOf('not at all')).toBe(-2);
  await redis.unlink('ballast');
});

test('events of an organization that lets too much wait are recorded directly, alone, until it is less', async () => {
  const flooder = await signUp(weir);
  const flooding = { apiKey: await flooder.createKey(), token: (await flooder.createMeter('COUNT')).token };
  const event = { meter_token: flooding.token, customer_external_id: 'acme', quantity: 1 };
  const flood = (events: number, metadata?: unknown) =>
    weir.request('POST', '/api/v1/sdk/track/batch', {
      apiKey: flooding.apiKey,
      body: {
        events: Array.from({ length: events }, () => ({ ...event, ...(metadata !== undefined && { metadata }) })),
      },
    });
  for (let batch = 0; batch < 4; batch += 1) expect((await flood(500, { note: 'x'.repeat(8_000) })).status).toBe(201);
  // What is staged is not counted here: to read so much of it would itself be memory that is in use.
  const isRecorded = async (send: () => Promise<{ status: number }>, events: number) => {
    const before = await countRecorded();
    expect((await send()).status).toBe(201);
    return (await countRecorded()) === before + events;
  };
  await untilAt(0.7, () => isRecorded(() => flood(2), 2), 'the flooder is kept away from Redis');
  expect(await isRecorded(track, 1)).toBe(false);
  expect(await isDirect()).toBe(false);
  const worker = await weir.startWorker({ REDIS_URL: services?.redisUrl ?? '' });
  await until(async () => (await redis.exists(weir.keys.staged, weir.keys.waiting)) === 0, 'all is recorded');
  await worker.close();
});

/**
 * What Redis does, a line for each command, over a connection of its own: a client of ioredis that monitors breaks where lines come with
 * the answer to MONITOR.
 */
async function monitorRedis(url: string): Promise<{ lines: () => string[]; close: () => void }> {
  const { hostname, port, password } = new URL(url);
  const socket = connect(Number(port), hostname);
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  socket.write(`${password === '' ? '' : `AUTH ${password}\r\n`}MONITOR\r\n`);
  const answers = password === '' ? '+OK\r\n' : '+OK\r\n+OK\r\n';
  await until(() => text.startsWith(answers), 'Redis tells what it does');
  return { lines: () => text.split('\r\n'), close: () => socket.destroy() };
}

test('an event is written before its claim, so that a torn log holds no claim without its event', async () => {
  // One that goes directly has its claim only after Postgres has it, or none while memory is short.
  await until(async () => (await metric('weir_claim_life_seconds')) === 86_400, 'memory is not short');
  await until(async () => !(await isDirect()), 'events go through Redis');
  const { lines, close } = await monitorRedis(redisUrl);
  const body = { meter_token: token, customer_external_id: 'acme', quantity: 1, idempotency_key: 'in the log' };
  const { id } = (await weir.request('POST', '/api/v1/sdk/track', { apiKey, body })).body;
  // The log holds what a script wrote, in the order in which it wrote.
  const staged = () => lines().findIndex((line) => line.includes('"RPUSH"') && line.includes(id));
  const claimed = () => lines().findIndex((line) => line.includes('"SET"') && line.includes(` "${id}`));
  await until(() => claimed() >= 0, 'the claim was seen');
  expect(staged()).toBeGreaterThanOrEqual(0);
  expect(staged()).toBeLessThan(claimed());
  close();
});

test('while Redis is away, only receipts of what waits there are answered with 503', async () => {
  const { id } = (await track()).body;
  const cut = await weir.startApi({ REDIS_URL: 'redis://127.0.0.1:1' });
  const taken = await track(cut.url);
  expect(taken.status).toBe(201);
  const receipt = await weir.request('GET', `/api/v1/events/${taken.body.id}`, { apiKey, baseUrl: cut.url });
  expect([receipt.status, receipt.body.status]).toEqual([200, 'recorded']);
  expectProblem(await weir.request('GET', `/api/v1/events/${id}`, { apiKey, baseUrl: cut.url }), 503, 'unavailable');
  expect((await weir.request('GET', '/api/v1/features', { apiKey, baseUrl: cut.url })).status).toBe(200);
});
