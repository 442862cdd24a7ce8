// What an organization sees first: the month so far, what waits for it, and what is to be paid.

import { newId } from '@weir/shared/ids';
import { monthsOf } from '@weir/shared/months';
import { summarizeInvoices } from '@weir/db/billing/invoices/invoice-summary';
import { recordEvents } from '@weir/db/record';
import { countEvents, readUsageOfMeters } from '@weir/db/usage/read-overview';
import { beforeAll, expect, test } from 'vitest';
import { signUp, type Organization } from '../support/harness.ts';
import { rowsReadBy } from '../support/reading-effort.ts';
import { ownWeir } from '../support/use-weir.ts';

// What is to wait must not be recorded meanwhile.
const weir = ownWeir({ withWorker: false, unobserved: true });
let admin: Organization;
let meters: { sum: string; unique: string; quiet: string };
let month: { start: number; before: number };

const HOUR_MS = 3_600_000;
const iso = (ms: number) => new Date(ms).toISOString();

beforeAll(async () => {
  admin = await signUp(weir);
  const zone = { session: admin.session, body: { time_zone: 'Asia/Kathmandu' } };
  await weir.request('PATCH', '/api/v1/billing/settings', zone);
  meters = {
    sum: (await admin.createMeter('SUM', 'GB')).id,
    unique: (await admin.createMeter('UNIQUE_COUNT')).id,
    quiet: (await admin.createMeter('COUNT')).id,
  };
  const record = { session: admin.session, body: { external_id: 'globex', name: 'Globex' } };
  await weir.request('POST', '/api/v1/customers', record);
  const months = monthsOf('Asia/Kathmandu', Date.now() * 1000);
  month = { start: months.now.start / 1000, before: months.before.start / 1000 };
  // The first two are just before the month in this zone; of the others none is ahead of now, also in its first minutes.
  await track(meters.sum, 'globex', [month.start - 1, month.before], '5');
  await track(meters.sum, 'globex', [month.start, month.start, month.start], '0.1');
  await track(meters.unique, 'initech', [month.start, month.start], '1', '{"user_id":"ada"}');
  await track(meters.quiet, 'hooli', [month.before - 1], '1');
});

async function track(meter: string, customer: string, times: number[], quantity: string, metadata?: string) {
  await recordEvents(
    weir.pool,
    times.map((time) => ({
      event: {
        id: newId(),
        organization_id: admin.id,
        meter_id: meter,
        customer_external_id: customer,
        quantity,
        timestamp: iso(time),
        ...(metadata !== undefined && { metadata }),
      },
      countsUniqueValues: metadata !== undefined,
    })),
  );
}

const overview = async (session = admin.session) => {
  const { status, body } = await weir.request('GET', '/api/v1/overview', { session });
  expect(status).toBe(200);
  return body;
};

test('the month is that of the time zone of the organization, and what lies before it is not in it', async () => {
  const body = await overview();
  expect(body).toMatchObject({ period_start: iso(month.start), events: { recorded: 5 } });
  const end = Date.parse(body.period_end);
  expect(end % (HOUR_MS / 4)).toBe(0);
  expect(end).toBeGreaterThan(Date.now() - HOUR_MS / 4);
  // The last instant of the month before is past the same time of it, but in its last days.
  expect(body.events.previous).toBe(month.before + end - month.start >= month.start ? 2 : 1);
});

test('events are told by day, beside the same day of the month before', async () => {
  const months = monthsOf('Asia/Kathmandu', Date.now() * 1000);
  const { events } = await overview();
  const today = Math.floor((Date.now() - month.start) / (24 * HOUR_MS));
  const last = months.before.days.length - 1;
  expect(events.days).toEqual(
    months.now.days.map((start, day) => ({
      start: iso(start / 1000),
      recorded: day > today ? null : day === 0 ? 5 : 0,
      previous: day > last ? null : day === 0 || day === last ? 1 : 0,
    })),
  );
});

test('the meters and customers with the most events come first, with what the meters have counted', async () => {
  const { top_meters, top_customers } = await overview();
  expect(top_meters).toEqual([
    expect.objectContaining({
      meter_id: meters.sum,
      unit: 'GB',
      aggregation_type: 'SUM',
      usage: '0.3',
      event_count: 3,
    }),
    expect.objectContaining({ meter_id: meters.unique, unit: null, usage: '1', event_count: 2 }),
  ]);
  expect(top_customers).toEqual([
    { customer_external_id: 'globex', customer_id: expect.any(String), name: 'Globex', event_count: 3 },
    { customer_external_id: 'initech', customer_id: null, name: null, event_count: 2 },
  ]);
});

test('a mean is that of the events it sums up, also those that were recorded while the others were counted', async () => {
  const { id: organization_id, createMeter } = await signUp(weir);
  const meter_id = (await createMeter('AVG')).id;
  const at = Date.UTC(2026, 0, 1);
  const record = (quantity: string) => {
    const event = {
      id: newId(),
      organization_id,
      meter_id,
      customer_external_id: 'acme',
      quantity,
      timestamp: iso(at),
    };
    return recordEvents(weir.pool, [{ event, countsUniqueValues: false }]);
  };
  await record('2');
  const now = { start: at * 1000, end: (at + HOUR_MS) * 1000 };
  const counted = await countEvents(weir.pool, organization_id, { now, before: now, days: [now.start] });
  await record('4');
  const read = await readUsageOfMeters(weir.pool, organization_id, counted?.meters ?? [], now);
  expect(read).toEqual([{ usage: '3', event_count: 2 }]);
});

