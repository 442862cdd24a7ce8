// Every finalized invoice can be computed again, to the last digit, from what is recorded: at once, and after anything that may
// happen later. From rollups and from single events alike.

import { listUnits, rebuildUnit } from '@weir/db/rollup-check';
import { listFinalizedInvoices, recomputeInvoices } from '@weir/db/billing/invoices/recompute';
import type { ChargeModel } from '@weir/rating/charge-terms';
import { AGGREGATION_TYPES } from '@weir/shared/meter';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { expectProblem } from '../support/expect-problem.ts';
import { startInvoicing, type Invoicing, type PricedMeter } from '../support/invoicing.ts';
import { ownWeir } from '../support/use-weir.ts';

const tiers = [
  { up_to: 7, unit_price: '0.333', flat_fee: '1' },
  { up_to: null, unit_price: '0.1', flat_fee: '0.5' },
];
/** Of each model: one that is missing does not compile. */
const TERMS: Record<ChargeModel, object> = {
  per_unit: { unit_price: '0.0123', included_units: '2.5', minimum_amount: '0.7' },
  graduated: { tiers },
  volume: { tiers },
  package: { unit_price: '0.3', package_size: '3' },
  percentage: { rate: '1.7', fixed_amount: '0.011' },
};
const PRICES = [
  ...Object.entries(TERMS).map(([model, terms]) => ({ model, ...terms })),
  { unit_price: '0.07', maximum_amount: '0.5' },
  { unit_price: '0.5' },
];
/** Each at least once, and as many as there are prices. */
const AGGREGATIONS = Array.from(
  { length: Math.max(AGGREGATION_TYPES.length, PRICES.length) },
  (_, at) => AGGREGATION_TYPES[at % AGGREGATION_TYPES.length],
);

const weir = ownWeir();
let billing: Invoicing;
let meters: PricedMeter[];
let customer: { id: string; external_id: string };
let plan: { id: string; charges: string[] };
let subscription: string;

afterEach(() => billing.close());

/**
 * In an organization of its own, since billing goes back in time for the next test: a subscription with a charge of every model
 * on meters of every aggregation, with some usage of January, which is billed.
 */
beforeEach(async () => {
  billing = await startInvoicing(weir);
  meters = [];
  for (const aggregation of AGGREGATIONS) meters.push(await billing.meter(aggregation));
  const priceOf = (at: number) => PRICES[at % PRICES.length];
  await billing.moveTo('2025-01-10T08:30:00Z');
  customer = await billing.customer({ time_zone: 'America/Sao_Paulo' });
  plan = await billing.plan([
    { type: 'FIXED', display_name: 'Base', unit_price: '31' },
    { type: 'FIXED', display_name: 'Support', unit_price: '10', timing: 'in_arrears' },
    ...meters.map((meter, at) => ({ type: 'USAGE', display_name: `Usage ${at}`, meter_id: meter.id, ...priceOf(at) })),
  ]);
  // The first period is a part of January, so that FIXED lines and the minimum have days.
  const fields = { start_date: '2025-01-10T08:00:00Z', billing_alignment: 'calendar' };
  subscription = (await billing.subscribe(plan.id, customer.id, fields)).id;
  await useAll('2025-01-20T10:00:00.123456Z', '2025-01-20T10:59:00Z', '2025-01-31T23:59:59Z');
  await billing.moveTo('2025-02-01T03:10:00Z', subscription);
  await billing.finalizeAll(subscription);
});

let used = 0;

/** Usage of every meter, of another quantity and another user at each of these instants. */
async function useAll(...times: string[]): Promise<void> {
  await billing.track(
    times.flatMap((at) =>
      meters.map((meter) => {
        used += 1;
        const quantity = 1 + ((used * 7) % 13) / 8;
        return { meter, customer: customer.external_id, quantity, at, metadata: { user_id: `user-${used}` } };
      }),
    ),
  );
}

interface Recomputation {
  identical: boolean;
  stored: { lines: Record<string, unknown>[]; total: string };
  recomputed: { lines: Record<string, unknown>[]; total: string };
}

