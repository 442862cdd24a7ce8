// Two invoices of one customer that are finalized at the same time, one of them below zero: whichever is first, one pays the other.

import { checkBilling } from '@weir/db/billing/checks/billing-checks';
import { closeForDrafts, finalizeClosed } from '@weir/db/billing/run/finalize';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { until } from '../support/harness.ts';
import { startInvoicing, type Invoicing } from '../support/invoicing.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let billing: Invoicing;

beforeEach(async () => {
  billing = await startInvoicing(weir);
});
afterEach(() => billing.close());

async function subscribe(customer: string, price: string): Promise<string> {
  const plan = await billing.plan([{ type: 'FIXED', display_name: 'Base', unit_price: price }]);
  return (await billing.subscribe(plan.id, customer, { start_date: '2025-01-01T00:00:00Z' })).id;
}

async function draftOf(subscription: string): Promise<string> {
  const [draft] = await billing.drafts(subscription);
  if (draft === undefined) throw new Error('there is no draft');
  return draft.id;
}

/** A customer on the 10th, with a draft of 100.00, and one of -21.00: of a subscription that was paid for January and is cancelled. */
async function owingAndGiving() {
  await billing.moveTo('2025-01-10T12:00:00Z');
  const { id: customer } = await billing.customer();
  const cancelled = await subscribe(customer, '31');
  const [paid] = await billing.finalizeAll(cancelled);
  await billing.post(`/invoices/${paid.id}/pay`);
  await billing.post(`/subscriptions/${cancelled}/cancel`, { cancel_at_period_end: false });
  return { customer, giving: await draftOf(cancelled), owing: await draftOf(await subscribe(customer, '100')) };
}

/** Finalizes one, and before that commits, the other one, which waits for it. */
async function finalizeAtOnce(first: string, second: string): Promise<void> {
  const { admin, database } = billing;
  const options = { actor: 'weir', now: true };
  await closeForDrafts(database, admin.id, [first], options);
  let other: Promise<unknown> = Promise.resolve();
  await database.kysely.transaction().execute(async (transaction) => {
    expect(await finalizeClosed(transaction, admin.id, [first], options)).toMatchObject({ finalized: [first] });
    other = billing.post(`/invoices/${second}/finalize`);
    await until(async () => {
      const { rowCount } = await weir.pool.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return rowCount === 1;
    }, 'the second one waits for the first');
  });
  await other;
}

test.each([
  ['above zero', 'below zero', ['owing', 'giving'], ['invoice.credited']],
  ['below zero', 'above zero', ['giving', 'owing'], []],
] as const)('one %s that is not committed yet, and one %s', async (_first, _second, [first, second], told) => {
  const made = await owingAndGiving();
  await finalizeAtOnce(made[first], made[second]);
  expect(await billing.get(`/invoices/${made.giving}`)).toMatchObject({ status: 'PAID', total: '-21.00' });
  const owing = await billing.get(`/invoices/${made.owing}`);
  expect(owing).toMatchObject({ status: 'OPEN', total: '100.00', credits_applied: '21.00', amount_due: '79.00' });
  expect(await billing.get(`/customers/${made.customer}/credits`)).toMatchObject({ balance: { USD: '0.00' } });
  const { data: feed } = await billing.get('/billing-events?limit=1000');
  const types = feed.map(({ type }: { type: string }) => type);
  expect(types.filter((type: string) => type === 'invoice.credited')).toEqual(told);
  expect(await checkBilling(billing.database, { organizationId: billing.admin.id }, () => {})).toEqual([]);
});
