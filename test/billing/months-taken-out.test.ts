// Where a month of events was taken out of the database, what is read of single events cannot be told. Whoever needs it is refused, until
// the month is attached again; nobody is billed short, and nobody else waits.

import { performAlerts } from '@weir/db/alerts/perform-alerts';
import { readExpectedRevenue, reckonRevenue } from '@weir/db/billing/run/expected-revenue';
import { postponeSettlement, readRunState } from '@weir/db/billing/run/run-work';
import { newCommand } from '@weir/reconcile/connect';
import { parseReconcileOptions } from '@weir/reconcile/reconcile-options';
import { describe as describeReconciliation } from '@weir/reconcile/reconcile-report';
import { createLog } from '@weir/shared/log';
import type { AggregationType } from '@weir/shared/meter';
import { openAlerts } from '@weir/worker/alerts/open-alerts';
import { buildWorkerMetrics } from '@weir/worker/worker-metrics';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { crossingsOf, makeAlert, settleAlerts } from '../support/alerting.ts';
import { openRun, type BillingRun } from '../support/billing-run.ts';
import { correct } from '../support/correcting.ts';
import { until } from '../support/harness.ts';
import { throwIt } from '../support/erasing.ts';
import { startInvoicing, type Invoicing } from '../support/invoicing.ts';
import { attachMonth, detachMonth, loseMonth, makeMonthsSince, recordUsed, type Used } from '../support/months.ts';
import { reconcileHere } from '../support/reconcile-fixture.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let billing: Invoicing;
let run: BillingRun;

beforeAll(() => makeMonthsSince(weir, '2025-01-01'));
beforeEach(async () => {
  billing = await startInvoicing(weir);
  run = openRun(weir, billing.database);
  // What was recorded in January is of an organization that was there.
  await weir.pool.query(`UPDATE organizations SET created_at = '2024-12-31' WHERE id = $1`, [billing.admin.id]);
  await billing.request('PATCH', '/billing/settings', { invoice_grace_hours: 0 });
  await billing.moveTo('2025-01-01T00:00:00Z');
  return async () => {
    const { rows } = await weir.pool.query(
      `SELECT relispartition AS there FROM pg_class WHERE relname = 'events_2025_01'`,
    );
    if (rows[0].there === false) await attachMonth(weir, '2025-01');
    await weir.pool.query('UPDATE subscriptions SET run_at = NULL');
    await weir.pool.query('UPDATE invoices SET run_at = NULL, past_due_at = NULL');
    await billing.close();
  };
});

type Meter = Used['meter'];

const meterOf = async (aggregation: AggregationType): Promise<Meter> => {
  return { id: (await billing.meter(aggregation)).id, aggregation };
};

const use = (...used: Used[]) => recordUsed(weir, billing.admin.id, used);

async function planOf(meter: Meter, unit_price: string, fields?: object): Promise<string> {
  const charge = { type: 'USAGE', display_name: 'Usage', meter_id: meter.id, unit_price };
  return (await billing.plan([charge], fields)).id;
}

interface Subscribed {
  id: string;
  customer: string;
}

async function subscribe(plan: string, start_date: string): Promise<Subscribed> {
  const { id, external_id: customer } = await billing.customer();
  return { id: (await billing.subscribe(plan, id, { start_date })).id, customer };
}

/** Lets the run do all that is due at an instant. */
async function runAt(at: string): Promise<void> {
  await billing.moveTo(at);
  await run.untilDone();
}

interface InvoiceRow {
  id: string;
  status: string;
  total: string | null;
  run_error: string | null;
}

/** The invoices of a subscription as they lie in the database, earliest first. */
async function invoicesOf({ id }: Subscribed): Promise<InvoiceRow[]> {
  const { rows } = await weir.pool.query<InvoiceRow>(
    `SELECT id, status, total::text, run_error FROM invoices WHERE subscription_id = $1 ORDER BY created_at, cycle NULLS LAST`,
    [id],
  );
  return rows;
}

async function linesOf(invoice: InvoiceRow | undefined): Promise<object[]> {
  return (await billing.get(`/invoices/${invoice?.id}`)).lines;
}

const recompute = (invoice: InvoiceRow | undefined, from: 'rollups' | 'events') =>
  billing.request('POST', `/invoices/${invoice?.id}/recompute`, { from });

interface Needed {
  subscription_id: string;
  needed_for: string;
}