async function recomputeAll(): Promise<Recomputation[]> {
  const { data } = await billing.get(`/subscriptions/${subscription}/invoices?page_size=100`);
  const finalized = data.filter(({ status }: { status: string }) => status !== 'DRAFT');
  const all: Recomputation[] = [];
  for (const { id } of finalized) {
    all.push(await billing.post(`/invoices/${id}/recompute`));
    all.push(await billing.post(`/invoices/${id}/recompute`, { from: 'events' }));
  }
  return all;
}

async function expectIdentical(invoices: number): Promise<void> {
  const all = await recomputeAll();
  expect(all).toHaveLength(2 * invoices);
  for (const { identical, stored, recomputed } of all) {
    expect(recomputed).toEqual(stored);
    expect(identical).toBe(true);
  }
}

/** Late usage of January, finalized with the invoice of the first of March. */
async function billLateUsage(): Promise<void> {
  await useAll('2025-01-25T12:00:00Z', '2025-02-10T00:00:00Z');
  await billing.moveTo('2025-03-01T03:10:00Z', subscription);
  await billing.finalizeAll(subscription);
}

describe('a finalized invoice is computed again to the last digit', () => {
  test('at once, and with every field of its lines', async () => {
    await expectIdentical(2);
    const [, , { stored, recomputed }] = (await recomputeAll()) as [unknown, unknown, Recomputation];
    expect(stored.lines.length).toBeGreaterThan(0);
    expect(recomputed.lines[0]).toMatchObject({
      kind: 'FIXED',
      days: '22/31',
      exact_amount: '22',
      billed_before: '0.00',
      amount: '22.00',
      rating_version: 3,
    });
  });

  test('after late events, and so are the LATE_USAGE lines that bill them', async () => {
    await useAll('2025-01-25T12:00:00Z');
    await expectIdentical(2);
    await billLateUsage();
    await useAll('2025-01-11T00:00:00Z', '2025-02-11T00:00:00Z');
    await expectIdentical(3);
    const { data } = await billing.get(`/subscriptions/${subscription}/invoices`);
    const { lines } = await billing.get(`/invoices/${data[0].id}`);
    expect(lines.filter(({ kind }: { kind: string }) => kind === 'LATE_USAGE')).toHaveLength(meters.length);
  });

  test('after the catalog changed: charges renamed and ended, others added, features renamed', async () => {
    for (const charge of plan.charges) {
      const changes = { display_name: 'Another name', status: 'INACTIVE' };
      expect((await billing.request('PATCH', `/plans/${plan.id}/charges/${charge}`, changes)).status).toBe(200);
    }
    await billing.post(
      `/plans/${plan.id}/charges`,
      { type: 'USAGE', display_name: 'New', meter_id: meters[0]?.id, unit_price: 99 },
      201,
    );
    await expectIdentical(2);
  });

  test('after the customer, its zone and the zone of the organization changed', async () => {
    const changes = { name: 'Another', time_zone: 'Asia/Tokyo' };
    expect((await billing.request('PATCH', `/customers/${customer.id}`, changes)).status).toBe(200);
    expect((await billing.request('PATCH', '/billing/settings', { time_zone: 'Pacific/Apia' })).status).toBe(200);
    await expectIdentical(2);
    await billLateUsage();
    await expectIdentical(3);
  });

  test('after a cancellation cut the periods, and a void', async () => {
    await billing.moveTo('2025-02-11T12:00:00Z', subscription);
    const { data } = await billing.get(`/subscriptions/${subscription}/invoices`);
    expect(data[0].lines).toBeUndefined();
    await billing.post(`/invoices/${data[0].id}/void`);
    await billing.post(`/subscriptions/${subscription}/cancel`, { cancel_at_period_end: false });
    await billing.finalizeAll(subscription);
    await expectIdentical(3);
    await useAll('2025-01-26T00:00:00Z');
    await billing.moveTo('2025-02-11T12:01:00Z');
    await billing.post(`/subscriptions/${subscription}/settle`, undefined, 201);
    await expectIdentical(4);
  });

  test('after the rollups were repaired', async () => {
    await billLateUsage();
    await weir.pool.query(
      'UPDATE customer_usage_days SET quantity_sum = quantity_sum + 1 WHERE customer_external_id = $1',
      [customer.external_id],
    );
    // The check can fail: rollups that are wrong give another invoice.
    expect((await recomputeAll()).map(({ identical }) => identical)).toContain(false);
    for (const unit of await listUnits(billing.database, { organizationId: billing.admin.id }))
      await rebuildUnit(billing.database, unit);
    await expectIdentical(3);
  });

  test('with what an admin added', async () => {
    await billing.moveTo('2025-03-01T03:10:00Z', subscription);
    const [draft] = await billing.drafts(subscription);
    await billing.post(`/invoices/${draft?.id}/lines`, { description: 'Sorry', amount: '-1.1' }, 201);
    await billing.post(`/invoices/${draft?.id}/finalize`);
    await expectIdentical(3);
  });
});

