// An event that was recorded is taken out of the count, or another counts in its place: at once in usage and drafts, with a line where
// it was billed, once, and for good, whoever records, closes, erases or corrects at the same moment.

import { recordEvents } from '@weir/db/record';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { signUp, type Organization } from '../support/harness.ts';
import { startInvoicing, type Invoicing } from '../support/invoicing.ts';
import { reconcileHere } from '../support/reconcile-fixture.ts';
import { expectRollupsToEqualEvents } from '../support/rollups.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let billing: Invoicing;
let admin: Organization;
let apiKey: string;

beforeAll(async () => {
  billing = await startInvoicing(weir);
  ({ admin } = billing);
  apiKey = await admin.createKey();
});
afterAll(() => billing.close());

const ask = (path: string, body: object, session = admin.session) =>
  weir.request('POST', `/api/v1${path}`, { session, body });
const receiptOf = async (id: string) => (await weir.request('GET', `/api/v1/events/${id}`, { apiKey })).body;

async function track(token: string, more: Record<string, unknown> = {}): Promise<string> {
  const body = { meter_token: token, customer_external_id: 'acme', quantity: 1, ...more };
  const { status, body: answer } = await weir.request('POST', '/api/v1/sdk/track', { apiKey, body });
  expect(status).toBe(201);
  return answer.id;
}

async function usageOf(meterId: string, query = '', key = apiKey): Promise<[usage: string | null, events: number]> {
  const window = 'start_date=2025-01-01&end_date=2099-01-01&group_by=month';
  const { body } = await weir.request('GET', `/api/v1/meters/${meterId}/usage?${window}${query}`, { apiKey: key });
  return [body.total_usage, body.event_count];
}

test('a voided event counts no more, says why, and does not come back with its key or its batch', async () => {
  const { id: meter, token } = await admin.createMeter('MAX');
  const key = randomUUID();
  const wrong = await track(token, { quantity: 900, idempotency_key: key });
  const right = await track(token, { quantity: 9 });
  await weir.drained();
  expect(await usageOf(meter)).toEqual(['900', 2]);

  const made = await ask(`/events/${wrong.toUpperCase()}/void`, { reason: 'a test of ours' });
  expect([made.status, made.body]).toEqual([
    201,
    { id: expect.any(String), event_id: wrong, amended_by: null, created_at: expect.stringMatching(/Z$/) },
  ]);
  expect(await usageOf(meter)).toEqual(['9', 1]);
  expect(await receiptOf(wrong)).toMatchObject({
    id: wrong,
    status: 'voided',
    quantity: '900',
    idempotency_key: key,
    correction: {
      id: made.body.id,
      reason: 'a test of ours',
      amended_by: null,
      actor: expect.stringMatching(/^user:/),
    },
  });
  expect(await receiptOf(right)).not.toHaveProperty('correction');
  const listed = async (query: string) =>
    (await weir.request('GET', `/api/v1/events?meter_id=${meter}${query}`, { apiKey })).body.data.map(
      (event: { id: string; status: string }) => [event.id, event.status],
    );
  expect(await listed('')).toEqual([
    [right, 'recorded'],
    [wrong, 'voided'],
  ]);
  expect(await listed('&status=recorded')).toEqual([[right, 'recorded']]);
  expect(await listed('&status=voided')).toEqual([[wrong, 'voided']]);
  // One of which no day is left is found as well.
  await ask(`/events/${right}/void`, { reason: 'this one too' });
  expect(await listed('&customer_external_id=acme&start_date=2025-01-01')).toEqual([
    [right, 'voided'],
    [wrong, 'voided'],
  ]);
  expect(await usageOf(meter)).toEqual([null, 0]);

  const again = { meter_token: token, customer_external_id: 'acme', quantity: 900, idempotency_key: key };
  const repeated = await weir.request('POST', '/api/v1/sdk/track', { apiKey, body: again });
  expectProblem(repeated, 409, 'duplicate_event');
  const stored = {
    id: wrong,
    organization_id: admin.id,
    meter_id: meter,
    customer_external_id: 'acme',
    quantity: '900',
  };
  const { timestamp } = await receiptOf(wrong);
  for (const idempotency_key of [key, undefined]) {
    const event = { ...stored, timestamp, ...(idempotency_key !== undefined && { idempotency_key }) };
    await recordEvents(weir.pool, [{ event, countsUniqueValues: false }]);
  }
  expect(await usageOf(meter)).toEqual([null, 0]);
  await expectRollupsToEqualEvents(weir.pool);
});