const lateOf = ({ id }: Subscribed): Needed => ({ subscription_id: id, needed_for: 'late usage that is not billed' });
const bySubscription = (one: Needed, other: Needed) => (one.subscription_id < other.subscription_id ? -1 : 1);

/** What docs/operations.md has an operator ask before a month is detached. */
async function neededOf(month: string): Promise<Needed[]> {
  const page = readFileSync(fileURLToPath(new URL('../../docs/operations.md', import.meta.url)), 'utf8');
  const [, query = ''] = /^### What needs the events of a month\n[^]*?```sql\n([^]*?)```/m.exec(page) ?? [];
  expect(query).toContain('2026-02-01');
  const after = new Date(`${month}-01T00:00:00Z`);
  after.setUTCMonth(after.getUTCMonth() + 1);
  const { rows } = await weir.pool.query(query.replaceAll('2026-02-01', after.toISOString().slice(0, 10)));
  return rows.filter(({ organization_id }) => organization_id === billing.admin.id);
}

const ATTACH = /attach events_2025_01/;
const NEEDS_JANUARY = { status: 409, body: { code: 'month_taken_out', detail: expect.stringMatching(ATTACH) } };

test('late usage of a due whose cut hour is taken out gives no money back, and waits for the month', async () => {
  const calls = await meterOf('SUM');
  const plan = await planOf(calls, '0.1');
  const [cut, other] = [await subscribe(plan, '2025-01-15T10:30:00Z'), await subscribe(plan, '2025-01-15')];
  for (const { customer } of [cut, other]) {
    await use({ meter: calls, customer, at: '2025-01-15T10:45:00.000Z', quantity: 600 });
    await use({ meter: calls, customer, at: '2025-01-20T00:00:00.000Z', quantity: 1_000 });
  }
  await runAt('2025-02-15T01:00:00Z');
  const billed = [{ status: 'OPEN', total: '160.00' }];
  expect([await invoicesOf(cut), await invoicesOf(other)]).toMatchObject([billed, billed]);

  expect(await neededOf('2025-01')).toEqual([]);
  for (const { customer } of [cut, other])
    await use({ meter: calls, customer, at: '2025-01-20T12:00:00.000Z', receivedAt: '2025-03-01T00:00:00Z' });
  expect(await neededOf('2025-01')).toMatchObject([lateOf(cut)]);
  await detachMonth(weir, '2025-01');
  await runAt('2025-03-15T01:00:00Z');
  const [, draft] = await invoicesOf(cut);
  expect(draft).toMatchObject({ status: 'DRAFT', run_error: expect.stringMatching(ATTACH) });
  expect(await invoicesOf(other)).toMatchObject([...billed, { status: 'OPEN', total: '0.10' }]);
  expect((await billing.get('/subscriptions?has_run_error=true')).data).toMatchObject([{ id: cut.id }]);
  expect(run.failures()).toBe(1);
  for (const path of [`/invoices/${draft?.id}`, `/invoices/${draft?.id}/lines`])
    expect(await billing.request('GET', path)).toMatchObject(NEEDS_JANUARY);
  expect(await billing.request('POST', `/invoices/${draft?.id}/finalize`)).toMatchObject(NEEDS_JANUARY);
  await readExpectedRevenue(billing.database.kysely, billing.admin.id, throwIt);
  const leftOut: unknown[] = [];
  expect(await reckonRevenue(billing.database, 10_000, (error) => leftOut.push(error))).toBe(1);
  expect(leftOut).toMatchObject([{ month: '2025-01' }]);
  expect((await billing.get('/overview')).expected.currencies).toMatchObject([{ drafts: '0.00', left_out: 1 }]);
  // Each try would find the same, so there is none for hours.
  await runAt('2025-03-15T06:00:00Z');
  expect(run.failures()).toBe(1);
  // It is not due before then, and is told as left out all the while.
  expect(await readRunState(billing.database.kysely)).toMatchObject({ draftsDue: 0, leftOut: 1 });

  await attachMonth(weir, '2025-01');
  expect(await linesOf(draft)).toMatchObject([{ kind: 'USAGE' }, { kind: 'LATE_USAGE', amount: '0.10' }]);
  await runAt('2025-03-15T08:00:00Z');
  expect(await invoicesOf(cut)).toMatchObject([...billed, { status: 'OPEN', total: '0.10', run_error: null }]);
  expect(await readRunState(billing.database.kysely)).toMatchObject({ leftOut: 0 });
}, 120_000);

