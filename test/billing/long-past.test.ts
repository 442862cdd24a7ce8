// A start long ago, and dues with many tiers: what a request opens and what the run takes on at once is bounded by what it holds.

import { cutByWeight } from '@weir/db/billing/invoices/cut-by-weight';
import { openDueSubscriptions } from '@weir/db/billing/run/run-work';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openRun } from '../support/billing-run.ts';
import { until } from '../support/harness.ts';
import { startInvoicing, type Invoicing } from '../support/invoicing.ts';
import { proofSize } from '../support/proof-size.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let billing: Invoicing;

beforeEach(async () => {
  billing = await startInvoicing(weir);
});
afterEach(async () => {
  await weir.pool.query('UPDATE subscriptions SET run_at = NULL');
  await weir.pool.query('UPDATE invoices SET run_at = NULL, past_due_at = NULL');
  await billing.close();
});

const fixed = (index: number) => ({ type: 'FIXED', display_name: `Part ${index}`, unit_price: '1' });

/** 20 graduated prices of 100 tiers each: 10 KB or so for each due. */
async function heavyPlan(): Promise<string> {
  const tiers = Array.from({ length: 100 }, (_, index) => {
    return { up_to: index === 99 ? null : String(index + 1), unit_price: '0.000000000000000001', flat_fee: '0' };
  });
  const charges = [];
  for (let index = 0; index < 20; index += 1) {
    const { id } = await billing.meter('SUM');
    charges.push({ type: 'USAGE', display_name: 'Calls', meter_id: id, model: 'graduated', tiers });
  }
  return (await billing.plan(charges, { billing_interval: 'day' })).id;
}

async function draftIds(subscription: string): Promise<string[]> {
  const found = 'SELECT id FROM invoices WHERE subscription_id = $1 ORDER BY id';
  return (await weir.pool.query(found, [subscription])).rows.map(({ id }) => id);
}

const isBehind = async (id: string): Promise<boolean> =>
  (await openDueSubscriptions(billing.database, billing.admin.id, [id])).isBehind;

test('a request opens the first periods of a long past and says how many the run has to open', async () => {
  const charges = Array.from({ length: 12 }, (_, index) => fixed(index));
  await billing.request('PATCH', '/billing/settings', { invoice_grace_hours: 0 });
  const { id: plan } = await billing.plan(charges, { billing_interval: 'day' });
  const { id: customer } = await billing.customer();
  await billing.moveTo('2026-06-30T12:00:00Z');
  const made = await billing.post(
    '/subscriptions',
    { plan_id: plan, customer_id: customer, start_date: '2025-06-30' },
    201,
  );
  expect(made.periods_to_open).toBeGreaterThan(100);
  expect(made.cycle + 1 + made.periods_to_open).toBe(366);
  const path = `/subscriptions/${made.id}`;
  expect(await billing.get(path)).toMatchObject({ cycle: made.cycle, periods_to_open: made.periods_to_open });
  // What changes it waits, and changes nothing. What reads it goes on.
  const { id: other } = await billing.plan([fixed(0)], { billing_interval: 'day' });
  const behind = { code: 'subscription_behind' };
  // Other requests could open the rest in one go: another subscription of the customer does a part of it.
  await weir.pool.query('UPDATE charges SET terms = terms || jsonb_build_object($1::text, repeat($2, 30000))', [
    'x',
    'x',
  ]);
  for (const [what, body] of [
    ['cancel', {}],
    ['cancel', { cancel_at_period_end: false }],
    ['change', { plan_id: other }],
  ] as const)
    expect(await billing.post(`${path}/${what}`, body, 409)).toMatchObject(behind);
  await weir.pool.query('UPDATE charges SET terms = terms - $1::text', ['x']);
  expect((await billing.post(`${path}/preview-invoice`)).cycle).toBe(made.cycle + 1);
  const run = openRun(weir, billing.database);
  await run.untilDone();
  expect(run.failures()).toBe(0);
  expect(await billing.get(path)).toMatchObject({
    cycle: 365,
    periods_to_open: 0,
    current_period_end: '2026-07-01T00:00:00.000Z',
  });
  const { rows } = await weir.pool.query(
    `SELECT cycle, total, invoice_number FROM invoices WHERE subscription_id = $1 ORDER BY invoice_number`,
    [made.id],
  );
  expect(rows.map(({ cycle, total }) => [cycle, total])).toEqual(
    Array.from({ length: 366 }, (_, cycle) => [cycle, '12.00']),
  );
  expect(await billing.post(`${path}/cancel`)).toMatchObject({ cancel_at_period_end: true });
}, 120_000);

