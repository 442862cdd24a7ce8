// What may be expected to be invoiced: reckoned by a worker in steps, for who looks at the overview.

import { openDatabase } from '@weir/db/database';
import { readExpectedRevenue, reckonRevenue } from '@weir/db/billing/run/expected-revenue';
import { settleSubscription } from '@weir/db/billing/run/settlements';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { watchRows } from '../support/held-rows.ts';
import { startBilled, type Billed } from '../support/invoicing.ts';
import { ownWeir } from '../support/use-weir.ts';

// A worker reckons by itself, so there is one only while it records.
const weir = ownWeir({ withWorker: false });
let billing: Billed;

// It is 00:10 of 1 February 2025, and there is a draft of 10.00 for February and of what January has used.
beforeEach(async () => {
  billing = await startBilled(weir);
  await use([200, '2025-01-10T00:00:00Z'], [400, '2025-02-10T00:00:00Z']);
});
afterEach(() => billing.close());

async function use(...events: [quantity: number, at: string][]): Promise<void> {
  const worker = await weir.startWorker();
  for (const [quantity, at] of events) await billing.use(quantity, at);
  await worker.close();
}

const look = async () => (await billing.get('/overview')).expected;
const throwIt = (error: unknown) => {
  throw error;
};
/** As a worker does, in steps of one. */
const reckon = (onError: (error: unknown, organizationId: string) => void = throwIt) =>
  reckonRevenue(billing.database, 10_000, onError, { step: 1 });

test('drafts and open periods are added up by currency, for who looks, and again when that is old', async () => {
  const yen = await billing.plan(
    [
      { type: 'USAGE', display_name: 'Calls', meter_id: (await billing.meter()).id, unit_price: '1' },
      { type: 'FIXED', display_name: 'Support', unit_price: '500', timing: 'in_arrears' },
    ],
    { currency: 'JPY' },
  );
  const other = await billing.customer();
  await billing.subscribe(yen.id, other.id, { start_date: '2025-02-01T00:00:00Z' });
  expect(await look()).toBeNull();
  expect(await reckon()).toBe(1);
  const expected = await look();
  expect(expected.currencies).toEqual([
    { currency: 'JPY', drafts: '0', open_periods: '500', rebilled: '0', total: '500', left_out: 0 },
    { currency: 'USD', drafts: '13.00', open_periods: '6.00', rebilled: '0.00', total: '19.00', left_out: 0 },
  ]);
  // It is told again as it is, and nobody reckons meanwhile.
  await use([100, '2025-02-11T00:00:00Z']);
  expect([await reckon(), await look()]).toEqual([0, expected]);
  await billing.moveTo('2025-02-01T00:30:00Z');
  expect([await look(), await reckon()]).toEqual([expected, 1]);
  expect((await look()).currencies[1].open_periods).toBe('7.50');
  // A draft that is finalized is expected no more.
  await billing.finalizeAll(billing.subscription);
  await billing.moveTo('2025-02-01T01:00:00Z');
  await look();
  await reckon();
  expect((await look()).currencies[1]).toMatchObject({ drafts: '0.00', total: '7.50' });
});

test('a period is of the month of its last day, where its customer is', async () => {
  const arrears = [{ type: 'FIXED', display_name: 'Support', unit_price: '100', timing: 'in_arrears' }];
  const of = async (currency: string, fields: object, start: object, customer: object = {}) => {
    const plan = await billing.plan(arrears, { currency, ...fields });
    const { id } = await billing.subscribe(plan.id, (await billing.customer(customer)).id, start);
    return id;
  };
  const year = await of('EUR', { billing_interval: 'year' }, { start_date: '2025-02-01T00:00:00Z' });
  // Its February ends on 1 March of the organization.
  const west = await of(
    'CHF',
    {},
    { start_date: '2025-01-20T00:00:00Z', billing_alignment: 'calendar' },
    { time_zone: 'America/Los_Angeles' },
  );
  await billing.moveTo('2025-02-10T00:00:00Z', west);
  await look();
  await reckon();
  const open = async () =>
    (await look()).currencies.map((each: Record<string, string>) => [each['currency'], each['open_periods']]);
  expect(await open()).toEqual([
    ['CHF', '100.00'],
    ['USD', '6.00'],
  ]);
  await billing.moveTo('2026-01-15T00:00:00Z', year);
  await look();
  await reckon();
  expect(await open()).toContainEqual(['EUR', '100.00']);
});

