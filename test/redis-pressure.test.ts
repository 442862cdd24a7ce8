// What the door does on a Redis that is nearly full, set up wrong, or away. Each of these has a Redis of its own.

import { openTemporaryServices } from '@weir/services/temporary';
import type { Services } from '@weir/services/services';
import { Redis } from 'ioredis';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { expectProblem } from './expect-problem.ts';
import { countStagedEvents, signUp, startWeir, until, type Organization, type Weir } from './harness.ts';
import { openContainers } from './setup/containers.ts';

let services: Services | Awaited<ReturnType<typeof openContainers>>;
let redis: Redis;
let weir: Weir;
let admin: Organization;
let apiKey: string;
let token: string;

beforeAll(async () => {
  const given = { databaseUrl: inject('databaseUrl'), redisUrl: undefined };
  const cacheHome = process.env['WEIR_HOME'] || fileURLToPath(new URL('../.weir', import.meta.url));
  const log = () => {};
  const opened = (await openContainers(given, log)) ?? (await openTemporaryServices({ ...given, cacheHome, log }));
  services = opened;
  redis = new Redis(opened.redisUrl);
  weir = await startWeir({ api: { REDIS_URL: opened.redisUrl }, withWorker: false });
  admin = await signUp(weir);
  apiKey = await admin.createKey();
  token = (await admin.createMeter('SUM')).token;
});
afterAll(async () => {
  await weir.close();
  redis.disconnect();
  await services?.close();
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

test('a Redis that is nearly full gets no more events, so that workers still have room, and gets them again when it has', async () => {
  expect((await track()).status).toBe(201);
  // With this in it, what maxmemory leaves free is 10 MB, more than the events of this test take: Redis itself refuses none.
  await redis.setrange('ballast', 50_000_000, 'x');
  const used = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
  await redis.config('SET', 'maxmemory', String(Math.round(used * 1.2)));
  await until(async () => (await track()).status === 503, 'the door is shut');
  const refused = await track();
  expectProblem(refused, 503, 'unavailable');
  expect(refused.body.outcome).toBe('not_accepted');
  expect(refused.headers.get('retry-after')).toBe('5');
  const staged = await countStagedEvents(redis, weir.keys);
  await track();
  expect(await countStagedEvents(redis, weir.keys)).toBe(staged);
  await redis.unlink('ballast');
  await until(async () => (await track()).status === 201, 'the door is open again');
});

test('a Redis that would drop events is refused also when it comes back as such a one', async () => {
  await redis.config('SET', 'maxmemory-policy', 'allkeys-lru');
  expect((await track()).status).toBe(201);
  await redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
  await until(async () => {
    const { status, body } = await track();
    return status === 503 && /not set up to keep events/.test(body.detail);
  }, 'tracking is refused');
  await redis.config('SET', 'maxmemory-policy', 'noeviction');
  await until(async () => (await track()).status === 201, 'the settings are mended');
});

test('an event is written before its claim, so that a log that is torn between them holds no claim without its event', async () => {
  const monitor = await redis.duplicate().monitor();
  const commands: string[][] = [];
  monitor.on('monitor', (_time: string, command: string[]) => commands.push(command));
  const body = { meter_token: token, customer_external_id: 'acme', quantity: 1, idempotency_key: 'in the log' };
  const { id } = (await weir.request('POST', '/api/v1/sdk/track', { apiKey, body })).body;
  // The log holds what a script wrote, in the order in which it wrote.
  const staged = () => commands.findIndex(([name, , flush]) => name === 'RPUSH' && flush?.includes(id) === true);
  const claimed = () => commands.findIndex(([name, , value]) => name === 'SET' && value?.startsWith(id) === true);
  await until(() => claimed() >= 0, 'the claim was seen');
  expect(staged()).toBeGreaterThanOrEqual(0);
  expect(staged()).toBeLessThan(claimed());
  monitor.disconnect();
});

test('while Redis is away, tracking and receipts are answered with 503, and everything else works', async () => {
  const { id } = (await track()).body;
  const cut = await weir.startApi({ REDIS_URL: 'redis://127.0.0.1:1' });
  const refused = await track(cut.url);
  expectProblem(refused, 503, 'unavailable');
  expect(refused.body.outcome).toBe('not_accepted');
  expectProblem(await weir.request('GET', `/api/v1/events/${id}`, { apiKey, baseUrl: cut.url }), 503, 'unavailable');
  expect((await weir.request('GET', '/api/v1/features', { apiKey, baseUrl: cut.url })).status).toBe(200);
});
