// What clients are told while Redis or Postgres is gone, how soon, and that everything comes back by itself.

import { LOOKUP_MS_MAX } from '@weir/api/serve';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { bestOfThree } from '../support/best-of-three.ts';
import { entitling, type Entitling } from '../support/entitling.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, until, type Answer, type Organization } from '../support/harness.ts';
import { openStoreEdges, type StoreEdges } from '../support/store-edges.ts';
import { ownWeir } from '../support/use-weir.ts';

let edges: StoreEdges;
let { redis, postgres } = {} as StoreEdges;
/** After the API that is reached through them has closed. */
afterAll(async () => {
  await edges.close();
});

const weir = ownWeir({ lookupMsMax: LOOKUP_MS_MAX });
let admin: Organization;
let apiKey: string;
let meter: { id: string; token: string; lookupKey: string };
let limited: Awaited<ReturnType<Entitling['metered']>>;
/** An API whose Redis and Postgres are reached through proxies. */
let baseUrl: string;

beforeAll(async () => {
  admin = await signUp(weir);
  apiKey = await admin.createKey();
  meter = await admin.createMeter('SUM');
  limited = await entitling(weir, admin, apiKey).metered({ usage_limit: 10, usage_reset_period: 'month' });
  await limited.customer.use(limited.feature, 4);
  edges = await openStoreEdges(weir);
  ({ redis, postgres } = edges);
});
/** Sends what follows to a new one. */
async function startApi(env: Record<string, string>): Promise<void> {
  baseUrl = (await weir.startApi({ ...edges.env, DATABASE_STATEMENT_TIMEOUT_MS: '2000', ...env })).url;
}
async function untilWell(): Promise<void> {
  const isWell = async () => {
    const { body } = await weir.request('GET', '/readyz', { baseUrl });
    return body.redis === 'ok' && body.postgres === 'ok' && body.way === 'redis';
  };
  await until(isWell, 'all is well again');
}
afterEach(async () => {
  await redis.heal();
  await postgres.heal();
  await untilWell();
});

let keys = 0;
const newKey = () => `key-${(keys += 1)}`;
const track = (idempotency_key: string, lookup_key?: string): Promise<Answer> => {
  const name = lookup_key === undefined ? { meter_token: meter.token } : { lookup_key };
  const body = { ...name, customer_external_id: 'acme', quantity: 1, idempotency_key };
  return weir.request('POST', '/api/v1/sdk/track', { apiKey, baseUrl, body });
};

const askEntitlement = (): Promise<Answer> => {
  const query = new URLSearchParams({
    customer_external_id: limited.customer.externalId,
    feature: limited.feature.key,
  });
  return weir.request('GET', `/api/v1/entitlements?${String(query)}`, { apiKey, baseUrl });
};

/** The answer to a request, and how many milliseconds it took. */
async function timed(request: () => Promise<Answer>): Promise<Answer & { ms: number }> {
  const began = performance.now();
  const answer = await request();
  return { ...answer, ms: performance.now() - began };
}

/** One event a key, whatever came back on the way. */
async function expectCountedOnce(sent: string[]): Promise<void> {
  await until(async () => {
    const answers = await Promise.all(sent.map((key) => track(key)));
    return answers.every(({ status }) => status === 201 || status === 409);
  }, 'each key is accepted');
  await weir.drained();
  const { rows } = await weir.pool.query(
    'SELECT idempotency_key AS key, count(*)::int AS events FROM events WHERE idempotency_key = ANY($1) GROUP BY 1',
    [sent],
  );
  expect(rows.length).toBe(sent.length);
  expect(rows.filter(({ events }) => events !== 1)).toEqual([]);
}

describe('tracking while Redis', () => {
  beforeAll(() => startApi({ REDIS_COMMAND_TIMEOUT_MS: '900' }));
  const gone: [string, () => Promise<void> | void][] = [
    ['is down', () => redis.refuse()],
    ['is frozen', () => redis.silence(['forth', 'back'])],
    ['takes requests and never answers', () => redis.silence(['back'])],
  ];
  test.each(gone)('%s goes on within a second, directly, and comes back by itself', async (_, makeGone) => {
    expect((await track(newKey())).status).toBe(201);
    const limit = { limit: '10', usage: '4', has_access: true };
    const sent: string[] = [];
    const trackAllWhileGone = async () => {
      await redis.heal('deliver');
      await untilWell();
      await until(async () => (await askEntitlement()).body.queued_since === null, 'nothing waits');
      await makeGone();
      // They come one after the other, so that many of them wait behind those that wait for Redis.
      const asked: Promise<Answer & { ms: number }>[] = [];
      for (const key of Array.from({ length: 60 }, newKey)) {
        sent.push(key);
        asked.push(timed(() => track(key)));
        await new Promise((resolve) => setImmediate(resolve));
      }
      const ready = await timed(() => weir.request('GET', '/readyz', { baseUrl }));
      const answers = await Promise.all(asked);
      const statuses = new Set(answers.map(({ status }) => status));
      return { statuses, ready, slowestMs: Math.max(...answers.map(({ ms }) => ms)) };
    };
    // What takes Postgres 1,500 ms is refused: that is slow as well. One that does not answer within a second is called away, too.
    const isQuick = ({ ready, slowestMs }: Awaited<ReturnType<typeof trackAllWhileGone>>) =>
      ready.body.postgres === 'ok' && Math.max(ready.ms, slowestMs) < 1_500;
    const { statuses, ready, slowestMs } = await bestOfThree(trackAllWhileGone, isQuick);
    expect(statuses).toEqual(new Set([201]));
    expect(ready).toMatchObject({ status: 200, body: { redis: 'away', postgres: 'ok', way: 'direct' } });
    expect(ready.ms).toBeLessThan(1_500);
    // The time-out is 900 ms; a request that had to wait for two of them would take twice as long.
    expect(slowestMs).toBeLessThan(1_700);
    // Nobody can say what Redis still has: all that counts may be missing.
    const entitlement = await askEntitlement();
    expect(entitlement).toMatchObject({
      status: 200,
      body: { ...limit, queued_since: entitlement.body.period_start },
    });
    await redis.heal('deliver');
    await expectCountedOnce(sent);
  });
});

