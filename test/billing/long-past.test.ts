// A start long ago, and dues with many tiers: what a request opens and what the run takes on at once is bounded by what it holds.

import { cutByWeight } from '@weir/db/billing/invoices/cut-by-weight';
import { openDueSubscriptions } from '@weir/db/billing/run/run-work';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openRun } from '../support/billing-run.ts';
import { startInvoicing, type Invoicing } from '../support/invoicing.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
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
  for (const step of steps) expect(step).toBeLessThan(3_000);
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
