// What the interface document says about tracking, row by row and in its own order.

import { ROLLUPS } from '@weir/db/rollups';
import { beforeAll, describe, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, type Organization } from '../support/harness.ts';
import { sharedWeir } from '../support/use-weir.ts';

const weir = sharedWeir();
let admin: Organization;
let apiKey: string;
let meter: { id: string; token: string };

beforeAll(async () => {
  admin = await signUp(weir);
  apiKey = await admin.createKey();
  meter = await admin.createMeter('SUM');
});

const eventOf = (more: Record<string, unknown> = {}) => ({
  meter_token: meter.token,
  customer_external_id: 'acme',
  quantity: 1,
  ...more,
});
const track = (body: unknown, key = apiKey) =>
  weir.request('POST', '/api/v1/sdk/track', key === '' ? { body } : { body, apiKey: key });
const receiptOf = async (id: string) => (await weir.request('GET', `/api/v1/events/${id}`, { apiKey })).body;
async function trackAndRecord(body: unknown): Promise<Record<string, unknown>> {
  const answer = await track(body);
  expect(answer.status).toBe(201);
  await weir.drained();
  return await receiptOf(answer.body.id);
}
const recordedOf = async (customer: string) =>
  (await weir.pool.query('SELECT FROM events WHERE customer_external_id = $1', [customer])).rowCount;

describe('a usage event', () => {
  test.each(['meter_token', 'customer_external_id', 'quantity'])('requires %s', async (field) => {
    const answer = await track(eventOf({ [field]: undefined }));
    expectProblem(answer, 422, 'invalid_request');
    expect(answer.body.errors).toEqual([{ path: field, message: 'is required' }]);
  });

  test.each([
    ['meter_token', 'a string', 5],
    ['customer_external_id', 'a string', 5],
    ['quantity', 'a number', '5'],
    ['timestamp', 'a string', 1767225600],
    ['idempotency_key', 'a string', 5],
    ['metadata', 'an object', 'plan=pro'],
  ])('has a %s that is %s', async (field, _, wrong) => {
    const answer = await track(eventOf({ [field]: wrong }));
    expectProblem(answer, 422, 'invalid_request');
    expect(answer.body.errors[0].path).toBe(field);
  });

  test('is counted by the meter that its meter_token is the unique token of', async () => {
    const other = await admin.createMeter('SUM');
    expect(other.token).not.toBe(meter.token);
    expect(await trackAndRecord(eventOf({ meter_token: other.token }))).toMatchObject({ meter_id: other.id });
    expectProblem(await track(eventOf({ meter_token: 'mtr_nobody' })), 404, 'meter_not_found');
  });

  test('belongs to the customer that the caller names with an identifier of its own', async () => {
    const customer_external_id = 'Kunde/42 — Grüße 👋';
    expect(await trackAndRecord(eventOf({ customer_external_id }))).toMatchObject({ customer_external_id });
  });

  test.each([0, -0, -1, -0.5])('has a quantity greater than 0: %s is refused', async (quantity) => {
    expectProblem(await track(eventOf({ quantity })), 422, 'invalid_request');
  });

  test.each([
    [0.5, '0.5'],
    [0.1, '0.1'],
    [82450, '82450'],
    [1e-9, '0.000000001'],
  ])('may have a fractional quantity: %s is kept exactly', async (quantity, kept) => {
    expect(await trackAndRecord(eventOf({ quantity }))).toMatchObject({ quantity: kept });
  });

  test('has a timestamp in ISO 8601', async () => {
    const timestamp = '2026-01-31T10:30:00+01:00';
    expect(await trackAndRecord(eventOf({ timestamp }))).toMatchObject({ timestamp: '2026-01-31T09:30:00.000Z' });
    expectProblem(await track(eventOf({ timestamp: '31 January 2026' })), 422, 'invalid_request');
  });

  test('without a timestamp happened at the time of receipt', async () => {
    const before = Date.now();
    const { timestamp, received_at } = await trackAndRecord(eventOf());
    expect(timestamp).toBe(received_at);
    expect(Date.parse(String(timestamp))).toBeGreaterThanOrEqual(before);
    expect(Date.parse(String(timestamp))).toBeLessThanOrEqual(Date.now());
  });

  test('with an idempotency_key is counted once when its request is retried', async () => {
    const event = eventOf({ customer_external_id: 'retrying', idempotency_key: 'retry-1', quantity: 7 });
    const first = await track(event);
    expect(first.status).toBe(201);
    for (let retry = 0; retry < 3; retry += 1) {
      const again = await track(event);
      expectProblem(again, 409, 'duplicate_event');
      expect(again.body.id).toBe(first.body.id);
    }
    await weir.drained();
    expectProblem(await track(event), 409, 'duplicate_event');
    await weir.drained();
    expect(await recordedOf('retrying')).toBe(1);
  });

  test('without an idempotency_key is a new event each time', async () => {
    const ids = [
      await track(eventOf({ customer_external_id: 'keyless' })),
      await track(eventOf({ customer_external_id: 'keyless' })),
    ];
    expect(ids[0]?.body.id).not.toBe(ids[1]?.body.id);
    await weir.drained();
    expect(await recordedOf('keyless')).toBe(2);
  });

  test('with an idempotency_key that another event has is refused, and not taken for a retry', async () => {
    expect((await track(eventOf({ idempotency_key: 'reused', quantity: 1 }))).status).toBe(201);
    expectProblem(await track(eventOf({ idempotency_key: 'reused', quantity: 2 })), 422, 'idempotency_key_reused');
  });

  test('shares no idempotency_key with another organization', async () => {
    const neighbour = await signUp(weir);
    const theirMeter = await neighbour.createMeter('SUM');
    const theirKey = await neighbour.createKey();
    expect((await track(eventOf({ idempotency_key: 'shared' }))).status).toBe(201);
    const theirs = await track(eventOf({ idempotency_key: 'shared', meter_token: theirMeter.token }), theirKey);
    expect(theirs.status).toBe(201);
    await weir.drained();
    expect((await receiptOf(theirs.body.id)).status).toBe(404);
    const { rows } = await weir.pool.query(
      `SELECT count(*)::int AS events FROM events WHERE idempotency_key = 'shared'`,
    );
    expect(rows).toEqual([{ events: 2 }]);
  });

  test('carries free metadata, which comes back as it was sent', async () => {
    const metadata = { plan: 'pro', seats: 5, beta: true, tags: ['a', null], nested: { deep: 'Grüße' } };
    expect(await trackAndRecord(eventOf({ metadata }))).toMatchObject({ metadata });
    expect(await trackAndRecord(eventOf())).toMatchObject({ metadata: null });
  });

  test('for a meter of kind UNIQUE_COUNT carries the user_id to be counted in its metadata, with quantity 1', async () => {
    const users = await admin.createMeter('UNIQUE_COUNT');
    for (const user_id of ['u1', 'u2', 'u1'])
      expect(await trackAndRecord(eventOf({ meter_token: users.token, metadata: { user_id } }))).toMatchObject({
        status: 'recorded',
      });
    const without = await trackAndRecord(eventOf({ meter_token: users.token }));
    expect(without).toMatchObject({ status: 'rejected', reason: expect.stringContaining('user_id') });
    const { rows } = await weir.pool.query(
      `SELECT count(DISTINCT value_hash)::int AS users FROM ${ROLLUPS.customerValueDays.table} WHERE meter_id = $1`,
      [users.id],
    );
    expect(rows).toEqual([{ users: 2 }]);
  });
});