test('another event counts in the place of an amended one, with what was not said as it was', async () => {
  const { id: meter, token } = await admin.createMeter('SUM');
  const [at, later] = ['2025-03-03T03:03:03.123456Z', '2025-04-01T00:00:00+02:00'];
  const metadata = { model: 'a', exact: 1.5 };
  const first = await track(token, { quantity: 5, timestamp: at, metadata, idempotency_key: randomUUID() });
  await weir.drained();
  const made = await weir.request('POST', `/api/v1/events/${first}/amend`, {
    session: admin.session,
    raw: '{"reason":"a unit too many", "quantity": 0.10000000000000000055}',
  });
  expect([made.status, made.body.event_id]).toEqual([201, first]);
  const second = made.body.amended_by;
  expect(await usageOf(meter)).toEqual(['0.10000000000000000055', 1]);
  expect(await receiptOf(first)).toMatchObject({ status: 'voided', correction: { amended_by: second } });
  const receipt = await receiptOf(second);
  expect(receipt).toMatchObject({ status: 'recorded', amends: first, idempotency_key: null, timestamp: at, metadata });
  expect(receipt).not.toHaveProperty('correction');

  const exact = '{"user_id":9007199254740993,"share":1.10}';
  const moved = await weir.request('POST', `/api/v1/events/${second}/amend`, {
    session: admin.session,
    raw: `{"reason":"of April", "timestamp": "${later}", "metadata": ${exact}}`,
  });
  expect(moved.status).toBe(201);
  const third = await weir.request('GET', `/api/v1/events/${moved.body.amended_by}`, { apiKey });
  expect(third.body).toMatchObject({ amends: second, timestamp: '2025-03-31T22:00:00.000Z', status: 'recorded' });
  const text = await fetch(`${weir.baseUrl}/api/v1/events/${third.body.id}`, { headers: { 'x-api-key': apiKey } });
  expect(await text.text()).toContain(`"metadata":${exact}`);
  const none = await ask(`/events/${third.body.id}/amend`, { reason: 'nothing beside it', metadata: null });
  expect((await receiptOf(none.body.amended_by)).metadata).toBeNull();
  expect(await usageOf(meter)).toEqual(['0.10000000000000000055', 1]);
  await expectRollupsToEqualEvents(weir.pool);
});

test('what cannot be corrected is refused with what to do, and many are corrected all or not at all', async () => {
  const { id: meter, token } = await admin.createMeter('SUM');
  const users = await admin.createMeter('UNIQUE_COUNT');
  const [one, two, three] = await Promise.all([track(token), track(token), track(token, { quantity: 3 })]);
  const user = await track(users.token, { metadata: { user_id: 'ada' } });
  const rejected = await track(users.token);
  await weir.drained();
  const reason = 'a test';
  const unknown = '0198c0de-0000-7000-8000-000000000000';

  expectProblem(await ask(`/events/${unknown}/void`, { reason }), 404, 'not_found');
  const refused = await ask(`/events/${rejected}/amend`, { reason, metadata: { user_id: 'bo' } });
  expectProblem(refused, 409, 'not_correctable');
  expect(refused.body.detail).toContain('is rejected');
  const voided = await ask(`/events/${one}/void`, { reason });
  const again = await ask(`/events/${one}/void`, { reason });
  expectProblem(again, 409, 'already_voided');
  expect(again.body.id).toBe(voided.body.id);
  for (const [path, body, field] of [
    ['void', {}, 'reason'],
    ['void', { reason: ' ' }, 'reason'],
    ['void', { reason, quantity: 1 }, 'quantity'],
    ['void', { reason: 'x'.repeat(2_001) }, 'reason'],
    ['amend', { reason }, 'reason'],
    ['amend', { reason, quantity: 0 }, 'quantity'],
    ['amend', { reason, quantity: '1e400' }, 'quantity'],
    ['amend', { reason, timestamp: '1999-12-31T23:59:59Z' }, 'timestamp'],
    ['amend', { reason, timestamp: '2025-01-01' }, 'timestamp'],
    ['amend', { reason, metadata: 'a' }, 'metadata'],
    ['amend', { reason, metadata: { a: 'x'.repeat(9_000) } }, 'metadata'],
  ] as const) {
    const answer = await ask(`/events/${two}/${path}`, body);
    expectProblem(answer, 422, 'invalid_request');
    expect(answer.body.errors.map((error: { path: string }) => error.path)).toContain(field);
  }
  const noUser = await ask(`/events/${user}/amend`, { reason, metadata: { model: 'a' } });
  expect([noUser.status, noUser.body.errors[0].path]).toEqual([422, 'metadata']);
  const inList = { corrections: [{ type: 'amend', event_id: user, reason, metadata: { model: 'a' } }] };
  const ofList = await ask('/corrections', inList);
  expect([ofList.status, ofList.body.errors[0].path]).toEqual([422, 'corrections[0].metadata']);

  const all = (...corrections: object[]) => ask('/corrections', { corrections });
  const voids = (event_id: string, more = {}) => ({ type: 'void', event_id, reason, ...more });
  expectProblem(await all(), 422, 'invalid_request');
  expectProblem(await all(...Array.from({ length: 1_001 }, () => voids(randomUUID()))), 422, 'invalid_request');
  expectProblem(await all(voids(two), voids(two)), 422, 'invalid_request');
  expectProblem(await all(voids(two, { quantity: 1 })), 422, 'invalid_request');
  expectProblem(await all(voids(two), { ...voids(three), type: 'amend' }), 422, 'invalid_request');
  expectProblem(await all(voids(two), voids(unknown)), 404, 'not_found');
  const halfDone = await all(voids(two), voids(one));
  expectProblem(halfDone, 409, 'already_voided');
  expect([halfDone.body.id, halfDone.body.detail]).toEqual([voided.body.id, expect.stringContaining('corrections[1]')]);
  expect(await usageOf(meter)).toEqual(['4', 2]);
  const done = await all(voids(two), { ...voids(three), type: 'amend', quantity: '7.5', metadata: { a: 1.1 } });
  expect([done.status, done.body.data.map((each: { event_id: string }) => each.event_id)]).toEqual([201, [two, three]]);
  expect((await receiptOf(done.body.data[1].amended_by)).metadata).toEqual({ a: 1.1 });
  expect(await usageOf(meter)).toEqual(['7.5', 1]);

  const pages = await weir.request('GET', '/api/v1/corrections?page_size=2', { session: admin.session });
  expect(pages.body.meta).toMatchObject({ page: 1, page_size: 2 });
  const inBulk = pages.body.data.map((each: { event_id: string; reason: string }) => [each.event_id, each.reason]);
  expect(new Map(inBulk)).toEqual(
    new Map([
      [two, reason],
      [three, reason],
    ]),
  );
  const other = await signUp(weir);
  expectProblem(await ask(`/events/${user}/void`, { reason }, other.session), 404, 'not_found');
  expect((await weir.request('GET', '/api/v1/corrections', { session: other.session })).body.data).toEqual([]);
});

