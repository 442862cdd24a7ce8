// What holds for every invoice and every due, whatever happened: over histories of usage on time and late, of drafts that are
// finalized early or late, of lines that were added, of voids, of a cancellation and of what comes after it.

import { formatExact, parseExact } from '@weir/rating/exact';
import { formatAmount, parseAmount, round } from '@weir/rating/money';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { startInvoicing, type Invoicing, type PricedMeter } from '../support/invoicing.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let billing: Invoicing;

interface Line {
  id: string;
  kind: string;
  charge_id: string | null;
  cycle: number | null;
  quantity: string | null;
  exact_amount: string;
  billed_before: string;
  amount: string;
  waived: string | null;
  period_end: string;
}
interface Invoice {
  id: string;
  status: string;
  cycle: number | null;
  subtotal: string;
  tax: string;
  total: string;
  credits_applied: string;
  amount_paid: string;
  amount_due: string;
  lines: Line[];
}

const cents = (text: string): bigint => {
  const amount = parseAmount(text, 2);
  if (amount === undefined || text !== formatAmount(amount, 2)) throw new Error(`${text} is no amount of two digits`);
  return amount;
};

/** Invariant 1. */
function expectTotals({ status, lines, ...invoice }: Invoice): void {
  const sum = lines.reduce((all, { amount }) => all + cents(amount), 0n);
  expect(cents(invoice.subtotal)).toBe(sum);
  expect(cents(invoice.total)).toBe(cents(invoice.subtotal) + cents(invoice.tax));
  const isNothingDue = status === 'VOID' || cents(invoice.total) < 0n;
  const due = cents(invoice.total) - cents(invoice.credits_applied) - cents(invoice.amount_paid);
  expect(cents(invoice.amount_due)).toBe(isNothingDue ? 0n : due);
  for (const { exact_amount, billed_before, amount, waived } of lines) {
    expect(formatExact(parseExact(exact_amount))).toBe(exact_amount);
    expect(cents(amount)).toBe(round(parseExact(exact_amount), 2) - cents(billed_before) + cents(waived ?? '0.00'));
  }
}

/** Invariant 2: of the lines of finalized invoices, in the order in which these were finalized. */
function expectDuesAddUp(invoices: Invoice[]): Map<string, Line> {
  const dues = new Map<string, { billed: bigint; last: Line }>();
  for (const line of invoices.flatMap(({ lines }) => lines).filter(({ charge_id }) => charge_id !== null)) {
    const due = `${line.charge_id} ${line.cycle}`;
    const billed = dues.get(due)?.billed ?? 0n;
    expect(cents(line.billed_before)).toBe(billed);
    dues.set(due, { billed: billed + cents(line.amount), last: line });
  }
  for (const { billed, last } of dues.values())
    expect(billed).toBe(round(parseExact(last.exact_amount), 2) + cents(last.waived ?? '0.00'));
  return new Map([...dues].map(([due, { last }]) => [due, last]));
}

const DAY = 86_400_000;
const START = Date.parse('2025-01-31T00:00:00Z');

/** One week of a subscription that is billed by the week: what is used, on time and late, and what is done with its invoices. */
const week = fc.record({
  onTime: fc.array(fc.tuple(fc.nat({ max: 7 * DAY - 1 }), fc.integer({ min: 1, max: 400 })), { maxLength: 4 }),
  late: fc.array(fc.tuple(fc.nat({ max: 4 * 7 * DAY }), fc.integer({ min: 1, max: 400 })), { maxLength: 3 }),
  finalizes: fc.boolean(),
  adjustment: fc.option(fc.integer({ min: -3000, max: 3000 }).filter((amount) => amount !== 0)),
  paysOrVoids: fc.constantFrom('pay', 'void', 'uncollectible', 'nothing'),
});

const history = fc.record({
  weeks: fc.array(week, { minLength: 2, maxLength: 5 }),
  credits: fc.nat({ max: 3000 }),
  /** Milliseconds into the week after the last at which it is canceled; null: it goes on. */
  canceledAfter: fc.option(fc.nat({ max: 7 * DAY - 1 })),
});

