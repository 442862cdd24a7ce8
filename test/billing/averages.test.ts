// An average is priced as the fraction that it is, and shown rounded. Lines that were billed by the rounded one are computed again
// by it, for ever.

import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTestDatabase } from '../support/test-database.ts';
import { recomputeInvoices } from '@weir/db/billing/invoices/recompute';
import { startInvoicing, type Invoicing, type PricedMeter } from '../support/invoicing.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let billing: Invoicing;
let meters: PricedMeter[];
let customer: { id: string; external_id: string };
let subscription: string;

/** What three events of 3, 3 and 4 come to at each of the prices, by hand: 10/3 of a unit. */
const PRICES = [
  { charge: { unit_price: '0.4515' }, exact_amount: '1.505', amount: '1.51', rounded: '1.50' },
  {
    // 3 × 0.3 and 1/3 × 0.615.
    charge: {
      model: 'graduated',
      tiers: [
        { up_to: 3, unit_price: '0.3', flat_fee: '0' },
        { up_to: null, unit_price: '0.615', flat_fee: '0' },
      ],
    },
    exact_amount: '1.105',
    amount: '1.11',
    rounded: '1.10',
  },
  // A bit more than one package.
  {
    charge: { model: 'package', unit_price: '1', package_size: '3.333333333333' },
    exact_amount: '2',
    amount: '2.00',
    rounded: '1.00',
  },
  // 45.15 % of 10/3.
  { charge: { model: 'percentage', rate: '45.15' }, exact_amount: '1.505', amount: '1.51', rounded: '1.50' },
  {
    charge: { model: 'volume', tiers: [{ up_to: null, unit_price: '0.4515', flat_fee: '0' }] },
    exact_amount: '1.505',
    amount: '1.51',
    rounded: '1.50',
  },
];
const AMOUNTS = PRICES.map(({ amount }) => amount);

beforeEach(async () => {
  billing = await startInvoicing(weir);
  meters = [];
  for (const _ of PRICES) meters.push(await billing.meter('AVG'));
  const charges = PRICES.map(({ charge }, at) => {
    return { type: 'USAGE', display_name: `Average ${at}`, meter_id: meters[at]?.id, ...charge };
  });
  const plan = await billing.plan(charges);
  customer = await billing.customer();
  await billing.moveTo('2025-01-01T00:00:00Z');
  subscription = (await billing.subscribe(plan.id, customer.id, { start_date: '2025-01-01' })).id;
  await use(3, '2025-01-10T10:00:00Z');
  await use(3, '2025-01-10T11:30:00Z');
  await use(4, '2025-01-20T10:00:00Z');
});
afterEach(() => billing.close());

async function use(quantity: number, at: string): Promise<void> {
  await billing.track(meters.map((meter) => ({ meter, customer: customer.external_id, quantity, at })));
}

interface Line {
  kind: string;
  charge: { display_name: string };
  quantity: string;
  exact_amount: string;
  billed_before: string;
  amount: string;
  detail: unknown;
  rating_version: number;
}

const byPrice = (lines: Line[]): Line[] =>
  lines.toSorted((one, other) => (one.charge.display_name < other.charge.display_name ? -1 : 1));

/** As the build before wrote it down: by the first version, which rounded an average to 12 digits before it priced it. */
async function billByRounded(invoice: string): Promise<void> {
  for (const [at, { rounded }] of PRICES.entries()) {
    const exact = ['1.5049999999998495', '1.104999999999795', '1', '1.5049999999998495', '1.5049999999998495'][at];
    const detail = [
      null,
      [
        { up_to: '3', quantity: '3', exact_amount: '0.9' },
        { up_to: null, quantity: '0.333333333333', exact_amount: '0.204999999999795' },
      ],
      { packages: '1' },
      null,
      [{ up_to: null, quantity: '3.333333333333', exact_amount: '1.5049999999998495' }],
    ][at];
    await weir.pool.query(
      `UPDATE invoice_lines SET rating_version = 1, exact_amount = $3, amount = $4, detail = $5
       WHERE invoice_id = $1 AND description = $2`,
      [invoice, `Average ${at}`, exact, rounded, JSON.stringify(detail)],
    );
    await weir.pool.query(
      `UPDATE dues SET billed = $2 WHERE subscription_id = $3 AND cycle = 0 AND display_name = $1`,
      [`Average ${at}`, rounded, subscription],
    );
  }
  await weir.pool.query(
    `UPDATE invoices SET (subtotal, total) = (SELECT sum(amount), sum(amount) FROM invoice_lines WHERE invoice_id = $1)
     WHERE id = $1`,
    [invoice],
  );
}