test.each([
  ['an amount', `amount = amount + 0.01`],
  ['an exact amount', `exact_amount = exact_amount || '1'`],
  ['a quantity', `quantity = quantity + 1`],
  ['a number of events', `event_count = event_count + 1`],
  ['what was billed before', `billed_before = billed_before + 0.01, amount = amount - 0.01`],
  ['a detail', `detail = '{"packages": "77"}'`],
  ['a closing', `closing = 1`],
])('recompute is not identical where %s of a line is not what the events give', async (_, change) => {
  await billLateUsage();
  const { data } = await billing.get(`/subscriptions/${subscription}/invoices`);
  const { lines } = await billing.get(`/invoices/${data[0].id}`);
  const line = lines.find(({ kind }: { kind: string }) => kind === 'LATE_USAGE');
  const { rows } = await weir.pool.query('SELECT closing FROM invoice_lines WHERE id = $1', [line.id]);
  expect(Number(rows[0].closing)).toBeGreaterThan(1);
  await weir.pool.query(`UPDATE invoice_lines SET ${change} WHERE id = $1`, [line.id]);
  // The sums agree with the lines as they are now: it is the line that is found out.
  await weir.pool.query(
    `UPDATE invoices SET subtotal = lines.sum, total = lines.sum
     FROM (SELECT sum(amount) FROM invoice_lines WHERE invoice_id = $1) AS lines WHERE id = $1`,
    [data[0].id],
  );
  for (const from of ['rollups', 'events'])
    expect(await billing.post(`/invoices/${data[0].id}/recompute`, { from })).toMatchObject({ identical: false, from });
});

test('recompute of a draft is 409 invoice_not_finalized, and of an unknown source 422', async () => {
  await billing.moveTo('2025-03-01T03:10:00Z', subscription);
  const [draft] = await billing.drafts(subscription);
  expectProblem(await billing.request('POST', `/invoices/${draft?.id}/recompute`), 409, 'invoice_not_finalized');
  const unknown = await billing.request('POST', `/invoices/${draft?.id}/recompute`, { from: 'memory' });
  expectProblem(unknown, 422, 'invalid_request');
});

test('all finalized invoices of an organization are found page by page, and computed again together', async () => {
  const organizationId = billing.admin.id;
  const found: string[] = [];
  for (;;) {
    const page = await listFinalizedInvoices(billing.database.kysely, organizationId, {
      after: found.at(-1),
      limit: 3,
    });
    if (page.length === 0) break;
    found.push(...page);
  }
  const { rows } = await weir.pool.query(
    `SELECT id FROM invoices WHERE organization_id = $1 AND status <> 'DRAFT' ORDER BY id`,
    [organizationId],
  );
  expect(found).toEqual(rows.map(({ id }) => id));
  const { data } = await billing.get(`/subscriptions/${subscription}/invoices`);
  const ids = data.map(({ id }: { id: string }) => id);
  const together = await recomputeInvoices(billing.database, organizationId, ids, 'events');
  expect(together.map(({ invoice_id }) => invoice_id)).toEqual(ids.toSorted());
  for (const { invoice_id, identical, recomputed } of together) {
    expect(identical).toBe(true);
    const alone = await billing.post(`/invoices/${invoice_id}/recompute`, { from: 'events' });
    expect(alone.recomputed).toEqual(recomputed);
  }
});