test('what came late to a line is not listed in part where some of it is in a month that was taken out', async () => {
  const calls = await meterOf('SUM');
  const { id, customer } = await subscribe(await planOf(calls, '0.1'), '2025-01-15');
  await runAt('2025-02-15T01:00:00Z');
  const late = (at: string, receivedAt: string) => use({ meter: calls, customer, at, receivedAt });
  await late('2025-01-20T12:00:00.000Z', '2025-02-20T00:00:00Z');
  await late('2025-01-21T12:00:00.000Z', '2025-02-20T00:00:00Z');
  const [kept] = await late('2025-01-22T12:00:00.000Z', '2025-03-01T00:00:00Z');
  await runAt('2025-03-15T01:00:00Z');
  const invoice = (await invoicesOf({ id, customer })).at(-1);
  const lines = (await linesOf(invoice)) as { id: string; kind: string }[];
  const line = lines.find(({ kind }) => kind === 'LATE_USAGE');
  expect(line).toMatchObject({ kind: 'LATE_USAGE', amount: '0.30' });
  const path = `/invoices/${invoice?.id}/lines/${line?.id}/events?changes=true&limit=2`;
  const first = await billing.get(path);
  expect(first.data).toHaveLength(2);
  await detachMonth(weir, '2025-02');
  const taken = { code: 'month_taken_out', detail: expect.stringMatching(/attach events_2025_02/) };
  expect(await billing.request('GET', path)).toMatchObject({ status: 409, body: taken });
  await attachMonth(weir, '2025-02');
  await loseMonth(weir, '2025-02');
  const { data, meta } = await billing.get(path);
  expect(data).toEqual([]);
  const last = { data: [{ id: kept }], meta: { next_cursor: null } };
  expect(await billing.get(`${path}&cursor=${meta.next_cursor}`)).toMatchObject(last);
}, 120_000);

test('an invoice whose usage cannot be told is not voided to be billed again, and can be waived', async () => {
  const calls = await meterOf('SUM');
  const plan = await planOf(calls, '0.1');
  const [cut, whole] = [await subscribe(plan, '2025-01-15T10:30:00Z'), await subscribe(plan, '2025-01-15')];
  for (const { customer } of [cut, whole]) await use({ meter: calls, customer, at: '2025-01-15T10:45:00.000Z' });
  await runAt('2025-02-15T01:00:00Z');
  await detachMonth(weir, '2025-01');
  const [first, other] = await Promise.all([cut, whole].map(async (each) => (await invoicesOf(each))[0]));
  const again = (invoice: InvoiceRow | undefined) =>
    billing.request('POST', `/invoices/${invoice?.id}/void`, { rebill: true });
  expect(await again(first)).toMatchObject(NEEDS_JANUARY);
  expect((await invoicesOf(cut))[0]).toMatchObject({ status: 'OPEN' });
  expect(await again(other)).toMatchObject({ status: 200, body: { rebilled: true } });
  expect(await billing.post(`/invoices/${first?.id}/void`)).toMatchObject({ status: 'VOID', rebilled: false });
}, 120_000);

test('an invoice that took something away of what cannot be told is not voided at all, and can be given up', async () => {
  const calls = await meterOf('SUM');
  const { id, customer } = await subscribe(await planOf(calls, '0.1'), '2025-01-15T10:30:00Z');
  const at = ['2025-01-15T10:45:00.000Z', '2025-01-21T12:00:00.000Z'];
  const [, wrong = ''] = await use(...at.map((each) => ({ meter: calls, customer, at: each, quantity: 600 })));
  await runAt('2025-02-15T01:00:00Z');
  await use({ meter: calls, customer, at: '2025-02-20T00:00:00.000Z', quantity: 900 });
  await correct(billing.database, billing.admin.id, [{ eventId: wrong, reason: 'a test' }]);
  await runAt('2025-03-15T01:00:00Z');
  const [, second] = await invoicesOf({ id, customer });
  expect(second).toMatchObject({ status: 'OPEN', total: '30.00' });
  await detachMonth(weir, '2025-01');
  for (const rebill of [false, true])
    expect(await billing.request('POST', `/invoices/${second?.id}/void`, { rebill })).toMatchObject(NEEDS_JANUARY);
  expect(await billing.post(`/invoices/${second?.id}/uncollectible`)).toMatchObject({ status: 'UNCOLLECTIBLE' });
  await attachMonth(weir, '2025-01');
  expect(await billing.post(`/invoices/${second?.id}/void`)).toMatchObject({ status: 'VOID', rebilled: false });
}, 120_000);

