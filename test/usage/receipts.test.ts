// What became of an event can always be read: queued, recorded, rejected with its reason, or a duplicate. A rejected event
// can be corrected and replayed, and is counted at most once however often that is done.

import { ROLLUPS } from '@weir/db/rollups';
import { rejectEvents } from '@weir/db/record';
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, startWeir, type Organization, type Weir } from '../support/harness.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let admin: Organization;
let apiKey: string;
let token: string;
let users: { id: string; token: string };

beforeAll(async () => {
  admin = await signUp(weir);
  token = (await admin.createMeter('SUM')).token;
  users = await admin.createMeter('UNIQUE_COUNT');
  apiKey = await admin.createKey();
});

async function track(more: Record<string, unknown> = {}, from = weir): Promise<string> {
  const body = { meter_token: token, customer_external_id: 'acme', quantity: 1, ...more };
  const answer = await from.request('POST', '/api/v1/sdk/track', { apiKey, body });
  expect(answer.status).toBe(201);
  return answer.body.id;
}
const receiptOf = (id: string) => weir.request('GET', `/api/v1/events/${id}`, { apiKey });
const list = (query: string) => weir.request('GET', `/api/v1/events?${query}`, { apiKey });
const replay = (id: string, body?: unknown) =>
  weir.request('POST', `/api/v1/events/${id}/replay`, { session: admin.session, body });

/** An event that a meter of distinct users rejects. */
async function trackRejected(customer: string, more: Record<string, unknown> = {}): Promise<string> {
  const id = await track({ meter_token: users.token, customer_external_id: customer, ...more });
  await weir.drained();
  expect((await receiptOf(id)).body.status).toBe('rejected');
  return id;
}
/** How often a customer's events and users are counted, by the events and by what is kept beside them. */
async function countsOf(customer: string) {
  const { rows } = await weir.pool.query(
    `SELECT (SELECT count(*)::int FROM events WHERE customer_external_id = $1) AS events,
            (SELECT coalesce(sum(event_count), 0)::int FROM ${ROLLUPS.customerUsageHours.table} WHERE customer_external_id = $1) AS rolled_up,
            (SELECT count(*)::int FROM ${ROLLUPS.customerValueDays.table} WHERE customer_external_id = $1) AS users`,
    [customer],
  );
  return rows[0];
}

test('metadata is shown to the letter: queued, recorded, in lists, and as it was corrected', async () => {
  const exact = '{"user_id":9007199254740993,"share":1.10,"large":12345678901234567890.5}';
  const textOf = async (from: Weir, path: string, key: string) =>
    (await fetch(`${from.baseUrl}/api/v1${path}`, { headers: { 'x-api-key': key } })).text();
  const trackRaw = async (from: Weir, key: string, meter: string, metadata: string) => {
    const raw = `{"meter_token":"${meter}","customer_external_id":"exact","quantity":1,"metadata":${metadata}}`;
    const { status, body } = await from.request('POST', '/api/v1/sdk/track', { apiKey: key, raw });
    expect(status).toBe(201);
    return body.id as string;
  };
  const still = await startWeir({ withWorker: false });
  try {
    const owner = await signUp(still);
    const key = await owner.createKey();
    const id = await trackRaw(still, key, (await owner.createMeter('SUM')).token, exact);
    expect(await textOf(still, `/events/${id}`, key)).toContain(`"status":"queued","metadata":${exact}}`);
  } finally {
    await still.close();
  }
  const id = await trackRaw(weir, apiKey, token, exact);
  await weir.drained();
  expect(await textOf(weir, `/events/${id}`, apiKey)).toContain(`"status":"recorded","metadata":${exact}}`);
  expect(await textOf(weir, '/events?customer_external_id=exact', apiKey)).toContain(`"metadata":${exact}}],"meta":`);

  const rejected = await trackRejected('exact', { metadata: {} });
  const raw = `{"metadata":${exact}}`;
  const path = `/api/v1/events/${rejected}/replay`;
  expect((await weir.request('POST', path, { session: admin.session, raw })).status).toBe(202);
  await weir.drained();
  expect(await textOf(weir, `/events/${rejected}`, apiKey)).toContain(`"status":"recorded","metadata":${exact}}`);
});