test('events of 3, 3 and 4 are priced as 10/3: in what is open, the preview, the draft and the invoice', async () => {
  const { data: open } = await billing.get(`/subscriptions/${subscription}/usage`);
  const byMeter = new Map(open.map((each: { meter_id: string; amount: string }) => [each.meter_id, each]));
  expect(meters.map(({ id }) => byMeter.get(id))).toMatchObject(
    AMOUNTS.map((amount) => ({ quantity: '3.333333333333', amount })),
  );
  const preview = await billing.post(`/subscriptions/${subscription}/preview-invoice`);
  expect(byPrice(preview.lines).map(({ amount }) => amount)).toEqual(AMOUNTS);
  await billing.moveTo('2025-02-01T00:10:00Z', subscription);
  const [draft] = await billing.drafts(subscription);
  const lines = byPrice((await billing.get(`/invoices/${draft?.id}`)).lines);
  const expected = PRICES.map(({ exact_amount, amount }) => {
    return { quantity: '3.333333333333', event_count: 3, exact_amount, amount, rating_version: 3 };
  });
  expect(lines).toMatchObject(expected);
  expect(lines[1]?.detail).toEqual([
    { up_to: '3', quantity: '3', exact_amount: '0.9' },
    { up_to: null, quantity: '0.333333333333', exact_amount: '0.205' },
  ]);
  const [invoice] = await billing.finalizeAll(subscription);
  expect(byPrice(invoice.lines)).toMatchObject(expected);
  for (const from of ['rollups', 'events'])
    expect(await billing.post(`/invoices/${invoice.id}/recompute`, { from })).toMatchObject({ identical: true });
});

test('what was billed by a rounded average is computed again exactly, and what is late pays the difference', async () => {
  await billing.moveTo('2025-02-01T00:10:00Z', subscription);
  const [{ id: invoice }] = await billing.finalizeAll(subscription);
  await billByRounded(invoice);
  const database = openTestDatabase(weir);
  try {
    for (const from of ['rollups', 'events'] as const) {
      const [again] = await recomputeInvoices(database, billing.admin.id, [invoice], from);
      expect(again?.recomputed).toEqual(again?.stored);
      expect(again?.identical).toBe(true);
    }
  } finally {
    await database.close();
  }
  // As high as the average itself, so that it stays what it is: 40/3 of four events and of three.
  await use(2, '2025-01-21T10:00:00Z');
  await use(4, '2025-01-21T10:00:00Z');
  await use(4, '2025-01-21T10:00:00Z');
  await billing.moveTo('2025-03-01T00:10:00Z', subscription);
  const [next] = await billing.finalizeAll(subscription);
  const late = byPrice(next.lines.filter(({ kind }: Line) => kind === 'LATE_USAGE'));
  expect(late).toMatchObject(
    PRICES.map(({ exact_amount, rounded }) => ({ exact_amount, billed_before: rounded, rating_version: 3 })),
  );
  expect(late.map(({ amount }) => amount)).toEqual(['0.01', '0.01', '1.00', '0.01', '0.01']);
  for (const id of [invoice, next.id])
    for (const from of ['rollups', 'events'])
      expect(await billing.post(`/invoices/${id}/recompute`, { from })).toMatchObject({ identical: true });
});