test('a draft shows a correction at once; what was billed gets a line for it, whose changes name the event', async () => {
  const sum = await billing.meter('SUM');
  const largest = await billing.meter('MAX');
  const { id: plan } = await billing.plan(
    [sum, largest].map(({ id }) => ({ type: 'USAGE', display_name: 'Calls', meter_id: id, unit_price: '0.5' })),
  );
  await billing.moveTo('2026-01-01T00:10:00Z');
  const { id: customer, external_id: who } = await billing.customer();
  const { id: subscription } = await billing.subscribe(plan, customer, { start_date: '2026-01-01T00:00:00Z' });
  const quantities = [4, 100, 7];
  const events = await Promise.all(
    [sum, largest].flatMap(({ token }) =>
      quantities.map((quantity, index) =>
        track(token, { quantity, customer_external_id: who, timestamp: `2026-01-0${index + 2}T12:00:00Z` }),
      ),
    ),
  );
  const reason = 'it was a test run';
  await weir.drained();
  await billing.moveTo('2026-02-01T00:10:00Z', subscription);
  const [draft] = await billing.drafts(subscription);
  const amounts = async (invoice: string) =>
    (await billing.get(`/invoices/${invoice}`)).lines.map(
      (line: { kind: string; quantity: string; amount: string }) => {
        return [line.kind, line.quantity, line.amount];
      },
    );
  await billing.post(`/events/${events[0]}/void`, { reason }, 201);
  expect(await amounts(draft?.id ?? '')).toEqual([
    ['USAGE', '107', '53.50'],
    ['USAGE', '100', '50.00'],
  ]);
  await billing.finalizeAll(subscription);

  const voided = [events[1], events[4]].map((event_id) => ({ type: 'void', event_id, reason }));
  await billing.post('/corrections', { corrections: voided }, 201);
  await billing.moveTo('2026-03-01T00:10:00Z', subscription);
  const [february] = await billing.finalizeAll(subscription);
  const late = february.lines.filter(({ kind }: { kind: string }) => kind === 'LATE_USAGE');
  expect(late.map((line: { quantity: string; amount: string }) => [line.quantity, line.amount])).toEqual([
    ['7', '-50.00'],
    ['7', '-46.50'],
  ]);
  for (const [index, line] of late.entries()) {
    const path = `/invoices/${february.id}/lines/${line.id}/events`;
    const { data } = await billing.get(`${path}?changes=true`);
    expect(data).toMatchObject([
      { id: voided[index]?.event_id, status: 'voided', change: 'removed', correction: { reason } },
    ]);
    expect((await billing.get(path)).data.map(({ quantity }: { quantity: string }) => quantity)).toEqual(
      index === 0 ? ['7'] : ['4', '7'],
    );
  }
  const [january] = (await billing.get(`/subscriptions/${subscription}/invoices?page_size=100`)).data.slice(-1);
  // What was counted then is told as it was then, with what became of it.
  const before = await billing.get(
    `/invoices/${january.id}/lines/${(await billing.get(`/invoices/${january.id}`)).lines[0].id}/events`,
  );
  expect(before.data.map(({ status, quantity }: { status: string; quantity: string }) => [status, quantity])).toEqual([
    ['voided', '100'],
    ['recorded', '7'],
  ]);
  for (const invoice of [january, february])
    for (const from of ['rollups', 'events'])
      expect((await billing.post(`/invoices/${invoice.id}/recompute`, { from })).identical).toBe(true);
  const options = { organizationId: admin.id, invoices: true };
  const found = await reconcileHere(weir, billing.database, options);
  expect(found).toMatchObject({ isEqual: true });
});