test('an event is queued, then recorded, and its receipt shows what was sent', async () => {
  const still = await startWeir({ withWorker: false });
  try {
    const owner = await signUp(still);
    const key = await owner.createKey();
    const meter = await owner.createMeter('SUM');
    const raw = `{"meter_token":"${meter.token}","customer_external_id":"acme","quantity":1.50,"idempotency_key":"k1",
      "timestamp":"2026-01-31T10:30:00.123456789+01:00","metadata":{"plan":"pro","tags":["a",1,null]}}`;
    const tracked = await still.request('POST', '/api/v1/sdk/track', { apiKey: key, raw });
    expect(tracked.body).toEqual({ id: expect.any(String), timestamp: '2026-01-31T09:30:00.123456Z' });
    const read = () => still.request('GET', `/api/v1/events/${tracked.body.id}`, { apiKey: key });

    const queued = await read();
    expect(queued.body).toEqual({
      id: tracked.body.id,
      status: 'queued',
      meter_id: meter.id,
      customer_external_id: 'acme',
      quantity: '1.5',
      timestamp: '2026-01-31T09:30:00.123456Z',
      received_at: expect.stringMatching(/Z$/),
      idempotency_key: 'k1',
      metadata: { plan: 'pro', tags: ['a', 1, null] },
    });
    const stranger = await signUp(still);
    const asStranger = { session: stranger.session };
    expectProblem(await still.request('GET', `/api/v1/events/${tracked.body.id}`, asStranger), 404, 'not_found');
    await still.startWorker();
    await still.drained();
    expect((await read()).body).toEqual({ ...queued.body, status: 'recorded' });
  } finally {
    await still.close();
  }
});

test('an event that is sent again after Redis lost its claim is a duplicate, and is not counted', async () => {
  const sent = { idempotency_key: 'lost claim', customer_external_id: 'lost' };
  const first = await track(sent);
  await weir.drained();
  expect(await weir.redis.unlink(await weir.claim(admin.id, 'lost claim'))).toBe(1);
  const second = await track(sent);
  expect(second).not.toBe(first);
  await weir.drained();
  expect((await receiptOf(second)).body).toMatchObject({ status: 'duplicate', duplicate_of: first, quantity: '1' });
  expect((await receiptOf(first)).body.status).toBe('recorded');
  expect(await countsOf('lost')).toMatchObject({ events: 1, rolled_up: 1 });
});

test('nobody reads the events of another organization', async () => {
  const stranger = await signUp(weir);
  const theirKey = await stranger.createKey();
  const recorded = await track();
  const rejected = await trackRejected('acme');
  for (const id of [recorded, rejected]) {
    const asKey = await weir.request('GET', `/api/v1/events/${id}`, { apiKey: theirKey });
    const asAdmin = await weir.request('GET', `/api/v1/events/${id}`, { session: stranger.session });
    const replayed = await weir.request('POST', `/api/v1/events/${id}/replay`, { session: stranger.session });
    for (const answer of [asKey, asAdmin, replayed]) expectProblem(answer, 404, 'not_found');
  }
  expect((await weir.request('GET', '/api/v1/events', { apiKey: theirKey })).body.data).toEqual([]);
});

test('a receipt asks for usage.read', async () => {
  const id = await track();
  const writer = await admin.createKey('usage.write');
  for (const path of [`/api/v1/events/${id}`, '/api/v1/events']) {
    expectProblem(await weir.request('GET', path, { apiKey: writer }), 403, 'missing_scope');
    expectProblem(await weir.request('GET', path), 401, 'unauthenticated');
  }
  expectProblem(await weir.request('POST', `/api/v1/events/${id}/replay`, { apiKey }), 401, 'unauthenticated');
});