type History = typeof history extends fc.Arbitrary<infer Value> ? Value : never;

interface Made {
  meters: PricedMeter[];
  customer: { id: string; external_id: string };
  subscription: string;
}

async function start(credits: number): Promise<Made> {
  await billing.moveTo(new Date(START).toISOString());
  const meters = [await billing.meter('SUM'), await billing.meter('COUNT'), await billing.meter('MAX')];
  const tiers = [
    { up_to: '10.5', unit_price: '0.337', flat_fee: '1.005' },
    { up_to: null, unit_price: '0.0101', flat_fee: '0' },
  ];
  const [sum, count, max] = meters.map(({ id }) => id);
  const plan = await billing.plan(
    [
      { type: 'FIXED', display_name: 'Base', unit_price: '9.995' },
      { type: 'FIXED', display_name: 'Support', unit_price: '1.333', timing: 'in_arrears' },
      { type: 'USAGE', display_name: 'Sum', meter_id: sum, model: 'graduated', tiers },
      { type: 'USAGE', display_name: 'Count', meter_id: count, unit_price: '0.335', minimum_amount: '0.5' },
      { type: 'USAGE', display_name: 'Max', meter_id: max, model: 'volume', tiers },
    ],
    { billing_interval: 'week' },
  );
  const customer = await billing.customer();
  if (credits > 0) {
    const grant = { amount: formatAmount(BigInt(credits), 2), currency: 'USD' };
    await billing.post(`/customers/${customer.id}/credits`, grant, 201);
  }
  const { id } = await billing.subscribe(plan.id, customer.id, { start_date: new Date(START).toISOString() });
  return { meters, customer, subscription: id };
}

async function use({ meters, customer }: Made, times: (readonly [number, number])[]): Promise<void> {
  const events = times.flatMap(([at, tenths]) =>
    meters.map((meter) => ({
      meter,
      customer: customer.external_id,
      quantity: tenths / 10,
      at: new Date(at).toISOString(),
    })),
  );
  if (events.length > 0) await billing.track(events);
}

async function allInvoices(subscription: string): Promise<Invoice[]> {
  const { data } = await billing.get(`/subscriptions/${subscription}/invoices?page_size=100`);
  const all: Invoice[] = [];
  for (const { id } of data) all.push(await billing.get(`/invoices/${id}`));
  // Newest first; ADJUSTMENT invoices come after the last cycle.
  return all.reverse();
}

async function changeInvoice(invoice: Invoice, change: string): Promise<void> {
  const answer = await billing.request('POST', `/invoices/${invoice.id}/${change}`);
  expect([200, 409]).toContain(answer.status);
}

async function live({ weeks, credits, canceledAfter }: History): Promise<Made> {
  const made = await start(credits);
  const { subscription } = made;
  for (const [at, each] of weeks.entries()) {
    const from = START + at * 7 * DAY;
    await use(
      made,
      each.onTime.map(([offset, tenths]) => [from + offset, tenths] as const),
    );
    await billing.moveTo(new Date(from + 7 * DAY + 60_000).toISOString(), subscription);
    const [draft] = await billing.drafts(subscription);
    if (each.adjustment !== null && draft !== undefined) {
      const line = { description: 'Added', amount: formatAmount(BigInt(each.adjustment), 2) };
      await billing.post(`/invoices/${draft.id}/lines`, line, 201);
    }
    if (each.finalizes) await billing.finalizeAll(subscription);
    // Late: of any week before, as far as there was one.
    const late = each.late.map(([before, tenths]) => [Math.max(START, from - before), tenths] as const);
    await use(made, late);
    const last = (await allInvoices(subscription)).findLast(({ status }) => status !== 'DRAFT');
    if (last !== undefined && each.paysOrVoids !== 'nothing') await changeInvoice(last, each.paysOrVoids);
  }
  if (canceledAfter !== null) {
    await billing.moveTo(new Date(START + weeks.length * 7 * DAY + canceledAfter + 60_000).toISOString(), subscription);
    await billing.post(`/subscriptions/${subscription}/cancel`, { cancel_at_period_end: false });
    await billing.finalizeAll(subscription);
    await use(made, [[START + DAY, 77]]);
    await billing.moveTo(new Date(START + (weeks.length + 2) * 7 * DAY).toISOString());
    await billing.request('POST', `/subscriptions/${subscription}/settle`);
    await use(made, [[START + 2 * DAY, 78]]);
  }
  return made;
}