describe('tracking', () => {
  test('is answered with 201 and an object that holds the id of the event', async () => {
    const answer = await track(eventOf());
    expect(answer.status).toBe(201);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(answer.body.id).toEqual(expect.any(String));
    await weir.drained();
    expect(await receiptOf(answer.body.id)).toMatchObject({ id: answer.body.id, status: 'recorded' });
  });

  test('works at once with a key of the form org_live_<random> that was just created', async () => {
    const key = await admin.createKey();
    expect(key).toMatch(/^org_live_[0-9A-Za-z]{20,}$/);
    expect((await track(eventOf(), key)).status).toBe(201);
  });

  test('works at once with a meter that was just created', async () => {
    const fresh = await admin.createMeter('COUNT');
    expect((await track(eventOf({ meter_token: fresh.token }))).status).toBe(201);
  });

  test('lies under /api/v1, and nowhere else', async () => {
    for (const path of ['/sdk/track', '/v1/sdk/track', '/api/v2/sdk/track', '/api/sdk/track'])
      expectProblem(await weir.request('POST', path, { apiKey, body: eventOf() }), 404, 'not_found');
  });
});

test('a failure has a status other than 201 and says in the field detail what to do', async () => {
  const failures = [
    await track(eventOf({ quantity: 0 })),
    await track(eventOf({ meter_token: 'mtr_nobody' })),
    await track(eventOf(), 'secret'),
    await weir.request('POST', '/api/v1/sdk/track', { apiKey, raw: '{' }),
  ];
  for (const { status, body } of failures) {
    expect(status).toBeGreaterThanOrEqual(400);
    expect(body.detail).toMatch(/\w+ .*\.$/);
  }
});

test('a client that gave up waiting and tried again has its usage counted once', async () => {
  const event = eventOf({ customer_external_id: 'impatient', idempotency_key: 'impatient', quantity: 3 });
  const given = await Promise.all(Array.from({ length: 10 }, () => track(event)));
  expect(given.map(({ status }) => status).sort((a, b) => a - b)).toEqual([201, ...Array(9).fill(409)]);
  expect(new Set(given.map(({ body }) => body.id)).size).toBe(1);
  await weir.drained();
  expect(await recordedOf('impatient')).toBe(1);
});