describe('an event without user_id for a meter that counts distinct users', () => {
  test('gets its 201, is never counted, is listed with its reason, and counts once replayed with user_id', async () => {
    const id = await track({ meter_token: users.token, customer_external_id: 'seats', metadata: { plan: 'pro' } });
    await weir.drained();
    const reason = 'metadata.user_id is missing: a UNIQUE_COUNT meter counts its distinct values';
    expect((await receiptOf(id)).body).toMatchObject({ status: 'rejected', reason, metadata: { plan: 'pro' } });
    const listed = await list('status=rejected&customer_external_id=seats');
    expect(listed.body.data).toMatchObject([{ id, status: 'rejected', reason }]);
    expect(await countsOf('seats')).toEqual({ events: 0, rolled_up: 0, users: 0 });

    const replayed = await replay(id, { metadata: { plan: 'pro', user_id: 'u1' } });
    expect(replayed).toMatchObject({ status: 202, body: { id, status: 'queued' } });
    await weir.drained();
    expect((await receiptOf(id)).body).toMatchObject({ status: 'recorded', metadata: { plan: 'pro', user_id: 'u1' } });
    expect((await list('status=rejected&customer_external_id=seats')).body.data).toEqual([]);
    expect(await countsOf('seats')).toEqual({ events: 1, rolled_up: 1, users: 1 });
  });

  test('keeps its timestamp through a replay', async () => {
    const id = await trackRejected('timely', { timestamp: '2026-01-31T09:30:00.000001Z' });
    await replay(id, { metadata: { user_id: 1 } });
    await weir.drained();
    expect((await receiptOf(id)).body).toMatchObject({ status: 'recorded', timestamp: '2026-01-31T09:30:00.000001Z' });
  });

  test('stays rejected when it is replayed as it was', async () => {
    const id = await trackRejected('stubborn');
    expect((await replay(id)).status).toBe(202);
    await weir.drained();
    expect((await receiptOf(id)).body).toMatchObject({
      status: 'rejected',
      reason: expect.stringContaining('user_id'),
    });
    expect((await list('status=rejected&customer_external_id=stubborn')).body.data.length).toBe(1);
    expect(await countsOf('stubborn')).toEqual({ events: 0, rolled_up: 0, users: 0 });
  });

  test('is counted once when it is replayed many times at the same moment, also with different corrections', async () => {
    const id = await trackRejected('eager', { idempotency_key: 'eager' });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        replay(id, { metadata: { user_id: index % 3 === 0 ? '' : `u${index}` } }),
      ),
    );
    for (const { status } of answers) expect([202, 409]).toContain(status);
    await weir.drained();
    expect((await receiptOf(id)).body.status).toBe('recorded');
    expect(await countsOf('eager')).toEqual({ events: 1, rolled_up: 1, users: 1 });
    expect((await list('customer_external_id=eager')).body.data.length).toBe(1);
  });

  test('is a duplicate when its idempotency key was used for another event before the replay', async () => {
    const id = await trackRejected('late', { idempotency_key: 'late' });
    await weir.redis.unlink(await weir.claim(admin.id, 'late'));
    const corrected = { customer_external_id: 'late', metadata: { user_id: 'u1' } };
    const other = await track({ meter_token: users.token, idempotency_key: 'late', ...corrected });
    await weir.drained();
    await replay(id, { metadata: { user_id: 'u1' } });
    await weir.drained();
    expect((await receiptOf(id)).body).toMatchObject({ status: 'duplicate', duplicate_of: other });
    expect(await countsOf('late')).toEqual({ events: 1, rolled_up: 1, users: 1 });
    const listed = await list('customer_external_id=late');
    expect(listed.body.data.map((event: { id: string; status: string }) => [event.id, event.status])).toEqual([
      [other, 'recorded'],
      [id, 'duplicate'],
    ]);
  });

  test('that became a duplicate is not rejected any more, whatever is delivered late', async () => {
    const id = await trackRejected('tardy');
    const { rows } = await weir.pool.query<{ event: string }>('SELECT event FROM rejected_events WHERE id = $1', [id]);
    const event = JSON.parse(rows[0]?.event ?? '{}');
    await weir.pool.query('DELETE FROM rejected_events WHERE id = $1', [id]);
    await weir.pool.query('INSERT INTO duplicate_events VALUES ($1, $2, $3, $4)', [
      admin.id,
      id,
      randomUUID(),
      JSON.stringify(event),
    ]);
    await rejectEvents(weir.pool, [{ event, reason: 'late' }]);
    expect((await list('customer_external_id=tardy')).body.data).toMatchObject([{ id, status: 'duplicate' }]);
    const left = await weir.pool.query('SELECT FROM rejected_events WHERE id = $1', [id]);
    expect(left.rowCount).toBe(0);
  });

  test('is not replayed with metadata that is not valid', async () => {
    const id = await trackRejected('invalid');
    const bodies = [
      { metadata: null },
      { idempotency_key: '' },
      { idempotency_key: 'x'.repeat(256) },
      { idempotency_key: 1 },
      { metadata: [] },
      { metadata: { a: '\0' } },
      { metadta: {} },
      { metadata: { a: 'x'.repeat(8192) } },
    ];
    for (const body of bodies) expectProblem(await replay(id, body), 422, 'invalid_request');
    expect(await weir.redis.zcard(weir.keys.staged)).toBe(0);
  });
});

