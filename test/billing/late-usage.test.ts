// Usage that comes in after its period was closed is billed for its own period, as the difference to what was billed before. Whatever
// comes in which order, and is split over any number of invoices: it adds up to what one invoice would say that saw it all.

import { findUnsettled } from '@weir/db/billing/run/settlements';
import { recomputeInvoices } from '@weir/db/billing/invoices/recompute';
import { minorDigits } from '@weir/rating/currencies';
import { formatAmount, round } from '@weir/rating/money';
import { parseExact } from '@weir/rating/exact';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openRun, type BillingRun } from '../support/billing-run.ts';
import { startInvoicing, type Invoicing, type PricedMeter } from '../support/invoicing.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let billing: Invoicing;
let run: BillingRun;
let meter: PricedMeter;
let plan: string;

const TIERS = [
  { up_to: '10', unit_price: '0.333', flat_fee: '1.005' },
  { up_to: '25.5', unit_price: '0.2', flat_fee: '0' },
  { up_to: null, unit_price: '0.0333', flat_fee: '2' },
];

/** An organization whose clock goes on from 2026-01-01, and which finalizes without grace. */
async function begin(): Promise<void> {
  billing = await startInvoicing(weir);
  run = openRun(weir, billing.database);
  await billing.request('PATCH', '/billing/settings', { invoice_grace_hours: 0 });
  await billing.moveTo('2026-01-01T00:00:00Z');
  meter = await billing.meter('SUM');
  const usage = { type: 'USAGE', display_name: 'Calls', meter_id: meter.id, model: 'graduated', tiers: TIERS };
  plan = (await billing.plan([usage])).id;
}

async function end(): Promise<void> {
  await weir.pool.query('UPDATE subscriptions SET run_at = NULL');
  await weir.pool.query('UPDATE invoices SET run_at = NULL, past_due_at = NULL');
  await billing.close();
}

interface DueLine {
  cycle: number;
  kind: string;
  quantity: string;
  exact_amount: string;
  amount: string;
}

/** Lines of finalized invoices, in the order of their numbers. */
async function linesOf(subscription: string): Promise<DueLine[]> {
  const { rows } = await weir.pool.query<DueLine>(
    `SELECT l.cycle, l.kind, l.quantity::text, l.exact_amount, l.amount::text
     FROM invoice_lines l JOIN invoices i ON i.organization_id = l.organization_id AND i.id = l.invoice_id
     WHERE l.subscription_id = $1 ORDER BY i.invoice_number, l.position`,
    [subscription],
  );
  return rows;
}

async function expectIdentical(): Promise<void> {
  const { rows } = await weir.pool.query(`SELECT id FROM invoices WHERE organization_id = $1 AND status <> 'DRAFT'`, [
    billing.admin.id,
  ]);
  const ids = rows.map(({ id }) => id);
  for (const source of ['rollups', 'events'] as const) {
    const all = await recomputeInvoices(billing.database, billing.admin.id, ids, source);
    expect(all.filter(({ identical }) => !identical)).toEqual([]);
    expect(all).toHaveLength(ids.length);
  }
}

const pad = (number: number) => String(number).padStart(2, '0');

test('late usage has a line for its own period, of what is new', async () => {
  await begin();
  const customer = await billing.customer();
  const { id } = await billing.subscribe(plan, customer.id, { start_date: '2026-01-01' });
  const use = (quantity: number, at: string) =>
    billing.track([{ meter, customer: customer.external_id, quantity, at }]);
  await use(4, '2026-01-05T00:00:00Z');
  await billing.moveTo('2026-02-01T01:00:00Z');
  await run.untilDone();
  await use(8, '2026-01-31T23:59:59.999Z');
  await use(1, '2026-02-02T00:00:00Z');
  await billing.moveTo('2026-03-01T01:00:00Z');
  await run.untilDone();
  await use(100, '2026-01-01T00:00:00Z');
  await use(2, '2026-02-28T00:00:00Z');
  await billing.moveTo('2026-04-01T01:00:00Z');
  await run.untilDone();
  // 4 × 0.333 + 1.005 = 2.337; 12: 3.33 + 1.005 + 0.4 = 4.735; 112: 3.33 + 1.005 + 3.1 + 86.5 × 0.0333 + 2 = 12.31545.
  expect(await linesOf(id)).toEqual([
    { cycle: 0, kind: 'USAGE', quantity: '4', exact_amount: '2.337', amount: '2.34' },
    { cycle: 1, kind: 'USAGE', quantity: '1', exact_amount: '1.338', amount: '1.34' },
    { cycle: 0, kind: 'LATE_USAGE', quantity: '12', exact_amount: '4.735', amount: '2.40' },
    { cycle: 2, kind: 'USAGE', quantity: '0', exact_amount: '0', amount: '0.00' },
    { cycle: 0, kind: 'LATE_USAGE', quantity: '112', exact_amount: '12.31545', amount: '7.58' },
    { cycle: 1, kind: 'LATE_USAGE', quantity: '3', exact_amount: '2.004', amount: '0.66' },
  ]);
  await expectIdentical();
  await end();
}, 60_000);