test('late usage of what has ended waits for the month, and Home tells it until it is billed, also by hand', async () => {
  const calls = await meterOf('SUM');
  const plan = await planOf(calls, '0.1');
  const [cut, byHand] = [await subscribe(plan, '2025-01-15T10:30:00Z'), await subscribe(plan, '2025-01-15T10:30:00Z')];
  const both = [cut, byHand];
  for (const { customer } of both) await use({ meter: calls, customer, at: '2025-01-15T10:45:00.000Z', quantity: 600 });
  await runAt('2025-01-16T00:00:00Z');
  for (const { id } of both) await billing.post(`/subscriptions/${id}/cancel`, { cancel_at_period_end: true });
  await runAt('2025-02-15T01:00:00Z');
  expect(await invoicesOf(cut)).toMatchObject([{ status: 'OPEN', total: '60.00' }]);
  await detachMonth(weir, '2025-01');
  for (const { customer } of both)
    await use({ meter: calls, customer, at: '2025-01-20T12:00:00.000Z', receivedAt: '2025-03-01T00:00:00Z' });
  await billing.moveTo('2025-03-15T01:00:00Z');
  const settle = async () => {
    const jobs = await run.findSettling();
    for (const job of jobs) jobs.push(...(await run.perform(job)));
    return await invoicesOf(cut);
  };
  const failing = async () => {
    const { data } = await billing.get('/subscriptions?has_run_error=true');
    return data.map(({ id }: Subscribed) => id);
  };
  expect(await settle()).toHaveLength(1);
  expect(new Set(await failing())).toEqual(new Set(both.map(({ id }) => id)));
  expect(await settle()).toHaveLength(1);
  expect(run.failures()).toBe(2);
  // Nor is it told as billed in between, once it is tried again.
  await runAt('2025-03-15T08:00:00Z');
  expect(run.failures()).toBe(4);
  expect(await readRunState(billing.database.kysely)).toMatchObject({ oldestSeconds: 0, leftOut: 2 });
  expect(await billing.request('POST', `/subscriptions/${cut.id}/settle`)).toMatchObject(NEEDS_JANUARY);
  await attachMonth(weir, '2025-01');
  const bills = [{ total: '60.00' }, { status: 'OPEN', total: '0.10' }];
  await billing.post(`/subscriptions/${byHand.id}/settle`, {}, 201);
  expect(await failing()).toEqual([cut.id]);
  // What was put off may come to nothing.
  await postponeSettlement(billing.database.kysely, billing.admin.id, byHand.id, 'for a test');
  expect(await billing.post(`/subscriptions/${byHand.id}/settle`, {})).toEqual({ invoice: null });
  expect(await failing()).toEqual([cut.id]);
  const before = run.finalized();
  await runAt('2025-03-15T15:00:00Z');
  expect([await invoicesOf(cut), await invoicesOf(byHand)]).toMatchObject([bills, bills]);
  expect(run.finalized()).toBe(before + 1);
  expect(await failing()).toEqual([]);
}, 120_000);