describe('while Postgres', () => {
  // A slow disk of Redis under a busy machine is no outage of it: with Postgres away there is no other way.
  beforeAll(() => startApi({ REDIS_COMMAND_TIMEOUT_MS: '10000' }));
  const gone: [string, () => Promise<void> | void][] = [
    ['is down', () => postgres.refuse()],
    ['is silent', () => postgres.silence(['forth', 'back'])],
  ];
  test.each(gone)(
    '%s, tracking goes on, what reads is answered 503 at once, and both go on by themselves',
    async (_, makeGone) => {
      const read = () => weir.request('GET', `/api/v1/meters/${meter.id}/usage`, { apiKey, baseUrl });
      const list = () => weir.request('GET', '/api/v1/features', { session: admin.session, baseUrl });
      const sent: string[] = [];
      const trackNew = (lookupKey?: string) => {
        const key = newKey();
        sent.push(key);
        return timed(() => track(key, lookupKey));
      };
      const askWhileGone = async () => {
        await postgres.heal('reset');
        await untilWell();
        await until(async () => (await read()).status === 200, 'what reads is served');
        for (const lookupKey of [undefined, meter.lookupKey]) expect((await trackNew(lookupKey)).status).toBe(201);
        await makeGone();
        // Tracking goes on, so the process is ready, and says what is away: once both are asked at a time when Redis answers at once.
        const ready = () => weir.request('GET', '/readyz', { baseUrl });
        await expect.poll(ready).toMatchObject({
          status: 200,
          body: { status: 'ok', redis: 'ok', postgres: 'away', way: 'redis' },
        });
        await until(async () => (await timed(read)).ms < 200, 'what reads is refused at once');
        let [refusedMs, trackedMs] = [0, 0];
        for (const request of [read, list]) {
          const answer = await timed(request);
          expectProblem(answer, 503, 'unavailable');
          expect(answer.headers.get('retry-after')).toBe('2');
          refusedMs = Math.max(refusedMs, answer.ms);
        }
        for (let event = 0; event < 20 && trackedMs < 1_000; event += 1) {
          const { status, ms } = await trackNew(event % 2 === 0 ? undefined : meter.lookupKey);
          expect(status).toBe(201);
          trackedMs = Math.max(trackedMs, ms);
        }
        return { refusedMs, trackedMs };
      };
      const isQuick = (round: { refusedMs: number; trackedMs: number }) =>
        round.refusedMs < 500 && round.trackedMs < 1_000;
      const { refusedMs, trackedMs } = await bestOfThree(askWhileGone, isQuick);
      expect(refusedMs).toBeLessThan(500);
      expect(trackedMs).toBeLessThan(1_000);
      const unknown = await track(newKey(), 'never-seen');
      expectProblem(unknown, 503, 'unavailable');
      expect(unknown.body.outcome).toBe('not_accepted');
      await postgres.heal('reset');
      await until(async () => (await read()).status === 200, 'what reads is served again');
      expect((await list()).status).toBe(200);
      await expectCountedOnce(sent);
    },
  );

  test('is silent, a deleted API key that it has in memory is 401 also for what would be refused in any case', async () => {
    const { session } = admin;
    const made = { session, body: { name: 'To be deleted', scopes: ['usage.write'] } };
    const { id, key } = (await weir.request('POST', '/api/v1/api-keys', made)).body;
    const send = (quantity: number) => {
      const body = { meter_token: meter.token, customer_external_id: 'acme', quantity };
      return weir.request('POST', '/api/v1/sdk/track', { apiKey: key, baseUrl, body });
    };
    expect([(await send(1)).status, (await send(0)).status]).toEqual([201, 422]);
    expect((await weir.request('DELETE', `/api/v1/api-keys/${id}`, { session })).status).toBe(204);
    postgres.silence(['forth', 'back']);
    for (const quantity of [0, 1, 0]) expectProblem(await send(quantity), 401, 'unauthenticated');
  });

  test("is silent, a mistyped API key is 401 without a look-up, and one that may be somebody else's is 503", async () => {
    postgres.silence(['forth', 'back']);
    const body = { meter_token: meter.token, customer_external_id: 'acme', quantity: 1 };
    const trackWith = (apiKey: string) => weir.request('POST', '/api/v1/sdk/track', { apiKey, baseUrl, body });
    const mistyped = apiKey.slice(0, -1) + (apiKey.endsWith('x') ? 'y' : 'x');
    expectProblem(await trackWith(mistyped), 401, 'unauthenticated');
    // Its checksum is right, and nobody has it.
    expectProblem(await trackWith('org_live_00000000000000000000000000007N8JM'), 503, 'unavailable');
  });
});
