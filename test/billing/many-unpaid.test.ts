// A customer that never records a payment: an invoice below zero pays a great many open ones, while others of the organization wait.

import type { Database } from '@weir/db/database';
import { checkBilling } from '@weir/db/billing/checks/billing-checks';
import { finalizeInvoices } from '@weir/db/billing/run/finalize';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyRows } from '../support/copy-rows.ts';
import { startInvoicing, type Invoicing } from '../support/invoicing.ts';
import { ownWeir } from '../support/use-weir.ts';

const OPEN = 1_000;
const weir = ownWeir({ withWorker: false });

let billing: Invoicing;
let customer: string;
let oldest: string;
let draft: string;
beforeAll(async () => {
  billing = await startInvoicing(weir);
  const plan = await billing.plan([{ type: 'FIXED', display_name: 'Base', unit_price: '10' }]);
  customer = (await billing.customer()).id;
  await billing.moveTo('2025-01-01T00:10:00Z');
  const { id } = await billing.subscribe(plan.id, customer, { start_date: '2025-01-01' });
  const [first] = await billing.finalizeAll(id);
  await billing.moveTo('2025-02-01T00:10:00Z', id);
  const [second] = await billing.drafts(id);
  [oldest, draft] = [first.id, second?.id ?? ''];
  await copyOpen();
});
afterAll(() => billing.close());

/** Copies of the invoice that is open, each with its lines and the dues of them, under other subscriptions. */
async function copyOpen(): Promise<void> {
  const copyOf = (column: string) => `'${column}', md5(t.${column}::text || n)::uuid`;
  const copy = (table: string, changes: string, where: string) =>
    weir.pool.query(copyRows(table, changes, { times: OPEN - 1, where }), [oldest]);
  const ofInvoice = '(SELECT subscription_id FROM invoices WHERE id = $1)';
  await copy(
    'subscriptions',
    `${copyOf('id')}, 'external_id', null, 'status', 'CANCELED', 'run_at', null, 'cycle', 0, 'ended_at', t.current_period_start,
     'current_period_start', t.start_at, 'current_period_end', t.current_period_start`,
    `t.id = ${ofInvoice}`,
  );
  const ofSubscription = copyOf('subscription_id');
  for (const table of ['subscription_periods', 'dues'])
    await copy(table, ofSubscription, `t.subscription_id = ${ofInvoice} AND t.cycle = 0`);
  await copy(
    'invoices',
    `${copyOf('id')}, ${ofSubscription}, 'run_at', null, 'past_due_at', null, 'invoice_number', t.invoice_number || '-' || n,
     'finalized_at', t.finalized_at + n * interval '1 second'`,
    't.id = $1',
  );
  await copy('invoice_lines', `${copyOf('id')}, ${copyOf('invoice_id')}, ${ofSubscription}`, 't.invoice_id = $1');
}

/** The same, which counts its statements. */
function counting({ kysely, ...database }: Database): { database: Database; statements(): number } {
  let statements = 0;
  const counted = kysely.withPlugin({
    transformQuery({ node }) {
      statements += 1;
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  });
  return { database: { ...database, kysely: counted }, statements: () => statements };
}

test('are paid, the oldest first, in as many statements as one of them', async () => {
  // With the 10.00 of the draft itself one of them is paid in part, and the newest not at all.
  const amount = `-${10 * OPEN - 5}.00`;
  await billing.post(`/invoices/${draft}/lines`, { description: 'All of it is given back', amount }, 201);
  const { database, statements } = counting(billing.database);
  const { finalized } = await finalizeInvoices(database, billing.admin.id, [draft], { actor: 'weir', now: true });
  expect(finalized).toEqual([draft]);
  expect(statements()).toBeLessThan(60);

  const { rows } = await weir.pool.query(
    `SELECT status, credits_applied, paid_at = (SELECT finalized_at FROM invoices WHERE id = $2) AS is_now, count(*)::integer
     FROM invoices WHERE customer_id = $1 AND total > 0 GROUP BY 1, 2, 3 ORDER BY 2 DESC, 1`,
    [customer, draft],
  );
  expect(rows).toEqual([
    { status: 'PAID', credits_applied: '10.00', is_now: true, count: OPEN - 2 },
    { status: 'OPEN', credits_applied: '5.00', is_now: null, count: 1 },
    { status: 'OPEN', credits_applied: '0.00', is_now: null, count: 1 },
  ]);
  const told = await weir.pool.query(
    `SELECT type, data ->> 'id' AS id FROM billing_events
     WHERE type IN ('invoice.paid', 'invoice.credited') AND data ->> 'id' <> $1 ORDER BY sequence`,
    [draft],
  );
  const byAge = await weir.pool.query(
    'SELECT id FROM invoices WHERE customer_id = $1 AND total > 0 ORDER BY finalized_at',
    [customer],
  );
  const ids = byAge.rows.map(({ id }) => id).slice(0, OPEN - 1);
  const types = ids.map((_, index) => (index < OPEN - 2 ? 'invoice.paid' : 'invoice.credited'));
  expect(told.rows).toEqual(ids.map((id, index) => ({ type: types[index], id })));
  const faults = await checkBilling(billing.database, { organizationId: billing.admin.id }, () => {});
  // The copies have numbers of their own kind; all else is in order.
  expect(faults.map(({ name }) => name)).toEqual(['invoice_numbers']);
});