/** What is expected in euros, as it is reckoned at that time. */
async function expectedAt(time: string) {
  await billing.moveTo(time);
  await look();
  await reckon();
  return (await look()).currencies.find(({ currency }: { currency: string }) => currency === 'EUR');
}

test('what was voided to be billed again is expected, where no draft and no invoice of this month has it', async () => {
  const plan = await billing.plan([{ type: 'FIXED', display_name: 'Base', unit_price: '1200' }], {
    currency: 'EUR',
    billing_interval: 'year',
  });
  const { id } = await billing.subscribe(plan.id, (await billing.customer()).id, { start_date: '2025-02-01' });
  const of = (drafts: string, rebilled: string, total: string) => ({
    currency: 'EUR',
    drafts,
    open_periods: '0.00',
    rebilled,
    total,
    left_out: 0,
  });
  const [nothing, price] = ['0.00', '1200.00'];
  expect(await expectedAt('2025-02-01T01:00:00Z')).toEqual(of(price, nothing, price));
  const [invoice] = await billing.finalizeAll(id);
  expect(await expectedAt('2025-02-01T02:00:00Z')).toBeUndefined();
  await billing.post(`/invoices/${invoice.id}/void`, { rebill: true });
  expect(await expectedAt('2025-02-01T03:00:00Z')).toEqual(of(nothing, price, price));
  // In the month that the period ends in, its invoice has it, and then its draft.
  expect(await expectedAt('2026-01-20T00:00:00Z')).toEqual({ ...of(nothing, nothing, price), open_periods: price });
  await billing.moveTo('2026-02-01T00:00:00Z', id);
  expect(await expectedAt('2026-02-01T00:10:00Z')).toEqual(of('2400.00', nothing, '2400.00'));
});

test('what is to be billed again is expected once where a draft of a subscription that has ended has it', async () => {
  await billing.request('PATCH', '/billing/settings', { finalize: 'manual' });
  const charge = { type: 'FIXED', display_name: 'Setup', unit_price: '90', timing: 'in_arrears' };
  const plan = await billing.plan([charge], { currency: 'EUR' });
  const { id } = await billing.subscribe(plan.id, (await billing.customer()).id, { start_date: '2025-02-01' });
  await billing.post(`/subscriptions/${id}/cancel`, { cancel_at_period_end: false });
  const [last] = await billing.finalizeAll(id);
  await billing.post(`/invoices/${last.id}/void`, { rebill: true });
  const { total } = last;
  const figures = { currency: 'EUR', open_periods: '0.00', total, left_out: 0 };
  expect(await expectedAt('2025-02-01T01:00:00Z')).toEqual({ ...figures, drafts: '0.00', rebilled: total });
  const settled = await settleSubscription(billing.database, billing.admin.id, id, { actor: 'weir' });
  expect(settled.outcome).toBe('drafted');
  expect(await expectedAt('2025-02-01T02:00:00Z')).toEqual({ ...figures, drafts: total, rebilled: '0.00' });
});

test('two workers that reckon at the same time count every subscription once', async () => {
  for (let times = 0; times < 4; times += 1) {
    await billing.subscribe(billing.ownPlan.id, (await billing.customer()).id, { start_date: '2025-02-01T00:00:00Z' });
  }
  await look();
  const ended = await Promise.all([reckon(), reckon(), reckon()]);
  expect(ended.reduce((sum, each) => sum + each, 0)).toBe(1);
  expect((await look()).currencies).toEqual([
    { currency: 'USD', drafts: '53.00', open_periods: '6.00', rebilled: '0.00', total: '59.00', left_out: 0 },
  ]);
});