test('an open due of a year whose first hour is taken out is not computed short, wherever it is read', async () => {
  const calls = await meterOf('SUM');
  const plan = await planOf(calls, '0.1', { billing_interval: 'year' });
  const { feature_id } = (await weir.pool.query('SELECT feature_id FROM meters WHERE id = $1', [calls.id])).rows[0];
  await billing.post(`/plans/${plan}/features`, { feature_id, usage_limit: 5_000 }, 201);
  const [cut, whole] = [await subscribe(plan, '2025-01-15T10:30:00Z'), await subscribe(plan, '2025-01-15')];
  await runAt('2025-01-16T00:00:00Z');
  for (const { customer } of [cut, whole]) {
    await use({ meter: calls, customer, at: '2025-01-15T10:45:00.000Z', quantity: 600 });
    await use({ meter: calls, customer, at: '2025-01-20T00:00:00.000Z', quantity: 900 });
  }
  await billing.moveTo('2025-03-01T00:00:00Z');
  const alerts = [
    await makeAlert(billing, { meter_id: calls.id }, [1_600]),
    await makeAlert(billing, { subscription_amount: true }, ['160.00']),
  ];
  const crossed = async () =>
    (await Promise.all(alerts.map((alert) => crossingsOf(billing, alert)))).map((crossings) =>
      crossings.map(({ customer_external_id, value }) => [customer_external_id, value]),
    );
  expect(await crossed()).toEqual([[], []]);
  const needed = [
    { subscription_id: cut.id, needed_for: 'a due that is not billed' },
    { subscription_id: cut.id, needed_for: 'a limit that never resets' },
  ];
  expect(await neededOf('2025-01')).toMatchObject(needed);
  expect(await neededOf('2024-12')).toEqual([]);

  await detachMonth(weir, '2025-01');
  const more = (quantity: number) =>
    use(...[cut, whole].map(({ customer }) => ({ meter: calls, customer, at: '2025-02-20T00:00:00.000Z', quantity })));
  await more(99);
  await more(1);
  expect(await performAlerts(billing.database, billing.admin.id, 0)).toMatchObject({ untold: [{ month: '2025-01' }] });
  expect(await crossed()).toEqual([[[whole.customer, '1600']], [[whole.customer, '160.00']]]);
  const reads = ({ id }: Subscribed) => [
    billing.request('GET', `/subscriptions/${id}/usage`),
    billing.request('POST', `/subscriptions/${id}/preview-invoice`),
  ];
  for (const answer of await Promise.all(reads(cut))) expect(answer).toMatchObject(NEEDS_JANUARY);
  for (const answer of await Promise.all(reads(whole))) expect(answer).toMatchObject({ status: 200 });
  // Services ask for these before each use, and a subscription is canceled where they are shown: they answer with what is there.
  const limitsOf = async ({ id, customer }: Subscribed) => [
    (await billing.get(`/entitlements?customer_external_id=${customer}`)).data,
    (await billing.get(`/subscriptions/${id}`)).entitlements,
  ];
  const counted = (usage: string) => [[{ usage, has_access: true }], [{ usage, has_access: true }]];
  expect(await limitsOf(cut)).toMatchObject(counted('1000'));
  expect(await limitsOf(whole)).toMatchObject(counted('1600'));
  await attachMonth(weir, '2025-01');
  expect(await limitsOf(cut)).toMatchObject(counted('1600'));
  await more(1);
  expect(await crossed()).toEqual(
    [
      ['1600', '1601'],
      ['160.00', '160.10'],
    ].map((values) => [whole, cut].map(({ customer }, index) => [customer, values[index]])),
  );

  await detachMonth(weir, '2025-01');
  await runAt('2026-01-16T00:00:00Z');
  expect(await invoicesOf(cut)).toMatchObject([{ status: 'DRAFT', run_error: expect.stringMatching(ATTACH) }]);
  expect(await invoicesOf(whole)).toMatchObject([{ status: 'OPEN', total: '160.10' }]);
  await attachMonth(weir, '2025-01');
  await runAt('2026-01-16T07:00:00Z');
  expect(await invoicesOf(cut)).toMatchObject([{ status: 'OPEN', total: '160.10' }]);
}, 120_000);

test('a worker whose alerts cannot tell usage says so at once, and again while that goes on', async () => {
  const calls = await meterOf('SUM');
  const { customer } = await subscribe(
    await planOf(calls, '0.1', { billing_interval: 'year' }),
    '2025-01-15T10:30:00Z',
  );
  await runAt('2025-01-16T00:00:00Z');
  await use({ meter: calls, customer, at: '2025-01-15T10:45:00.000Z' });
  await billing.moveTo('2025-03-01T00:00:00Z');
  await makeAlert(billing, { subscription_amount: true }, ['160.00']);
  await settleAlerts(billing);
  await detachMonth(weir, '2025-01');
  const told: string[] = [];
  const alerts = openAlerts({
    databaseUrl: weir.databaseUrl,
    statementTimeoutMs: 10_000,
    log: createLog('test', 'warn', [], { write: (line) => told.push((JSON.parse(line) as { msg: string }).msg) }),
    metrics: buildWorkerMetrics(),
  });
  onTestFinished(() => alerts.close());
  alerts.take(true);
  for (const times of [1, 2]) {
    await use({ meter: calls, customer, at: '2025-02-20T00:00:00.000Z' });
    await until(() => told.length === times, `it is told ${times} times`);
  }
  expect(new Set(told)).toEqual(new Set(['alerts cannot tell some usage']));
});