test('what is rejected and what waits is told, exactly where it is little', async () => {
  const before = await overview();
  expect(before).toMatchObject({ rejected: { count: 0 }, waiting: { events: 0, oldest_seconds: null } });
  const apiKey = await admin.createKey();
  const { token } = await admin.createMeter('UNIQUE_COUNT');
  for (const metadata of [{}, { user_id: 'ada' }, { note: 'x'.repeat(200) }]) {
    const body = { meter_token: token, customer_external_id: 'globex', quantity: 1, metadata };
    expect((await weir.request('POST', '/api/v1/sdk/track', { apiKey, body })).status).toBe(201);
  }
  expect((await overview()).waiting).toEqual({ events: 3, oldest_seconds: expect.any(Number) });
  const stranger = await signUp(weir);
  expect((await overview(stranger.session)).waiting).toEqual({ events: 0, oldest_seconds: null });
  const worker = await weir.startWorker();
  await weir.drained();
  await worker.close();
  expect(await overview()).toMatchObject({ rejected: { count: 2 }, waiting: { events: 0 }, events: { recorded: 6 } });
  expect(await overview(stranger.session)).toMatchObject({
    rejected: { count: 0 },
    events: { recorded: 0, previous: 0 },
    top_meters: [],
    top_customers: [],
    invoices: [],
  });
});

test('invoices are added up by currency', async () => {
  const post = (path: string, body?: object) => admin.call('POST', path, body);
  const invoice = async (currency: string, customer: string) => {
    const lookup_id = `${currency}-${customer}`.toLowerCase();
    const fields = { name: 'Pro', lookup_id, type: 'FIXED', billing_interval: 'month', currency };
    const plan = await post('/plans', fields);
    await post(`/plans/${plan.id}/charges`, {
      display_name: 'Fee',
      type: 'FIXED',
      timing: 'in_advance',
      unit_price: '10',
    });
    await post('/customers', { external_id: customer });
    const subscription = await post('/subscriptions', { customer_external_id: customer, plan_id: plan.id });
    const path = `/api/v1/subscriptions/${subscription.id}/invoices`;
    return (await weir.request('GET', path, { session: admin.session })).body.data[0].id;
  };
  const drafts = [
    await invoice('JPY', 'a'),
    await invoice('USD', 'b'),
    await invoice('USD', 'c'),
    await invoice('USD', 'd'),
  ];
  for (const id of drafts.slice(1)) await post(`/invoices/${id}/finalize`);
  await post(`/invoices/${drafts[2]}/pay`, {});
  await post(`/invoices/${drafts[3]}/void`, {});
  await weir.pool.query('UPDATE invoices SET is_past_due = true WHERE id = $1', [drafts[1]]);
  const nothing = { open_count: 0, past_due_count: 0 };
  expect((await overview()).invoices).toEqual([
    {
      currency: 'JPY',
      draft_count: 1,
      ...nothing,
      open_amount: '0',
      past_due_amount: '0',
      finalized_total: '0',
      finalized_before: '0',
      top_customers: [],
    },
    {
      currency: 'USD',
      draft_count: 0,
      open_count: 1,
      open_amount: '10.00',
      past_due_count: 1,
      past_due_amount: '10.00',
      finalized_total: '20.00',
      finalized_before: '0.00',
      // What is void was not billed.
      top_customers: ['b', 'c'].map((external_id) => ({
        customer_id: expect.any(String),
        external_id,
        name: null,
        finalized_total: '10.00',
      })),
    },
  ]);
});

test('more invoices than can be added up at a glance are left out, and the rest is told', async () => {
  const { session, id } = await signUp(weir);
  const connection = await weir.pool.connect();
  await connection.query('BEGIN');
  // Without the customer and the subscription, which are not asked for.
  await connection.query('SET LOCAL session_replication_role = replica');
  await connection.query(
    `INSERT INTO invoices (organization_id, id, kind, status, subscription_id, customer_id, currency, period_start, period_end,
       finalizes_at)
     SELECT $1, gen_random_uuid(), 'ADJUSTMENT', 'DRAFT', $1, $1, 'USD', now(), now(), now() FROM generate_series(1, 250001)`,
    [id],
  );
  await connection.query('COMMIT');
  connection.release();
  expect(await overview(session)).toMatchObject({
    events: { recorded: 0 },
    top_meters: [],
    invoices: [],
    has_uncounted_invoices: true,
  });
  const since = iso(month.start);
  const rows = await rowsReadBy(weir, async ({ kysely }) => {
    expect(await summarizeInvoices(kysely, id, { from: since, since }, 100)).toBeUndefined();
  });
  expect(rows).toBeLessThan(1_000);
  await weir.pool.query(
    `DELETE FROM invoices WHERE organization_id = $1 AND id IN (
    SELECT id FROM invoices WHERE organization_id = $1 LIMIT 1)`,
    [id],
  );
  const counted = [{ currency: 'USD', draft_count: 250_000 }];
  expect(await overview(session)).toMatchObject({ invoices: counted, has_uncounted_invoices: false });
});

test('it is for people who are signed in, and costs its caller more than a look at one thing', async () => {
  const apiKey = await admin.createKey();
  expect((await weir.request('GET', '/api/v1/overview', { apiKey })).status).toBe(401);
  const { url: baseUrl } = await weir.startApi({ READ_BUCKETS_PER_CALLER: '100', READS_IN_FLIGHT_PER_CALLER: '1' });
  const ask = () => weir.request('GET', '/api/v1/overview', { session: admin.session, baseUrl });
  const statuses = await Promise.all(Array.from({ length: 4 }, async () => (await ask()).status));
  expect(statuses).toContain(200);
  expect(statuses).toContain(429);
});