test('a step holds no more than it may compute at once, and comes to the same', async () => {
  for (let times = 0; times < 4; times += 1) {
    await billing.subscribe(billing.ownPlan.id, (await billing.customer()).id, { start_date: '2025-02-01T00:00:00Z' });
  }
  const { rows } = await weir.pool.query('SELECT id FROM subscriptions WHERE organization_id = $1', [billing.admin.id]);
  // Each has two drafts.
  await billing.moveTo('2025-03-01T00:10:00Z', ...rows.map(({ id }) => id));
  await look();
  expect(await reckonRevenue(billing.database, 10_000, throwIt)).toBe(1);
  const { currencies } = await look();
  expect(currencies).toEqual([
    { currency: 'USD', drafts: '109.00', open_periods: '0.00', rebilled: '0.00', total: '109.00', left_out: 0 },
  ]);
  // A draft of a whole period weighs 3 MB, and an open period 2 MB.
  await weir.pool.query('UPDATE charges SET terms = terms || $1 WHERE organization_id = $2', [
    { x: 'x'.repeat(1_000_000) },
    billing.admin.id,
  ]);
  await billing.moveTo('2025-03-01T00:30:00Z');
  await look();
  const watched = watchRows(billing.database);
  let steps = 1;
  while ((await reckonRevenue(watched.database, 0, throwIt)) === 0) steps += 1;
  expect(steps).toBe(8);
  expect(watched.take('terms').most).toBe(4);
  expect((await look()).currencies).toEqual(currencies);
});

test('what cannot be computed is left out and counted, and all else is added up', async () => {
  await billing.subscribe(billing.ownPlan.id, (await billing.customer()).id, { start_date: '2025-02-01T00:00:00Z' });
  await look();
  await weir.pool.query(
    `UPDATE dues SET terms = jsonb_set(terms, '{unit_price}', '"many"') WHERE subscription_id = $1`,
    [billing.subscription],
  );
  const failed: unknown[] = [];
  expect(await reckon((error) => failed.push(error))).toBe(1);
  expect((await look()).currencies).toEqual([
    { currency: 'USD', drafts: '10.00', open_periods: '0.00', rebilled: '0.00', total: '10.00', left_out: 2 },
  ]);
  expect(failed.length).toBe(1);
});

test('a Postgres that takes no writes is not asked for the next time, and keeps its connection', async () => {
  const readOnly = openDatabase(weir.databaseUrl, {
    connectionsMax: 1,
    statementTimeoutMs: 10_000,
    onConnectionError: throwIt,
  });
  const pid = async () => (await readOnly.pool.query('SELECT pg_backend_pid() AS pid')).rows[0]?.pid;
  const read = () => readExpectedRevenue(readOnly.kysely, billing.admin.id, throwIt);
  try {
    await readOnly.pool.query('SET default_transaction_read_only = on');
    const before = await pid();
    expect(await read()).toBeNull();
    await look();
    await reckon();
    // What there is, is old.
    await billing.moveTo('2025-02-01T01:00:00Z');
    expect((await read())?.currencies).toHaveLength(1);
    expect(await pid()).toBe(before);
  } finally {
    await readOnly.close();
  }
  expect([await reckon(), (await look()) === null, await reckon()]).toEqual([0, false, 1]);
});

test('one that cannot be reckoned is given up, and holds up nobody else', async () => {
  await look();
  const good = await startBilled(weir);
  try {
    await readExpectedRevenue(good.database.kysely, good.admin.id, throwIt);
    await weir.pool.query(`UPDATE organizations SET time_zone = 'Nowhere/Land' WHERE id = $1`, [billing.admin.id]);
    const failed: string[] = [];
    expect(await reckon((_, organizationId) => failed.push(organizationId))).toBe(1);
    expect(failed).toEqual([billing.admin.id]);
    const [mine, theirs] = [billing.admin.id, good.admin.id].map((id) =>
      readExpectedRevenue(good.database.kysely, id, throwIt),
    );
    expect([await mine, (await theirs)?.currencies.length]).toEqual([null, 1]);
  } finally {
    await good.close();
  }
});
