// Usage as a service has it, in a file, goes all the way: the import, the worker, the run at the end of the month, the invoices. What these
// say is what a model of its own makes of the file; and usage that comes in after them is billed on the next, to the cent of all at once.

import { recomputeInvoices } from '@weir/db/billing/invoices/recompute';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setBillingTime } from '../support/billing-time.ts';
import { until } from '../support/harness.ts';
import { startInvoicing, type Invoicing, type PricedMeter } from '../support/invoicing.ts';
import { reconcileHere } from '../support/reconcile-fixture.ts';
import { runToEnd } from '../support/run-to-end.ts';
import { ownWeir } from '../support/use-weir.ts';

const CUSTOMERS = 20;

/** As many as make whole rounds of the customers, so that row numbers deal out a longer file in the same way. */
const ROWS = 400;
const LATE_ROWS = 60;

/** A call of a model, as the rows of the file have it. */
interface Call {
  time: string;
  context: bigint;
  generated: bigint;
}

const calls: Call[] = Array.from({ length: ROWS }, (_, index) => ({
  time: `2023-11-${String(1 + ((index * 7) % 30)).padStart(2, '0')} ${String(index % 24).padStart(2, '0')}:17:03.9799600`,
  context: BigInt(((index + 1) * 7_368_787) % 99_991) + 11n,
  generated: BigInt(((index + 1) * 104_729) % 9_973) + 3n,
}));
// What the second customer generates comes to half a cent: 0.0000025 × (4,000 n + 2,000).
const generatedBySecond = callsOf(calls, 1).reduce((sum, { generated }) => sum + generated, 0n);
for (const call of callsOf(calls, 1).slice(0, 1)) call.generated += 4_000n - ((generatedBySecond + 2_000n) % 4_000n);
const late = calls.slice(0, LATE_ROWS);

/** Rows are numbered from 1, and dealt out in turn. */
function callsOf(rows: Call[], customer: number): Call[] {
  return rows.filter((_, index) => (index + 1) % CUSTOMERS === customer);
}

const TIERS = [
  { up_to: '500000', unit_price: '0.0000031', flat_fee: '0' },
  { up_to: '900000', unit_price: '0.0000027', flat_fee: '0.0123456' },
  { up_to: null, unit_price: '0.0000019', flat_fee: '0.0054321' },
];

/** What the two charges come to, in ten-millionths of a dollar: written from the words of the price list, not from its code. */
function priced(rows: Call[]): { context: Priced; generated: Priced } {
  let context = 0n;
  let generated = 0n;
  for (const row of rows) [context, generated] = [context + row.context, generated + row.generated];
  let amount = 31n * (context < 500_000n ? context : 500_000n);
  if (context > 500_000n) amount += 123_456n + 27n * ((context < 900_000n ? context : 900_000n) - 500_000n);
  if (context > 900_000n) amount += 54_321n + 19n * (context - 900_000n);
  return { context: of(context, amount, rows.length), generated: of(generated, 25n * generated, rows.length) };
}

interface Priced {
  quantity: string;
  event_count: number;
  exact_amount: string;
  cents: bigint;
}

function of(quantity: bigint, amount: bigint, eventCount: number): Priced {
  const digits = String(amount).padStart(8, '0');
  return {
    quantity: String(quantity),
    event_count: eventCount,
    exact_amount: `${digits.slice(0, -7)}.${digits.slice(-7)}`.replace(/\.?0+$/, ''),
    // Half a cent is 50,000 of them, and goes up.
    cents: (amount + 50_000n) / 100_000n,
  };
}

const money = (cents: bigint) => String(cents).padStart(3, '0').replace(/..$/, '.$&');

const weir = ownWeir({ worker: { BILLING_CONCURRENCY: '1', BILLING_INTERVAL_MS: '200' } });
let billing: Invoicing;
let context: PricedMeter;
let generated: PricedMeter;
let apiKey: string;
let folder: string;

beforeAll(async () => {
  billing = await startInvoicing(weir);
  apiKey = await billing.admin.createKey('usage.write');
  [context, generated] = [await billing.meter('SUM'), await billing.meter('SUM')];
  folder = await mkdtemp(join(tmpdir(), 'weir-real-usage-'));
});
afterAll(async () => {
  await billing.close();
  await rm(folder, { recursive: true });
});

/** Imports rows as usage of `<customers>-0` to `<customers>-19`, both meters at the same time, and waits until it is recorded. */
async function importRows(name: string, rows: Call[], customers: string): Promise<void> {
  const file = join(folder, `${name}.csv`);
  const lines = rows.map((row) => [row.time, row.context, row.generated].join(','));
  await writeFile(file, ['TIMESTAMP,ContextTokens,GeneratedTokens', ...lines, ''].join('\n'));
  const env = { WEIR_URL: weir.baseUrl, WEIR_API_KEY: apiKey, WEIR_HOME: folder };
  const ended = await Promise.all(
    [
      ['--meter', context.token, '--quantity', 'ContextTokens'],
      ['--meter', generated.token, '--quantity', 'GeneratedTokens'],
    ].map((meter) => {
      const rest = ['--file', file, '--customer', `${customers}-{row%20}`, '--timestamp', 'TIMESTAMP'];
      return runToEnd('apps/import/dist/main.js', env, [...meter, ...rest]);
    }),
  );
  for (const { code, out, err } of ended) {
    expect({ code, err }).toMatchObject({ code: 0 });
    expect(out).toContain(`${rows.length} accepted, 0 already there, 0 bad`);
  }
  await weir.drained();
}

