// Drafts of which one cannot be computed: the others are listed and finalized, and that one says why.

import { beforeAll, beforeEach, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { startInvoicing, type Invoicing } from '../support/invoicing.ts';
import { attachMonth, detachMonth, makeMonthsSince, recordUsed } from '../support/months.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let billing: Invoicing;
let plan: string;
let meter: { id: string; aggregation: 'SUM' };

beforeAll(() => makeMonthsSince(weir, '2025-01-01'));
beforeEach(async () => {
  billing = await startInvoicing(weir);
  await weir.pool.query(`UPDATE organizations SET created_at = '2024-12-31' WHERE id = $1`, [billing.admin.id]);
  await billing.request('PATCH', '/billing/settings', { finalize: 'manual' });
  meter = { id: (await billing.meter('SUM')).id, aggregation: 'SUM' };
  const charge = { type: 'USAGE', display_name: 'Usage', meter_id: meter.id, unit_price: '0.1' };
  plan = (await billing.plan([charge])).id;
  await billing.moveTo('2025-03-15T00:30:00Z');
  return () => billing.close();
});

/** A subscription whose first period and the next one are drafts, with usage of its first hour and of a later one. */
async function subscribe(start: string): Promise<string> {
  const { id: customer, external_id } = await billing.customer();
  await recordUsed(weir, billing.admin.id, [
    { meter, customer: external_id, at: '2025-01-15T10:45:00.000Z', quantity: 600 },
    { meter, customer: external_id, at: '2025-01-20T00:00:00.000Z', quantity: 400 },
    { meter, customer: external_id, at: '2025-02-20T00:00:00.000Z', quantity: 50 },
  ]);
  return (await billing.subscribe(plan, customer, { start_date: start })).id;
}

interface Listed {
  id: string;
  total: string;
  amount_due: string;
  computed_at: string | null;
  not_computed: object | null;
}

/** The drafts of a subscription in the list of all drafts, earliest first. */
async function listed(subscription: string): Promise<Listed[]> {
  const { data } = await billing.get('/invoices?status=DRAFT&sort=created_at&limit=100');
  return data.filter(({ subscription_id }: { subscription_id: string }) => subscription_id === subscription);
}

const computed = (total: string) => ({ total, amount_due: total, computed_at: expect.any(String), not_computed: null });
const notComputed = (not_computed: object) => ({ ...computed('0.00'), computed_at: null, not_computed });

const JANUARY = { code: 'month_taken_out', detail: expect.stringMatching(/attach events_2025_01 first/) };
const finalize = async (drafts: { id: string }[]) =>
  (await billing.post('/invoices/finalize', { ids: drafts.map(({ id }) => id) })).data;

test('of which one needs a month that was taken out are listed and finalized without it', async () => {
  const [cut, whole] = [await subscribe('2025-01-15T10:30:00Z'), await subscribe('2025-01-15')];
  await detachMonth(weir, '2025-01');
  try {
    const [waiting, drafts] = [await listed(cut), await listed(whole)];
    expect(waiting).toMatchObject([notComputed(JANUARY), computed('5.00')]);
    expect(drafts).toMatchObject([computed('100.00'), computed('5.00')]);
    expect((await billing.get(`/subscriptions/${cut}/invoices`)).data.toReversed()).toMatchObject([
      notComputed(JANUARY),
      computed('5.00'),
    ]);
    expectProblem(await billing.request('GET', `/invoices/${waiting[0]?.id}`), 409, 'month_taken_out');
    expect(await finalize([...waiting, ...drafts])).toMatchObject([
      { id: waiting[0]?.id, outcome: 'not_computed', invoice_number: null, not_computed: JANUARY },
      { id: waiting[1]?.id, outcome: 'earlier_draft', invoice_number: null },
      { id: drafts[0]?.id, outcome: 'finalized', invoice_number: 'INV-2025-000001' },
      { id: drafts[1]?.id, outcome: 'finalized', invoice_number: 'INV-2025-000002' },
    ]);
    expect(await listed(cut)).toMatchObject([notComputed(JANUARY), computed('5.00')]);
  } finally {
    await attachMonth(weir, '2025-01');
  }
  expect(await finalize(await listed(cut))).toMatchObject([
    { outcome: 'finalized', invoice_number: 'INV-2025-000003' },
    { outcome: 'finalized', invoice_number: 'INV-2025-000004' },
  ]);
  for (const subscription of [cut, whole]) {
    const { data } = await billing.get(`/subscriptions/${subscription}/invoices`);
    expect(data).toMatchObject([{ total: '5.00' }, { total: '100.00' }]);
    for (const { id } of data)
      expect(await billing.post(`/invoices/${id}/recompute`)).toMatchObject({ identical: true });
  }
});

test('of which one has terms that cannot be priced are listed and finalized without it', async () => {
  const [spoiled, whole] = [await subscribe('2025-01-15'), await subscribe('2025-01-15')];
  const setPrice = (price: string) =>
    weir.pool.query(
      `UPDATE dues SET terms = jsonb_set(terms, '{unit_price}', to_jsonb($2::text)) WHERE subscription_id = $1 AND cycle = 0`,
      [spoiled, price],
    );
  await setPrice('many');
  const broken = { code: 'internal_error', detail: expect.stringMatching(/has been logged/) };
  const drafts = await listed(spoiled);
  expect(drafts).toMatchObject([notComputed(broken), computed('5.00')]);
  expect(await finalize([...drafts, ...(await listed(whole))])).toMatchObject([
    { outcome: 'not_computed', not_computed: broken },
    { outcome: 'earlier_draft' },
    { outcome: 'finalized' },
    { outcome: 'finalized' },
  ]);
  expectProblem(await billing.request('POST', `/invoices/${drafts[0]?.id}/finalize`), 500, 'internal_error');
  await setPrice('0.1');
  expect(await finalize(drafts)).toMatchObject([{ outcome: 'finalized' }, { outcome: 'finalized' }]);
});
