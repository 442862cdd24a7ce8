// Events are found by what a person knows of them: the key that they were sent with, the token of their meter, or why they are
// rejected.

import { recordEvents, rejectEvents } from '@weir/db/record';
import { newId } from '@weir/shared/ids';
import { beforeAll, describe, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, type Organization } from '../support/harness.ts';
import { sharedWeir } from '../support/use-weir.ts';

const weir = sharedWeir();
let admin: Organization;
let stranger: Organization;
let one: { id: string; token: string };
let other: { id: string; token: string };
/** Ids of what was kept, by what it is. */
let kept: Record<'holder' | 'duplicate' | 'rejected' | 'reused' | 'plain' | 'theirs' | 'late', string>;

/** With all that JSON escapes, and with what a person may try to break it with. */
const KEY = 'order "4711" \\ 7%_\u2028é';
const HOLDER = '0198c0de-5a1e-7000-8000-00000000000d';
const reused = (holder: string) => `the event ${holder} holds this idempotency_key and has another payload`;

beforeAll(async () => {
  [admin, stranger] = [await signUp(weir), await signUp(weir)];
  [one, other] = [await admin.createMeter('SUM'), await admin.createMeter('SUM')];
  const theirMeter = (await stranger.createMeter('SUM')).id;
  const event = (organization_id: string, meter_id: string, fields: object = {}) => {
    const common = { customer_external_id: 'acme', quantity: '1', timestamp: '2026-03-01T12:00:00.000Z' };
    return { id: newId(), organization_id, meter_id, aggregation: 'SUM' as const, ...common, ...fields };
  };
  const holder = event(admin.id, one.id, { idempotency_key: KEY });
  const theirs = event(stranger.id, theirMeter, { idempotency_key: KEY });
  const plain = event(admin.id, other.id, { metadata: JSON.stringify({ idempotency_key: KEY, timestamp: 'now' }) });
  const duplicate = { ...holder, id: newId() };
  for (const each of [holder, theirs, plain, duplicate])
    await recordEvents(weir.pool, [{ event: each, countsUniqueValues: false }]);
  // In other metadata stands what they are looked for by.
  const metadata = JSON.stringify({ idempotency_key: 'sly', timestamp: '2030-01-01T00:00:00Z' });
  const rejected = event(admin.id, one.id, { idempotency_key: KEY, metadata });
  const late = event(admin.id, other.id, { timestamp: '2026-05-01T00:00:00.000Z', metadata });
  const reusing = event(admin.id, one.id);
  await rejectEvents(weir.pool, [
    { event: rejected, reason: 'no user' },
    { event: late, reason: 'no user' },
    { event: reusing, reason: reused(HOLDER) },
    { event: event(admin.id, one.id, { customer_external_id: 'initech' }), reason: reused(newId()) },
    { event: event(stranger.id, theirMeter), reason: 'no user' },
  ]);
  kept = {
    holder: holder.id,
    duplicate: duplicate.id,
    rejected: rejected.id,
    reused: reusing.id,
    plain: plain.id,
    theirs: theirs.id,
    late: late.id,
  };
});

const find = async (filter: Record<string, string>): Promise<string[]> => {
  const query = new URLSearchParams(filter);
  const { status, body } = await weir.request('GET', `/api/v1/events?${query.toString()}`, { session: admin.session });
  expect([status, body.errors]).toEqual([200, undefined]);
  return body.data.map(({ id }: { id: string }) => id);
};
const ids = (...names: (keyof typeof kept)[]) =>
  names
    .map((name) => kept[name])
    .toSorted()
    .toReversed();

test('by its idempotency key an event is found, with its duplicates and what was rejected with it', async () => {
  expect(await find({ idempotency_key: KEY })).toEqual(ids('holder', 'duplicate', 'rejected'));
  expect(await find({ idempotency_key: KEY, status: 'recorded' })).toEqual(ids('holder'));
  expect(await find({ idempotency_key: KEY, status: 'duplicate' })).toEqual(ids('duplicate'));
  expect(await find({ idempotency_key: KEY, customer_external_id: 'initech' })).toEqual([]);
  expect(await find({ idempotency_key: KEY, start_date: '2026-03-02' })).toEqual([]);
  for (const other of ['order', KEY.slice(1), `${KEY} `, 'sly', '%'])
    expect(await find({ idempotency_key: other }), other).toEqual([]);
});

