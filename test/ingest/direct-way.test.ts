// Redis is away, silent, or loses its answers: events are taken all the same, by Postgres, and heard of in the same words. Redis is
// reached through a proxy by one API and as it is by another, and both are of one Weir.

import { LOOKUP_MS_MAX, type RunningApi } from '@weir/api/serve';
import type { Database } from '@weir/db/database';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { bestOfThree } from '../support/best-of-three.ts';
import { expectProblem } from '../support/expect-problem.ts';
import { until, type Answer } from '../support/harness.ts';
import { makeTenant, reconcileHere, type Tenant } from '../support/reconcile-fixture.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { openStoreEdges, type StoreEdges } from '../support/store-edges.ts';
import { ownWeir } from '../support/use-weir.ts';

let edges: StoreEdges;
let { redis, postgres } = {} as StoreEdges;
afterAll(async () => {
  await edges.close();
});
const weir = ownWeir({ lookupMsMax: LOOKUP_MS_MAX, withWorker: false });
let database: Database;
let env: Record<string, string>;
let baseUrl: string;
let tenant: Tenant;

beforeAll(async () => {
  database = openTestDatabase(weir);
  edges = await openStoreEdges(weir);
  ({ redis, postgres } = edges);
  env = { ...edges.env, REDIS_COMMAND_TIMEOUT_MS: '500' };
  tenant = await makeTenant(weir);
});
// One for each test: who has left Redis a moment ago takes longer to come back to it.
let api: RunningApi;
beforeEach(async () => {
  api = await weir.startApi(env);
  baseUrl = api.url;
});
afterEach(async () => {
  await redis.heal('deliver');
  await postgres.heal();
  await api.close();
});
afterAll(() => database.close());

const ready = (url = baseUrl) => weir.request('GET', '/readyz', { baseUrl: url });
const isDirect = async () => (await ready()).body.way === 'direct';

let keys = 0;
const newKey = () => `key-${(keys += 1)}`;
const event = (more: object = {}) => ({
  meter_token: tenant.sum.token,
  customer_external_id: 'acme',
  quantity: 1,
  ...more,
});
const track = (more: object = {}, apiKey = tenant.apiKey, url = baseUrl): Promise<Answer> =>
  weir.request('POST', '/api/v1/sdk/track', { apiKey, baseUrl: url, body: event(more) });
const trackBatch = (events: object[]): Promise<Answer> =>
  weir.request('POST', '/api/v1/sdk/track/batch', { apiKey: tenant.apiKey, baseUrl, body: { events } });
const receipt = async (id: string) =>
  (await weir.request('GET', `/api/v1/events/${id}`, { apiKey: tenant.apiKey, baseUrl })).body;

