// How much one API key or token, or one address, may ask for, where the operator sets a limit.

import { WeirClient } from '@weir/sdk';
import { newId } from '@weir/shared/ids';
import { beforeAll, describe, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, type Answer, type Organization } from '../support/harness.ts';
import { bearer, makeServiceAccount, makeToken } from '../support/service-accounts.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let admin: Organization;
let token: string;

beforeAll(async () => {
  admin = await signUp(weir);
  token = (await admin.createMeter('SUM')).token;
});

const event = () => ({ meter_token: token, customer_external_id: 'acme', quantity: 1 });
const track = (baseUrl: string, apiKey: string): Promise<Answer> =>
  weir.request('POST', '/api/v1/sdk/track', { apiKey, baseUrl, body: event() });
const trackBatch = (baseUrl: string, apiKey: string, size: number): Promise<Answer> =>
  weir.request('POST', '/api/v1/sdk/track/batch', {
    apiKey,
    baseUrl,
    body: { events: Array.from({ length: size }, event) },
  });
function expectLimited(answer: Answer, name: string, quota: number, remaining = 0): void {
  expectProblem(answer, 429, 'rate_limited');
  const seconds = Number(answer.headers.get('retry-after'));
  expect(seconds).toBeGreaterThanOrEqual(1);
  expect(seconds).toBeLessThanOrEqual(60);
  expect(answer.headers.get('ratelimit-policy')).toBe(`"${name}";q=${quota};w=60`);
  expect(answer.headers.get('ratelimit')).toMatch(new RegExp(`^"${name}";r=${remaining};t=\\d+$`));
}

test('by default nothing but logins and sign-ups is limited, and no answer speaks of a limit', async () => {
  const apiKey = await admin.createKey();
  const answers = await Promise.all(Array.from({ length: 300 }, () => track(weir.baseUrl, apiKey)));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
  expect(answers[0]?.headers.has('ratelimit')).toBe(false);
});

describe('RATE_LIMIT_EVENTS_PER_KEY', () => {
  test('counts the events of one key over all processes; what is over it leaves nothing behind', async () => {
    const apis = await Promise.all([1, 2].map(() => weir.startApi({ RATE_LIMIT_EVENTS_PER_KEY: '10' })));
    const [first = '', second = ''] = apis.map(({ url }) => url);
    const apiKey = await admin.createKey();
    const before = await weir.stagedEvents();
    const one = await track(first, apiKey);
    expect(one.status).toBe(201);
    expect(one.headers.get('ratelimit-policy')).toBe('"events-per-key";q=10;w=60');
    expect(one.headers.get('ratelimit')).toMatch(/^"events-per-key";r=9;t=\d+$/);
    expect((await trackBatch(second, apiKey, 8)).status).toBe(201);
    // One is left: a batch of two is refused as a whole.
    for (const size of [2, 11, 10, 2]) {
      const refused = await trackBatch(first, apiKey, size);
      expectLimited(refused, 'events-per-key', 10, 1);
      expect(refused.body.detail).toContain(size > 10 ? 'send at most 10 in one request' : 'send at most 1 now');
    }
    // It has taken nothing away from what fits.
    expect((await track(second, apiKey)).status).toBe(201);
    expectLimited(await track(second, apiKey), 'events-per-key', 10);
    expect(await weir.stagedEvents()).toBe(before + 10);
    // Another key has a limit of its own.
    expect((await track(first, await admin.createKey())).status).toBe(201);
    await Promise.all(apis.map((api) => api.close()));
  });

  test('is over when its minute is', async () => {
    const api = await weir.startApi({ RATE_LIMIT_EVENTS_PER_KEY: '1' });
    const apiKey = await admin.createKey();
    await track(api.url, apiKey);
    expectLimited(await track(api.url, apiKey), 'events-per-key', 1);
    const counters = await weir.redis.keys(`${weir.keys.limits.replace(/[{}]/g, '\\$&')}*`);
    expect(counters.length).toBeGreaterThan(0);
    for (const counter of counters) {
      const ms = await weir.redis.pttl(counter);
      expect(ms).toBeGreaterThan(0);
      expect(ms).toBeLessThanOrEqual(60_000);
    }
    // What Redis does at the end of the minute.
    await weir.redis.unlink(...counters);
    expect((await track(api.url, apiKey)).status).toBe(201);
    await api.close();
  });

  test('tells a client whose batches are larger than the limit to send smaller ones, as that of Weir does', async () => {
    const api = await weir.startApi({ RATE_LIMIT_EVENTS_PER_KEY: '5' });
    const apiKey = await admin.createKey();
    const answer = await trackBatch(api.url, apiKey, 6);
    expectLimited(answer, 'events-per-key', 5, 5);
    expect(answer.body.detail).toContain('send at most 5 in one request');
    const client = new WeirClient({ baseUrl: api.url, apiKey, retries: 0 });
    const outcomes = await client.trackBatch(Array.from({ length: 6 }, event));
    const codes = outcomes.map((outcome) => ('error' in outcome ? outcome.error.code : 'kept'));
    expect(codes).toEqual([...Array(5).fill('kept'), 'rate_limited']);
    await api.close();
  });

  test('is counted by each process on its own while Redis is away', async () => {
    const api = await weir.startApi({ RATE_LIMIT_EVENTS_PER_KEY: '5', REDIS_URL: 'redis://127.0.0.1:1' });
    const apiKey = await admin.createKey();
    expect((await trackBatch(api.url, apiKey, 5)).status).toBe(201);
    expectLimited(await track(api.url, apiKey), 'events-per-key', 5);
    await api.close();
  });
});