test('by the token of their meter, as by its id', async () => {
  for (const { id, token } of [one, other]) {
    const found = await find({ meter_token: token });
    expect(found.length).toBeGreaterThan(1);
    expect(found).toEqual(await find({ meter_id: id }));
    expect(found).toEqual(await find({ meter_id: id, meter_token: token }));
  }
  expect(await find({ meter_id: one.id, meter_token: other.token })).toEqual([]);
  const path = '/api/v1/events?meter_token=mtr_000000000000000000000000';
  expectProblem(await weir.request('GET', path, { session: admin.session }), 404, 'meter_not_found');
});

test('by their own time, whatever stands in their metadata', async () => {
  expect(await find({ start_date: '2026-05-01T00:00:00Z' })).toEqual(ids('late'));
  expect(await find({ end_date: '2026-05-01T00:00:00Z', status: 'rejected', reason: 'no user' })).toEqual(
    ids('rejected'),
  );
  expect(await find({ start_date: '2026-03-01', end_date: '2026-03-01', status: 'duplicate' })).toEqual(
    ids('duplicate'),
  );
});

test('by a time far ahead, also once times that far ahead are not taken any more', async () => {
  const api = await weir.startApi({ TIMESTAMP_AHEAD_SECONDS: '2592000' });
  const timestamp = new Date(Date.now() + 20 * 86_400_000).toISOString();
  const body = { meter_token: one.token, customer_external_id: 'ahead', quantity: 1, timestamp };
  const apiKey = await admin.createKey();
  const track = (baseUrl: string) => weir.request('POST', '/api/v1/sdk/track', { baseUrl, apiKey, body });
  const taken = await track(api.url);
  expect([taken.status, (await track(weir.baseUrl)).status]).toEqual([201, 422]);
  await weir.drained();
  const found = [];
  for (const filter of [{}, { customer_external_id: 'ahead' }, { meter_id: one.id }])
    found.push(await find({ ...filter, start_date: timestamp }));
  expect(found).toEqual([[taken.body.id], [taken.body.id], [taken.body.id]]);
});

test('a window that ends before it begins is refused, and says why', async () => {
  const path = '/api/v1/events?start_date=2026-03-02&end_date=2026-03-01';
  const { status, body } = await weir.request('GET', path, { session: admin.session });
  expect([status, body.errors[0].path]).toEqual([422, 'start_date']);
  expect(body.detail).toContain('2026-03-02T00:00:00.000Z');
});

test('a window of a microsecond is one', async () => {
  expect(await find({ start_date: '2026-03-01T00:00:00Z', end_date: '2026-03-01T00:00:00.000001Z' })).toEqual([]);
});

describe('rejected events', () => {
  const rejections = async ({ session }: Organization) =>
    (await weir.request('GET', '/api/v1/events/rejections', { session })).body.data;

  test('are counted by their reason and meter, whatever event it names', async () => {
    const time = expect.stringMatching(/^2.*Z$/);
    expect(await rejections(admin)).toEqual([
      { reason: reused('…'), meter_id: one.id, count: 2, first_at: time, last_at: time },
      ...[one, other]
        .map(({ id }) => ({ reason: 'no user', meter_id: id, count: 1, first_at: time, last_at: time }))
        .toSorted((a, b) => (a.meter_id < b.meter_id ? -1 : 1)),
    ]);
    expect(await rejections(stranger)).toMatchObject([{ reason: 'no user', count: 1 }]);
  });

  test('are listed by the reason as it is counted, and as one of them has it', async () => {
    for (const { reason, meter_id, count } of await rejections(admin)) {
      const found = await find({ reason, meter_id });
      expect(found.length, reason).toBe(count);
    }
    expect((await find({ reason: reused(HOLDER) })).length).toBe(2);
    expect(await find({ reason: reused(HOLDER), customer_external_id: 'acme' })).toEqual(ids('reused'));
    expect(await find({ reason: 'no' })).toEqual([]);
    for (const status of ['recorded', 'duplicate']) expect(await find({ reason: 'no user', status })).toEqual([]);
  });
});