test('a short past is open at once', async () => {
  const { id: plan } = await billing.plan([fixed(0)], { billing_interval: 'day' });
  const { id: customer } = await billing.customer();
  await billing.moveTo('2026-06-30T12:00:00Z');
  const body = { plan_id: plan, customer_id: customer, start_date: '2024-01-01' };
  expect(await billing.post('/subscriptions', body, 201)).toMatchObject({ cycle: 911, periods_to_open: 0 });
});

test('one transaction opens no more dues than it can hold, and the next one goes on', async () => {
  const plan = await heavyPlan();
  const { id: customer } = await billing.customer();
  await billing.moveTo('2026-06-30T12:00:00Z');
  const { id } = await billing.subscribe(plan, customer, { start_date: '2025-12-30' });
  const opened = async () =>
    (await weir.pool.query('SELECT count(*)::integer AS n FROM dues WHERE subscription_id = $1', [id])).rows[0].n;
  const counts = [await opened()];
  while (await isBehind(id)) counts.push(await opened());
  counts.push(await opened());
  const steps = counts.map((count, index) => count - (counts[index - 1] ?? 0));
  expect(steps.length).toBeGreaterThan(2);
  for (const step of steps) expect(step).toBeLessThan(400);
  expect(counts.at(-1)).toBe(183 * 20);
}, 120_000);

test('invoices of many tiers are computed a few at a time, and plain ones hundreds', async () => {
  const { id: customer } = await billing.customer();
  const plan = await heavyPlan();
  await billing.moveTo('2026-03-31T12:00:00Z');
  const { id } = await billing.subscribe(plan, customer, { start_date: '2026-01-01' });
  while (await isBehind(id));
  const heavy = await draftIds(id);
  const chunks = await cutByWeight(billing.database.kysely, billing.admin.id, heavy);
  expect(chunks.flat()).toEqual(heavy);
  expect(chunks.length).toBeGreaterThan(1);
  for (const chunk of chunks) expect(chunk.length).toBeLessThan(80);

  const { id: plain } = await billing.plan([fixed(0), fixed(1), fixed(2)], { billing_interval: 'day' });
  const { id: light } = await billing.subscribe(plain, (await billing.customer()).id, { start_date: '2025-01-01' });
  while (await isBehind(light));
  const ids = await draftIds(light);
  expect(ids.length).toBe(455);
  expect(await cutByWeight(billing.database.kysely, billing.admin.id, ids)).toEqual([ids]);
}, 120_000);

const { size } = proofSize('LONG_PAST');
/** As many days as each of two customers has behind it; 450 where it is large. */
const DAYS = 75 * size;
const ALL = 2 * DAYS;
/** A few chunks of them are enough to see that one fits into memory; all where it is large. */
const BILLED = size === 1 ? 40 : ALL;
/** Of old objects, in megabytes. A worker that does nothing has half of it, and a chunk of ten times as much does not fit. */
const HEAP_MB = 64;
const MEMORY_MB_MAX = 600;
/** As many periods, or invoices, as one transaction takes on: 2.5 or 3 MB of them. */
const AT_ONCE_MAX = 30;

/** The most memory that a process had so far. */
function peakMb(pid: number | undefined): number {
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1_024;
}