test('RATE_LIMIT_TRACKING_PER_ADDRESS counts requests to track, also with a wrong key, and no others', async () => {
  const api = await weir.startApi({ RATE_LIMIT_TRACKING_PER_ADDRESS: '2' });
  expectProblem(await track(api.url, 'org_live_wrong'), 401, 'unauthenticated');
  const apiKey = await admin.createKey();
  expect((await trackBatch(api.url, apiKey, 100)).status).toBe(201);
  expectLimited(await track(api.url, apiKey), 'tracking-per-address', 2);
  expect((await weir.request('GET', '/api/v1/features', { apiKey, baseUrl: api.url })).status).toBe(200);
  await api.close();
});

describe.each([
  ['RATE_LIMIT_REQUESTS_PER_KEY', 'requests-per-key'],
  ['RATE_LIMIT_REQUESTS_PER_ADDRESS', 'requests-per-address'],
])('%s', (setting, name) => {
  test.each([
    ['with Redis', {}],
    ['without Redis, when each process counts for itself', { REDIS_URL: 'redis://127.0.0.1:1' }],
  ])(
    'limits reading and admin requests, and never tracking or health, %s',
    async (_, settings: Record<string, string>) => {
      const api = await weir.startApi({ [setting]: '3', ...settings });
      const apiKey = await admin.createKey();
      const read = () => weir.request('GET', '/api/v1/features', { apiKey, baseUrl: api.url });
      // An address is counted by all processes, and by the tests before this one.
      await weir.redis.unlink(`${weir.keys.limits}:${name}:127.0.0.1`);
      for (let left = 2; left >= 0; left -= 1) {
        const answer = await read();
        expect(answer.status).toBe(200);
        expect(answer.headers.get('ratelimit')).toMatch(new RegExp(`^"${name}";r=${left};t=\\d+$`));
      }
      expectLimited(await read(), name, 3);
      expect((await weir.request('GET', '/healthz', { baseUrl: api.url })).status).toBe(200);
      expect((await track(api.url, apiKey)).status).toBe(201);
      await api.close();
    },
  );
});