/** Tenths, of which quantities are made here. */
const tenths = (text: string): number => Math.round(Number(text) * 10);

/** Invariant 3: the last lines of dues, drafts, the open period and the late changes that wait are all that was used. */
async function expectAllUsageBilledOrOpen(made: Made, invoices: Invoice[], last: Map<string, Line>): Promise<void> {
  const { meters, customer, subscription } = made;
  const { data: open } = await billing.get(`/subscriptions/${subscription}/usage`);
  const { status, current_period_end, ended_at } = await billing.get(`/subscriptions/${subscription}`);
  const drafted = invoices.filter(({ status }) => status === 'DRAFT').flatMap(({ lines }) => lines);
  for (const meter of meters.slice(0, 2)) {
    const charge = open.find(({ meter_id }: { meter_id: string }) => meter_id === meter.id);
    const dues = new Map([...last].filter(([due]) => due.startsWith(charge.charge_id)));
    // A draft's line says what the due comes to now, with all that waits.
    for (const line of drafted)
      if (line.charge_id === charge.charge_id) dues.set(`${line.charge_id} ${line.cycle}`, line);
    const billed = [...dues.values()].reduce((all, { quantity }) => all + tenths(quantity ?? '0'), 0);
    const { rows } = await weir.pool.query(
      `SELECT coalesce(sum(CASE WHEN $3 THEN late.quantity ELSE 1 END), 0) AS waiting FROM late_events AS late
       JOIN dues ON dues.organization_id = late.organization_id AND dues.meter_id = late.meter_id
         AND dues.customer_external_id = late.customer_external_id
         AND late."timestamp" >= dues.period_start AND late."timestamp" < dues.period_end
       WHERE late.meter_id = $1 AND late.customer_external_id = $2 AND late.closing >= dues.closing
         AND NOT EXISTS (SELECT FROM invoices WHERE subscription_id = dues.subscription_id AND status = 'DRAFT')`,
      [meter.id, customer.external_id, meter === meters[0]],
    );
    const isOpen = status !== 'CANCELED';
    const period = isOpen ? tenths(charge.quantity) : 0;
    const window = `start_date=${new Date(START).toISOString()}&end_date=${ended_at ?? current_period_end}`;
    const usage = await billing.get(`/meters/${meter.id}/usage?${window}&customer_external_id=${customer.external_id}`);
    expect(billed + period + tenths(rows[0].waiting)).toBe(tenths(usage.total_usage));
  }
}

test(
  'totals sum up their lines, dues add up to one rounding, and all of it can be computed again',
  {
    timeout: 600_000,
  },
  async () => {
    await fc.assert(
      fc.asyncProperty(history, async (lived) => {
        // Each in an organization of its own, since billing goes back in time for the next one.
        billing = await startInvoicing(weir);
        const made = await live(lived);
        const invoices = await allInvoices(made.subscription);
        for (const invoice of invoices) expectTotals(invoice);
        const finalized = invoices.filter(({ status }) => status !== 'DRAFT');
        const last = expectDuesAddUp(finalized);
        await expectAllUsageBilledOrOpen(made, invoices, last);
        for (const { id } of finalized)
          for (const from of ['rollups', 'events'])
            expect(await billing.post(`/invoices/${id}/recompute`, { from })).toMatchObject({ identical: true });
        await billing.close();
      }),
      { numRuns: Number(process.env['BILLING_RUNS'] ?? 8), seed: 20_260_401, endOnFailure: true },
    );
  },
);