async function createKey(): Promise<{ id: string; key: string }> {
  const body = { name: 'To be deleted', scopes: ['usage.write'] };
  return (await weir.request('POST', '/api/v1/api-keys', { session: tenant.session, body })).body;
}
/** By the process that reaches Redis. */
const deleteKey = async (id: string) =>
  (await weir.request('DELETE', `/api/v1/api-keys/${id}`, { session: tenant.session })).status;

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${baseUrl}/metrics`)).text();
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length + 1),
  );
}
const countRecorded = async () => (await weir.pool.query('SELECT FROM events')).rowCount ?? 0;
async function drain(): Promise<void> {
  const worker = await weir.startWorker();
  await weir.drained();
  await worker.close();
}
async function expectEqual(): Promise<void> {
  const { events, rollups, isEqual } = await reconcileHere(weir, database);
  expect({ events: events.filter(({ difference }) => difference !== 0), rollups: rollups.differing }).toEqual({
    events: [],
    rollups: [],
  });
  expect(isEqual).toBe(true);
}
/** A new API key of which this process took an event while Redis was away, and has seen nothing since. */
async function seenWithoutRedis(url = baseUrl): Promise<string> {
  const key = await tenant.createKey();
  await redis.refuse();
  expect((await track({}, key, url)).status).toBe(201);
  await redis.heal();
  await until(async () => (await ready(url)).body.way === 'redis', 'events go through Redis');
  return key;
}

/** An idempotency key whose event waits in Redis. What comes first by an API key that this Redis does not know is recorded directly. */
async function keyThatWaits(url: string, apiKey: string): Promise<{ more: object; id: string }> {
  const staged = await weir.stagedEvents();
  let held = { more: {}, id: '' };
  await until(async () => {
    const more = { idempotency_key: newKey() };
    held = { more, id: (await track(more, apiKey, url)).body.id };
    return (await weir.stagedEvents()) > staged;
  }, 'an event waits in Redis');
  return held;
}

/** One row for each of these keys, and no other event was made of them. */
async function expectOnce(sent: readonly string[]): Promise<void> {
  const { rows } = await weir.pool.query(
    'SELECT idempotency_key AS key, count(*)::int AS events FROM events WHERE idempotency_key = ANY($1) GROUP BY 1',
    [sent],
  );
  expect(rows.length).toBe(sent.length);
  expect(rows.filter(({ events }) => events !== 1)).toEqual([]);
}

/** An event of each kind that is answered differently, by keys that `name` makes its own. */
const kinds = (name: string) => [
  event(),
  event({ idempotency_key: `${name} new` }),
  event({ idempotency_key: `${name} new` }),
  event({ idempotency_key: `${name} new`, quantity: 2 }),
  event({ idempotency_key: `${name} held` }),
  event({ idempotency_key: `${name} held`, quantity: 2 }),
  event({ meter_token: tenant.users.token, metadata: { plan: 'pro' } }),
  event({ meter_token: tenant.users.token, metadata: { user_id: 1 } }),
  event({ meter_token: 'of nobody' }),
  event({ quantity: -1 }),
];

test('each kind of answer is the same both ways, and an answer names the first event', async () => {
  const shape = ({ data }: { data: Record<string, unknown>[] }) => {
    const ids = [...new Set(data.flatMap(({ id }) => (id === undefined ? [] : [id])))];
    return data.map((item) => ({ ...item, ...(item['id'] !== undefined && { id: ids.indexOf(item['id']) }) }));
  };
  const [held, alsoHeld] = [
    await track({ idempotency_key: 'queued held' }),
    await track({ idempotency_key: 'direct held' }),
  ];
  await drain();
  const queued = await trackBatch(kinds('queued'));
  expect(queued.body.data[4].id).toBe(held.body.id);
  await redis.refuse();
  const direct = await trackBatch(kinds('direct'));
  expect(direct.body.data[4].id).toBe(alsoHeld.body.id);
  expect(shape(direct.body)).toEqual(shape(queued.body));
  expect(direct.body.data.map(({ status }: { status: number }) => status)).toEqual([
    201, 201, 409, 422, 409, 422, 201, 201, 404, 422,
  ]);
  expect(await isDirect()).toBe(true);
  // And alone.
  expect((await track({ idempotency_key: 'direct new' })).body.id).toBe(direct.body.data[1].id);
  expectProblem(await track({ idempotency_key: 'direct new' }), 409, 'duplicate_event');
  expectProblem(await track({ idempotency_key: 'direct new', quantity: 3 }), 422, 'idempotency_key_reused');
  expectProblem(await track({}, 'org_live_nothing'), 401, 'unauthenticated');
  // What is taken is recorded, and a receipt says so while Redis is away.
  const [recorded, rejected] = [await receipt(direct.body.data[0].id), await receipt(direct.body.data[6].id)];
  expect([recorded.status, rejected.status]).toEqual(['recorded', 'rejected']);
  expect(rejected.reason).toContain('metadata.user_id is missing');
  expect(await metric('weir_direct_way')).toBe(1);
  expect(await metric('weir_direct_events_total{outcome="taken"}')).toBeGreaterThanOrEqual(3);
  expect(await metric('weir_direct_events_total{outcome="rejected"}')).toBeGreaterThanOrEqual(1);
  await redis.heal();
  await drain();
  await expectEqual();
});

/** What each process is told of keys that these events have: the events' ids, and nothing is taken. */
async function expectHeld(url: string, sent: { more: object; id: string }[]): Promise<void> {
  const [staged, recorded] = [await weir.stagedEvents(), await countRecorded()];
  for (const { more, id } of sent) {
    const [same, other] = [
      await track(more, tenant.apiKey, url),
      await track({ ...more, quantity: 2 }, tenant.apiKey, url),
    ];
    expectProblem(same, 409, 'duplicate_event');
    expectProblem(other, 422, 'idempotency_key_reused');
    expect([same.body.id, other.body.id]).toEqual([id, id]);
  }
  expect([await weir.stagedEvents(), await countRecorded()]).toEqual([staged, recorded]);
}

test('a key that was recorded directly is held on the way through Redis too, by all processes', async () => {
  await redis.refuse();
  const sent = [{ idempotency_key: newKey() }, { idempotency_key: newKey(), meter_token: tenant.users.token }];
  const held: { more: object; id: string }[] = [];
  for (const more of sent) {
    const { status, body } = await track(more);
    expect(status).toBe(201);
    held.push({ more, id: body.id });
  }
  await expectHeld(baseUrl, held.slice(0, 1));
  // Another process reaches Redis all the while, and tells it.
  const isTold = async () => (await weir.pool.query('SELECT FROM pending_claims')).rowCount === 0;
  await until(isTold, 'Redis is told');
  await expectHeld(weir.baseUrl, held);
  expect(await isDirect()).toBe(true);
  await redis.heal();
  await until(async () => !(await isDirect()), 'events go through Redis again');
  await expectHeld(baseUrl, held);
});

test('while Redis answers but has no room, keys of what waits there are held, and it is told of new ones', async () => {
  const { more, id: waiting } = await keyThatWaits(baseUrl, tenant.apiKey);
  const full = await weir.startApi({ QUEUE_BATCHES_MAX: '1' });
  await until(async () => (await ready(full.url)).body.way === 'direct', 'there is no room');
  const recorded = await countRecorded();
  await expectHeld(full.url, [{ more, id: waiting }]);
  const { id: deleted, key } = await createKey();
  expect((await track(more, key, full.url)).status).toBe(409);
  expect(await deleteKey(deleted)).toBe(204);
  expectProblem(await track(more, key, full.url), 401, 'unauthenticated');
  // A deletion whose commit failed leaves its mark. The key that waits is not given to another event for that.
  const marked = await createKey();
  await weir.redis.set(weir.keys.revoked(marked.id), '1', 'EX', 60);
  expectProblem(await track({ ...more, quantity: 7 }, marked.key, full.url), 401, 'unauthenticated');
  expect(await countRecorded()).toBe(recorded);
  const next = { idempotency_key: newKey() };
  const { status, body } = await track(next, tenant.apiKey, full.url);
  expect([status, await countRecorded()]).toEqual([201, recorded + 1]);
  await expectHeld(baseUrl, [{ more: next, id: body.id }]);
  await full.close();
  await drain();
  await expectEqual();
});

describe('a Redis that', () => {
  const gone: [string, () => Promise<void> | void][] = [
    ['is down', () => redis.refuse()],
    ['is frozen', () => redis.silence(['forth', 'back'])],
    ['takes flushes and never answers', () => redis.silence(['back'])],
  ];
  test.each(gone)('%s has nobody refused, nor hear that it is unknown', async (_, makeGone) => {
    const taken: string[] = [];
    const trackAllWhileGone = async () => {
      await redis.heal('deliver');
      await until(async () => !(await isDirect()), 'events go through Redis');
      expect((await track()).status).toBe(201);
      await makeGone();
      const sent = Array.from({ length: 60 }, newKey);
      const began = performance.now();
      const asked: Promise<Answer>[] = [];
      // One after the other, so that many wait behind those that wait for Redis.
      for (const key of sent) {
        asked.push(track(key === sent[0] ? {} : { idempotency_key: key }));
        await new Promise((resolve) => setImmediate(resolve));
      }
      const answers = await Promise.all(asked);
      const again = performance.now();
      const next = await track();
      taken.push(...sent.filter((_key, index) => index > 0 && answers[index]?.status === 201));
      return { sent, answers, ms: again - began, next, nextMs: performance.now() - again };
    };
    // What takes Postgres 1,500 ms is refused: that is slow as well.
    const isQuick = (round: { ms: number; nextMs: number }) => round.ms < 1_500 && round.nextMs < 400;
    const { sent, answers, ms, next, nextMs } = await bestOfThree(trackAllWhileGone, isQuick);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    // Half a second is how long Redis has for its answer.
    expect(ms).toBeLessThan(2_500);
    expect(next.status).toBe(201);
    expect(nextMs).toBeLessThan(400);
    await until(async () => (await ready()).body.redis === 'away', 'the process says that it is away');
    expect(await ready()).toMatchObject({ status: 200, body: { redis: 'away', postgres: 'ok', way: 'direct' } });
    // Each is in Postgres by its own id, and a retry of it is known there.
    const held = await track({ idempotency_key: sent[1] });
    expect([held.status, held.body.id]).toEqual([409, answers[1]?.body.id]);
    await redis.heal('deliver');
    // What was on its way to Redis arrives after all, and is still staged.
    await expectEqual();
    await drain();
    await expectEqual();
    await expectOnce(taken);
    const { rows } = await weir.pool.query('SELECT count(*)::int AS events FROM events WHERE id = $1', [
      answers[0]?.body.id,
    ]);
    expect(rows).toEqual([{ events: 1 }]);
  });
});

test('an answer of Redis that is cut off after the script ran is no news to anybody', async () => {
  const sent: string[] = [];
  const left = async () => metric('weir_direct_events_total{outcome="taken"}');
  for (let round = 0; round < 2; round += 1) {
    const before = await left();
    redis.cutAnswers(1, () => 0);
    await until(async () => {
      const batch = Array.from({ length: 5 }, newKey);
      sent.push(...batch);
      const answer = await trackBatch([
        ...batch.map((idempotency_key) => event({ idempotency_key })),
        event({ meter_token: tenant.users.token }),
      ]);
      expect(answer.status).toBe(201);
      return (await left()) > before;
    }, 'some went directly');
    await until(async () => !(await isDirect()), 'events go through Redis again');
  }
  await expectEqual();
  await drain();
  await expectEqual();
  await expectOnce(sent);
});

test('a key that was deleted is refused at once, also where this process knew it, and others are not', async () => {
  const { id, key } = await createKey();
  expect((await track({}, key)).status).toBe(201);
  await redis.refuse();
  await until(isDirect, 'events go directly');
  expect((await track({}, key)).status).toBe(201);
  expect(await deleteKey(id)).toBe(204);
  expectProblem(await track({}, key), 401, 'unauthenticated');
  expect((await track()).status).toBe(201);
});

test('a process that has never seen Redis takes events, by keys that it does not know, and then goes back', async () => {
  await redis.refuse();
  const fresh = await weir.startApi(env);
  const key = await tenant.createKey();
  expect((await track({}, key, fresh.url)).status).toBe(201);
  await redis.heal();
  await until(async () => (await ready(fresh.url)).body.way === 'redis', 'events go through Redis');
  const [recorded, staged] = [await countRecorded(), await weir.stagedEvents()];
  // The first are taken by Postgres, since the key was looked up without Redis; then Redis has them.
  await until(async () => {
    expect((await track({}, key, fresh.url)).status).toBe(201);
    return (await weir.stagedEvents()) > staged;
  }, 'an event is staged');
  expect(await countRecorded()).toBeLessThanOrEqual(recorded + 5);
  await fresh.close();
  await drain();
  await expectEqual();
});

test('a key that waits in Redis is held also where its sender was looked up while Redis was away', async () => {
  const key = await seenWithoutRedis();
  const { more, id } = await keyThatWaits(weir.baseUrl, key);
  const [recorded, staged] = [await countRecorded(), await weir.stagedEvents()];
  const same = await track(more, key);
  expectProblem(same, 409, 'duplicate_event');
  expect(same.body.id).toBe(id);
  expect([await countRecorded(), await weir.stagedEvents()]).toEqual([recorded, staged]);
  await drain();
  await expectEqual();
});

test('a key that was looked up without Redis costs no other its use while Postgres is away', async () => {
  // A slow disk under Redis sends nothing where Postgres is away.
  const { url } = await weir.startApi({ ...env, REDIS_COMMAND_TIMEOUT_MS: '10000' });
  const often = await tenant.createKey();
  const once = await seenWithoutRedis(url);
  await keyThatWaits(url, often);
  await postgres.refuse();
  await until(async () => (await ready(url)).body.postgres === 'away', 'Postgres is away');
  const status = async (key: string) => (await track({}, key, url)).status;
  expect([await status(often), await status(once), await status(often)]).toEqual([201, 503, 201]);
});

test('while both are away an event is refused at once, leaves nothing, and is taken once either is back', async () => {
  expect((await track()).status).toBe(201);
  await redis.refuse();
  await until(isDirect, 'events go directly');
  const refused: string[] = [];
  const refusedSoFar = () => metric('weir_refused_events_total{reason="away"}');
  const trackWhileBothAreAway = async () => {
    await postgres.heal();
    await until(async () => (await track()).status === 201, 'Postgres takes events');
    const before = await refusedSoFar();
    await postgres.refuse();
    let slowestMs = 0;
    for (let round = 0; round < 10; round += 1) {
      const key = newKey();
      refused.push(key);
      const began = performance.now();
      const answer = await track({ idempotency_key: key });
      slowestMs = Math.max(slowestMs, performance.now() - began);
      expectProblem(answer, 503, 'unavailable');
      expect([answer.body.outcome, answer.headers.get('retry-after')]).toEqual(['not_accepted', '1']);
    }
    // Each event that hears 503 is counted.
    expect((await refusedSoFar()) - before).toBe(10);
    return slowestMs;
  };
  expect(await bestOfThree(trackWhileBothAreAway, (ms) => ms < 500)).toBeLessThan(500);
  // Within a batch, too, where the answer as a whole is 207.
  const before = await refusedSoFar();
  const batch = await trackBatch([event(), event({ quantity: -1 }), event()]);
  expect(batch.status).toBe(207);
  expect(batch.body.data.map(({ status }: { status: number }) => status)).toEqual([503, 422, 503]);
  expect((await refusedSoFar()) - before).toBe(2);
  expectProblem(await ready(), 503, 'unavailable');
  await postgres.heal();
  await until(async () => (await track()).status === 201, 'Postgres takes events');
  expect(await isDirect()).toBe(true);
  await redis.heal();
  await drain();
  await expectEqual();
  const sql = 'SELECT FROM events WHERE idempotency_key = ANY($1)';
  expect((await weir.pool.query(sql, [refused])).rowCount).toBe(0);
});

test('a rejected event is replayed, and counted once', async () => {
  const { id } = (await track({ meter_token: tenant.users.token })).body;
  await drain();
  await redis.refuse();
  await until(isDirect, 'events go directly');
  const replay = () =>
    weir.request('POST', `/api/v1/events/${id}/replay`, {
      session: tenant.session,
      baseUrl,
      body: { metadata: { user_id: 7 } },
    });
  expect((await replay()).status).toBe(202);
  expect((await receipt(id)).status).toBe('recorded');
  expectProblem(await replay(), 409, 'not_replayable');
  await redis.heal();
  await expectEqual();
});

test('what is counted by the minute goes on in memory, and so do sign-ins', async () => {
  const limited = await weir.startApi({ ...env, RATE_LIMIT_EVENTS_PER_KEY: '5' });
  const key = await tenant.createKey();
  await redis.refuse();
  await until(async () => (await ready(limited.url)).body.way === 'direct', 'events go directly');
  const statuses: number[] = [];
  for (let sent = 0; sent < 7; sent += 1) statuses.push((await track({}, key, limited.url)).status);
  expect(statuses).toEqual([201, 201, 201, 201, 201, 429, 429]);
  const { email, password } = tenant;
  const signIn = (secret: string) =>
    weir.request('POST', '/api/v1/auth/login', { baseUrl: limited.url, body: { email, password: secret } });
  expect((await signIn(password)).status).toBe(200);
  const wrong: number[] = [];
  for (let attempt = 0; attempt < 11; attempt += 1) wrong.push((await signIn('not this one')).status);
  expect(wrong).toEqual([...Array.from({ length: 10 }, () => 401), 429]);
  await limited.close();
});