test('late usage is on the earliest draft of a subscription and on no other', async () => {
  await begin();
  const customer = await billing.customer();
  const { id } = await billing.subscribe(plan, customer.id, { start_date: '2026-01-01' });
  await billing.moveTo('2026-02-01T01:00:00Z');
  await run.untilDone();
  await billing.track([{ meter, customer: customer.external_id, quantity: 4, at: '2026-01-05T00:00:00Z' }]);
  await billing.moveTo('2026-04-01T00:30:00Z', id);
  const kinds = async () => {
    const { data } = await billing.get(`/subscriptions/${id}/invoices`);
    const invoices = await Promise.all(
      data.map(({ id: invoice }: { id: string }) => billing.get(`/invoices/${invoice}`)),
    );
    return invoices.reverse().map(({ lines }) => lines.map(({ kind }: { kind: string }) => kind));
  };
  const expected = [['USAGE'], ['USAGE', 'LATE_USAGE'], ['USAGE']];
  expect(await kinds()).toEqual(expected);
  await billing.moveTo('2026-04-01T01:00:00Z');
  await run.untilDone();
  expect(await kinds()).toEqual(expected);
  await expectIdentical();
  await end();
}, 60_000);

test('late usage of ended subscriptions that comes to nothing closes nothing, however often looked at', async () => {
  await begin();
  const charge = { type: 'USAGE', display_name: 'Calls', meter_id: meter.id, unit_price: '0.1' };
  const priced = await billing.plan([charge]);
  const customers = [await billing.customer(), await billing.customer()];
  const subscribed = await Promise.all(
    customers.map(({ id }) => billing.subscribe(priced.id, id, { start_date: '2026-01-01' })),
  );
  const ids = subscribed.map(({ id }) => id).sort();
  const late = (quantity: number) =>
    billing.track(
      customers.map((each) => ({ meter, customer: each.external_id, quantity, at: '2026-01-02T00:00:00Z' })),
    );
  const organization = billing.admin.id;
  const unsettled = async () =>
    (await findUnsettled(billing.database.kysely, organization, { after: undefined, limit: 10 })).ids;
  const closing = async () => {
    const { rows } = await weir.pool.query('SELECT number::int FROM closings WHERE organization_id = $1', [
      organization,
    ]);
    return rows[0].number;
  };
  await late(10);
  await billing.moveTo('2026-01-20T00:00:00Z');
  for (const id of ids) await billing.post(`/subscriptions/${id}/cancel`, { cancel_at_period_end: false });
  await billing.moveTo('2026-01-20T01:00:00Z');
  await run.untilDone();
  const before = await closing();
  await late(0.04);
  for (const hour of ['02', '03', '04']) {
    await billing.moveTo(`2026-01-20T${hour}:00:00Z`);
    expect(await unsettled()).toEqual(ids);
    for (const job of await run.findSettling()) await run.perform(job);
    expect(await closing()).toBe(before);
  }
  // What waited is billed with what makes it an amount.
  await late(1);
  await billing.moveTo('2026-01-20T05:00:00Z');
  // A turn has a fifth of a second, in which a slow machine may not come to both.
  while ((await unsettled()).length > 0) for (const job of await run.findSettling()) await run.perform(job);
  expect(await closing()).toBeGreaterThan(before);
  const { rows } = await weir.pool.query(
    `SELECT subscription_id, total::text FROM invoices WHERE organization_id = $1 AND kind = 'ADJUSTMENT' ORDER BY 1`,
    [organization],
  );
  expect(rows).toEqual(ids.map((subscription_id) => ({ subscription_id, total: '0.10' })));
  expect(await unsettled()).toEqual([]);
  await expectIdentical();
  await end();
}, 60_000);

test('late usage in any order, over any number of invoices, adds up to the one invoice that saw it all', async () => {
  // In which month usage is, in which it comes in, and before or after the draft of that boundary is made.
  const event = fc.record({
    month: fc.integer({ min: 0, max: 2 }),
    lateness: fc.integer({ min: 0, max: 3 }),
    tenths: fc.integer({ min: 1, max: 300 }),
    isInGrace: fc.boolean(),
    day: fc.integer({ min: 1, max: 28 }),
  });
  const histories = fc.array(event, { minLength: 3, maxLength: 14 });
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      await begin();
      const customer = await billing.customer();
      const { id } = await billing.subscribe(plan, customer.id, { start_date: '2026-01-01' });
      for (let month = 0; month <= 6; month += 1) {
        const comeIn = async (isInGrace: boolean) => {
          const now = history.filter((each) => each.month + each.lateness === month && each.isInGrace === isInGrace);
          if (now.length === 0) return;
          await billing.track(
            now.map(({ month: of, day, tenths }) => {
              const at = `2026-${pad(of + 1)}-${pad(day)}T12:00:00Z`;
              return { meter, customer: customer.external_id, quantity: tenths / 10, at };
            }),
          );
        };
        await comeIn(false);
        await billing.moveTo(`2026-${pad(month + 2)}-01T00:30:00Z`);
        await run.untilDone();
        await comeIn(true);
        await billing.moveTo(`2026-${pad(month + 2)}-01T01:00:00Z`);
        await run.untilDone();
      }
      const lines = await linesOf(id);
      for (let month = 0; month <= 2; month += 1) {
        const tenths = history.filter((each) => each.month === month).reduce((sum, each) => sum + each.tenths, 0);
        const charge = { type: 'USAGE', model: 'graduated', tiers: TIERS };
        const seenAtOnce = await billing.post('/charges/evaluate', {
          currency: 'USD',
          charge,
          quantity: `${tenths / 10}`,
        });
        const own = lines.filter(({ cycle }) => cycle === month);
        const digits = minorDigits('USD');
        const billed = own.reduce((sum, { amount }) => sum + BigInt(amount.replace('.', '')), 0n);
        expect(formatAmount(billed, digits)).toBe(seenAtOnce.amount);
        expect(own.at(-1)?.exact_amount).toBe(seenAtOnce.exact_amount);
        expect(billed).toBe(round(parseExact(own.at(-1)?.exact_amount ?? '0'), digits));
      }
      await expectIdentical();
      await end();
    }),
    { numRuns: 6 },
  );
}, 240_000);