test('a worker with little memory bills a long past of many tiers, and others beside it', async () => {
  const other = await startInvoicing(weir);
  await other.request('PATCH', '/billing/settings', { invoice_grace_hours: 0 });
  const meter = await other.meter();
  const { id: plain } = await other.plan([fixed(0)]);
  /** Has an event recorded, and a first invoice made. */
  const billOther = async (): Promise<void> => {
    const { id: customer, external_id } = await other.customer();
    const { id } = await other.subscribe(plain, customer, { start_date: '2026-06-30' });
    await other.track([{ meter, customer: external_id, quantity: 1, at: '2026-06-30T00:00:00Z' }]);
    const made = async () => (await other.get(`/subscriptions/${id}/invoices?status=OPEN`)).data.length === 1;
    await until(made, 'the first invoice of another organization is made');
  };

  const plan = await heavyPlan();
  await billing.post(`/plans/${plan}/charges`, fixed(0), 201);
  const set = (fields: object) => billing.request('PATCH', '/billing/settings', fields);
  await set({ invoice_grace_hours: 0, finalize: 'manual' });
  await billing.moveTo('2026-06-30T12:00:00Z');
  const start_date = new Date(Date.parse('2026-06-30') - DAYS * 86_400_000).toISOString().slice(0, 10);
  for (let customers = 0; customers < 2; customers += 1)
    await billing.subscribe(plan, (await billing.customer()).id, { start_date });
  const most = (table: string) => `(SELECT max(n) FROM (
    SELECT count(*)::int AS n FROM ${table} WHERE organization_id = $1 GROUP BY xmin::text) AS written)`;
  const last = (table: string, of: string) =>
    `(SELECT max(xmin::text::bigint)::int FROM ${table} WHERE organization_id = ${of})`;
  const read = async () => {
    const { rows } = await weir.pool.query(
      `SELECT (SELECT count(*)::int FROM subscription_periods WHERE organization_id = $1) AS opened, ${most('subscription_periods')} AS "openedAtOnce",
         (SELECT count(*)::int FROM invoices WHERE organization_id = $1 AND status = 'OPEN') AS billed,
         ${most(`(SELECT xmin, * FROM invoices WHERE status = 'OPEN') AS invoices`)} AS "billedAtOnce",
         ${last('subscription_periods', '$1')} AS "lastOpened", ${last('invoices', '$2')} AS "lastOfOther"`,
      [billing.admin.id, other.admin.id],
    );
    return rows[0];
  };

  // All of it is there when the worker comes, as is the other's.
  const first = billOther();
  await until(async () => (await weir.stagedEvents()) === 1, 'an event waits');
  const worker = await weir.spawnWorker({
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`,
    BILLING_CONCURRENCY: '1',
    BILLING_INTERVAL_MS: '100',
  });
  const died = once(worker.child, 'exit').then(([code, signal]) => {
    throw new Error(`the worker ended with ${code ?? signal}`);
  });
  const seconds = DAYS;
  const work = async (): Promise<void> => {
    await first;
    await until(async () => (await read()).opened >= ALL, 'all of the past is open', seconds);
    const { lastOfOther, lastOpened } = await read();
    expect(lastOfOther).toBeLessThan(lastOpened);
    await set({ finalize: 'automatic' });
    await billOther();
    expect((await read()).billed).toBeLessThan(ALL);
    await until(async () => (await read()).billed >= BILLED, 'the past is billed', seconds);
  };
  await Promise.race([work(), died]);
  const { openedAtOnce, billedAtOnce } = await read();
  const memory = peakMb(worker.child.pid);
  await worker.stop();
  await other.close();
  expect(openedAtOnce).toBeLessThan(AT_ONCE_MAX);
  expect(billedAtOnce).toBeLessThan(AT_ONCE_MAX);
  expect(memory).toBeLessThan(MEMORY_MB_MAX);
  // Each wait has a bound of its own, by the size.
}, 1_440_000);