/** Waits until the worker has finalized this many invoices. */
async function finalized(count: number): Promise<void> {
  const counted = `SELECT count(*) FILTER (WHERE status <> 'DRAFT')::int AS done FROM invoices`;
  await until(async () => (await weir.pool.query(counted)).rows[0].done === count, `${count} invoices are finalized`);
}

// oxlint-disable-next-line typescript/no-explicit-any
async function invoicesOf(subscription: string): Promise<any[]> {
  const { data } = await billing.get(`/subscriptions/${subscription}/invoices`);
  return Promise.all(data.reverse().map(({ id }: { id: string }) => billing.get(`/invoices/${id}`)));
}

const NOVEMBER = { cycle: 0, period_start: '2023-11-01T00:00:00.000Z', period_end: '2023-12-01T00:00:00.000Z' };

function line(kind: string, { cents, ...due }: Priced, billedBefore = 0n) {
  return { kind, ...NOVEMBER, ...due, billed_before: money(billedBefore), amount: money(cents - billedBefore) };
}

function subset(line: Record<string, unknown>) {
  const { kind, cycle, period_start, period_end, quantity, event_count, exact_amount, billed_before, amount } = line;
  return { kind, cycle, period_start, period_end, quantity, event_count, exact_amount, billed_before, amount };
}

test('usage from a file is billed to the cent, and what comes late as if it had been there', async () => {
  // What the worker opens late is finalized at once.
  await billing.request('PATCH', '/billing/settings', { invoice_grace_hours: 0 });
  // Periods have the charges that were there when they were opened.
  await setBillingTime(weir.pool, '2023-11-01T00:00:00Z');
  const plan = await billing.plan(
    [
      { type: 'USAGE', display_name: 'Context', meter_id: context.id, model: 'graduated', tiers: TIERS },
      { type: 'USAGE', display_name: 'Generated', meter_id: generated.id, unit_price: '0.0000025' },
    ],
    { type: 'USAGE' },
  );
  const [split, once]: string[][] = [[], []];
  for (let number = 0; number < CUSTOMERS; number += 1) {
    for (const [name, subscriptions] of [['split', split] as const, ['once', once] as const]) {
      const { id } = await billing.customer({ external_id: `${name}-${number}` });
      subscriptions?.push((await billing.subscribe(plan.id, id, { start_date: '2023-11-01' })).id);
    }
  }

  await Promise.all([importRows('usage', calls, 'split'), importRows('all', [...calls, ...late], 'once')]);
  await setBillingTime(weir.pool, '2023-12-01T01:00:00Z');
  await finalized(2 * CUSTOMERS);
  await importRows('late', late, 'split');
  await setBillingTime(weir.pool, '2024-01-01T02:00:00Z');
  await finalized(4 * CUSTOMERS);

  const totals = { billed: 0n, byHand: 0n, atOnce: 0n };
  for (let number = 0; number < CUSTOMERS; number += 1) {
    const inTime = priced(callsOf(calls, number));
    const all = priced([...callsOf(calls, number), ...callsOf(late, number)]);

    const [november, december] = await invoicesOf(split?.[number] ?? '');
    expect(november.lines.map(subset)).toEqual([line('USAGE', inTime.context), line('USAGE', inTime.generated)]);
    expect(november.total).toBe(money(inTime.context.cents + inTime.generated.cents));
    const lateLines = december.lines.filter(({ kind }: { kind: string }) => kind !== 'USAGE').map(subset);
    expect(lateLines).toEqual([
      line('LATE_USAGE', all.context, inTime.context.cents),
      line('LATE_USAGE', all.generated, inTime.generated.cents),
    ]);

    const [atOnce, nothing] = await invoicesOf(once?.[number] ?? '');
    expect(atOnce.lines.map(subset)).toEqual([line('USAGE', all.context), line('USAGE', all.generated)]);
    expect(nothing).toMatchObject({ total: '0.00', status: 'PAID' });
    totals.billed += centsOf(november.total) + centsOf(december.total);
    totals.atOnce += centsOf(atOnce.total);
    totals.byHand += all.context.cents + all.generated.cents;
  }
  expect(totals).toEqual({ billed: totals.byHand, atOnce: totals.byHand, byHand: totals.byHand });
  // The file reaches into each tier, and half a cent went up.
  const second = priced(callsOf(calls, 1)).generated;
  expect(second.exact_amount).toMatch(/^\d+\.\d\d5$/);

  // Whoever comes in after others were billed, with usage and a start of then, is billed the same.
  await importRows('after', [...calls, ...late], 'after');
  const { id: customer } = await billing.customer({ external_id: 'after-1' });
  const { id: after } = await billing.subscribe(plan.id, customer, { start_date: '2023-11-01' });
  await finalized(4 * CUSTOMERS + 2);
  const [atLast] = await invoicesOf(after);
  const allOfSecond = priced([...callsOf(calls, 1), ...callsOf(late, 1)]);
  expect(atLast.lines.map(subset)).toEqual([line('USAGE', allOfSecond.context), line('USAGE', allOfSecond.generated)]);

  const { rows } = await weir.pool.query<{ id: string }>('SELECT id FROM invoices');
  const ids = rows.map(({ id }) => id);
  for (const source of ['rollups', 'events'] as const) {
    const again = await recomputeInvoices(billing.database, billing.admin.id, ids, source);
    expect(again.map(({ identical }) => identical)).toEqual(ids.map(() => true));
  }
  expect(await reconcileHere(weir, billing.database, { invoices: true })).toMatchObject({ isEqual: true });
}, 60_000);

function centsOf(amount: string): bigint {
  return BigInt(amount.replace('.', ''));
}