test('an invoice is computed again where what it needs is there, and else the month is named', async () => {
  const meters = {
    calls: await meterOf('SUM'),
    peak: await meterOf('MAX'),
    users: await meterOf('UNIQUE_COUNT'),
  };
  const plans = {
    calls: await planOf(meters.calls, '0.1'),
    peak: await planOf(meters.peak, '1'),
    users: await planOf(meters.users, '2'),
  };
  const start = (kind: keyof typeof plans, at = '2025-01-01') => subscribe(plans[kind], at);
  const [cut, whole] = [await start('calls', '2025-01-15T10:30:00Z'), await start('calls')];
  const [higher, lower] = [await start('peak'), await start('peak')];
  const [added, gone] = [await start('users'), await start('users')];
  const [at, half, later] = ['2025-01-20T10:10:00.000Z', '2025-01-20T10:40:00.000Z', '2025-01-21T00:00:00.000Z'];
  for (const { customer } of [cut, whole]) {
    await use({ meter: meters.calls, customer, at: '2025-01-15T10:45:00.000Z', quantity: 600 });
    await use({ meter: meters.calls, customer, at, quantity: 1_000 });
  }
  for (const { customer } of [higher, lower]) {
    await use({ meter: meters.peak, customer, at, quantity: 900 });
    await use({ meter: meters.peak, customer, at: later, quantity: 700 });
  }
  const [voided = ''] = await use({ meter: meters.users, customer: gone.customer, at, user: 'ben' });
  await use({ meter: meters.users, customer: gone.customer, at: later });
  for (const user of ['ada', 'ben', 'eve']) await use({ meter: meters.users, customer: added.customer, at, user });
  const all = [cut, whole, higher, lower, added, gone];
  await runAt('2025-02-15T01:00:00Z');
  const receivedAt = '2025-02-20T00:00:00Z';
  await use({ meter: meters.peak, customer: higher.customer, at: half, receivedAt, quantity: 950 });
  await use({ meter: meters.peak, customer: lower.customer, at: half, receivedAt, quantity: 100 });
  await use({ meter: meters.users, customer: added.customer, at, receivedAt, user: 'zoe' });
  await correct(billing.database, billing.admin.id, [{ eventId: voided, reason: 'a test' }]);
  const late = [higher, lower, added, gone].map(lateOf);
  expect((await neededOf('2025-01')).toSorted(bySubscription)).toMatchObject(late.toSorted(bySubscription));
  await runAt('2025-03-15T01:00:00Z');
  expect(await neededOf('2025-01')).toEqual([]);
  const firsts = await Promise.all(all.map(async (subscribed) => (await invoicesOf(subscribed))[0]));
  expect(firsts.map((invoice) => invoice?.total)).toEqual(['160.00', '160.00', '900.00', '900.00', '6.00', '4.00']);
  const outcomes = async (from: 'rollups' | 'events') =>
    await Promise.all(
      firsts.map(async (first) => {
        const { status, body } = await recompute(first, from);
        return status === 200 ? body.identical : body.code;
      }),
    );
  const identical = all.map(() => true);
  expect([await outcomes('rollups'), await outcomes('events')]).toEqual([identical, identical]);

  await detachMonth(weir, '2025-01');
  const [yes, no] = [true, 'month_taken_out'];
  expect(await outcomes('rollups')).toEqual([no, yes, no, yes, no, no]);
  expect(await outcomes('events')).toEqual(all.map(() => no));
  expect(await recompute(firsts[0], 'rollups')).toMatchObject(NEEDS_JANUARY);
  const { billing: balance, ...found } = await reconcileHere(weir, billing.database, {
    archivedThrough: '2025-01',
    invoices: true,
    organizationId: billing.admin.id,
  });
  const asked = parseReconcileOptions(['--archived-through', '2025-01', '--invoices'], newCommand());
  expect(balance?.invoices).toMatchObject({ differing: 0, takenOut: 4, monthsToAttach: ['2025-01'] });
  expect(balance?.isEqual).toBe(true);
  expect(describeReconciliation({ billing: balance, ...found }, asked)).toContain(
    '4 invoices need a month that was taken out, and are not computed: attach events_2025_01',
  );

  await attachMonth(weir, '2025-01');
  expect([await outcomes('rollups'), await outcomes('events')]).toEqual([identical, identical]);
}, 120_000);