test('an event that is not rejected is not replayed', async () => {
  const id = await track({ customer_external_id: 'fine' });
  await weir.drained();
  expectProblem(await replay(id), 409, 'not_replayable');
  expectProblem(await replay('0198c0de-0000-7000-8000-000000000000'), 404, 'not_found');
  expect(await countsOf('fine')).toMatchObject({ events: 1, rolled_up: 1 });
});

describe('a list of events', () => {
  test('shows the newest first and is read page by page, each event once', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 7; index += 1) {
      const meter_token = index % 2 === 0 ? token : users.token;
      ids.push(await track({ meter_token, customer_external_id: 'pages' }));
    }
    await weir.drained();
    const newestFirst = ids.toSorted().toReversed();
    const read: string[] = [];
    let cursor = '';
    for (let pages = 1; ; pages += 1) {
      const page = await list(`customer_external_id=pages&limit=3${cursor}`);
      expect(page.body.data.length).toBeLessThanOrEqual(3);
      for (const event of page.body.data) read.push(event.id);
      if (page.body.meta.next_cursor === null) break;
      cursor = `&cursor=${page.body.meta.next_cursor}`;
      expect(pages).toBeLessThan(4);
    }
    expect(read).toEqual(newestFirst);
    const rejected = await list('customer_external_id=pages&status=rejected');
    expect(rejected.body.data.map(({ status }: { status: string }) => status)).toEqual([
      'rejected',
      'rejected',
      'rejected',
    ]);
    const recorded = await list(`customer_external_id=pages&status=recorded&meter_id=${users.id}`);
    expect(recorded.body).toEqual({ data: [], meta: { next_cursor: null } });
  });

  test('of duplicates names what each is a duplicate of', async () => {
    const { body } = await list('status=duplicate&customer_external_id=lost');
    expect(body.data).toMatchObject([{ status: 'duplicate', duplicate_of: expect.any(String) }]);
  });

  test.each(['status=unknown', 'limit=0', 'limit=101', 'limit=x', 'cursor=x', 'meter_id=x', 'page=1'])(
    'is refused with %s',
    async (query) => {
      expectProblem(await list(query), 422, 'invalid_request');
    },
  );
});