test('an answer names every limit that the request was counted against, and not only the last one', async () => {
  const api = await weir.startApi({
    RATE_LIMIT_REQUESTS_PER_ADDRESS: '9',
    RATE_LIMIT_REQUESTS_PER_KEY: '2',
    RATE_LIMIT_TRACKING_PER_ADDRESS: '8',
    RATE_LIMIT_EVENTS_PER_KEY: '5',
  });
  const apiKey = await admin.createKey();
  for (const name of ['requests-per-address', 'tracking-per-address'])
    await weir.redis.unlink(`${weir.keys.limits}:${name}:127.0.0.1`);
  const read = () => weir.request('GET', '/api/v1/features', { apiKey, baseUrl: api.url });
  const one = await read();
  expect(one.headers.get('ratelimit-policy')).toBe('"requests-per-address";q=9;w=60, "requests-per-key";q=2;w=60');
  expect(one.headers.get('ratelimit')).toMatch(/^"requests-per-address";r=8;t=\d+, "requests-per-key";r=1;t=\d+$/);
  await read();
  const refused = await read();
  expectProblem(refused, 429, 'rate_limited');
  expect(refused.headers.get('ratelimit')).toMatch(/^"requests-per-address";r=6;t=\d+, "requests-per-key";r=0;t=\d+$/);
  const tracked = await trackBatch(api.url, apiKey, 3);
  expect(tracked.status).toBe(201);
  expect(tracked.headers.get('ratelimit-policy')).toBe('"tracking-per-address";q=8;w=60, "events-per-key";q=5;w=60');
  expect(tracked.headers.get('ratelimit')).toMatch(/^"tracking-per-address";r=7;t=\d+, "events-per-key";r=2;t=\d+$/);
  await api.close();
});

test('each token of a service account has a limit as a key has, and guesses count for their address', async () => {
  const one = await makeServiceAccount(weir, admin, 'viewer');
  const two = await makeToken(weir, admin, one.id);
  const perKey = await weir.startApi({ RATE_LIMIT_REQUESTS_PER_KEY: '2' });
  const read = (token: string, baseUrl: string) => weir.request('GET', '/api/v1/plans', { ...bearer(token), baseUrl });
  for (const { token } of [one, two]) {
    for (const left of [1, 0])
      expect((await read(token, perKey.url)).headers.get('ratelimit')).toMatch(`"requests-per-key";r=${left};`);
    expectLimited(await read(token, perKey.url), 'requests-per-key', 2);
    // A key beside it, another one each time, is no way around.
    const headers = { ...bearer(token).headers, 'x-api-key': newId() };
    const both = await weir.request('GET', '/api/v1/plans', { headers, baseUrl: perKey.url });
    expectProblem(both, 400, 'two_credentials');
  }
  await perKey.close();
  const perAddress = await weir.startApi({ RATE_LIMIT_REQUESTS_PER_ADDRESS: '3' });
  await weir.redis.unlink(`${weir.keys.limits}:requests-per-address:127.0.0.1`);
  for (const guess of ['1', '2', '3'])
    expectProblem(await read(`org_svc_${guess.repeat(49)}`, perAddress.url), 401, 'unauthenticated');
  expectLimited(await read(one.token, perAddress.url), 'requests-per-address', 3);
  await perAddress.close();
});

test.each([
  ['a token', 'POST', '/widget/token', 'usage.write', 201, ''],
  ['something like a token', 'GET', '/features', 'usage.read', 200, ' x'],
] as const)(
  'a key has the limit of a key also beside %s, another one each time: %s %s',
  async (_, method, path, scope, status, behind) => {
    const api = await weir.startApi({ RATE_LIMIT_REQUESTS_PER_KEY: '2' });
    const apiKey = await admin.createKey(scope);
    const ask = (index: number) =>
      weir.request(method, `/api/v1${path}`, {
        headers: { 'x-api-key': apiKey, authorization: `Bearer org_svc_${index}${behind}` },
        baseUrl: api.url,
        ...(method === 'POST' && { body: { customer_external_id: 'acme' } }),
      });
    for (const index of [1, 2]) expect((await ask(index)).status).toBe(status);
    expectLimited(await ask(3), 'requests-per-key', 2);
    await api.close();
  },
);
