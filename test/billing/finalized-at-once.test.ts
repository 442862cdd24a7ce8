// Invoices of one customer that are finalized at the same time, one of them below zero: whichever is first, one pays the other. And those of
// which somebody has in hand what they change.

import { FINALIZING_LOCK } from '@weir/db/advisory-locks';
import { checkBilling } from '@weir/db/billing/checks/billing-checks';
import { closeForDrafts, finalizeClosed, finalizeInvoices } from '@weir/db/billing/run/finalize';
import { markPastDue } from '@weir/db/billing/run/past-due';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openRun, type BillingRun } from '../support/billing-run.ts';
import { until } from '../support/harness.ts';
import { startInvoicing, type Invoicing } from '../support/invoicing.ts';
import { untilWaiting } from '../support/until-waiting.ts';
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

/** A draft of -21.00 on the 10th: of a subscription that was paid for January and is cancelled. */
async function draftBelowZero(customer: string): Promise<string> {
  const cancelled = await subscribe(customer, '31');
  const [paid] = await billing.finalizeAll(cancelled);
  await billing.post(`/invoices/${paid.id}/pay`);
  await billing.post(`/subscriptions/${cancelled}/cancel`, { cancel_at_period_end: false });
  return await draftOf(cancelled);
}

/** A customer with a draft of 100.00, and one of -21.00. */
async function owingAndGiving() {
  await billing.moveTo('2025-01-10T12:00:00Z');
  const { id: customer } = await billing.customer();
  const giving = await draftBelowZero(customer);
  return { customer, giving, owing: await draftOf(await subscribe(customer, '100')) };
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

/** A customer with a subscription that is PAST_DUE over 20.00, and a draft of -21.00 that the run finds due. */
async function pastDueAndGiving(): Promise<{ behind: string; giving: string; run: BillingRun }> {
  await billing.request('PATCH', '/billing/settings', { invoice_grace_hours: 0 });
  await billing.moveTo('2025-01-10T12:00:00Z');
  const { id: customer } = await billing.customer();
  const behind = await subscribe(customer, '20');
  const [{ id: owed }] = await billing.finalizeAll(behind);
  await weir.pool.query('UPDATE invoices SET past_due_at = billing_now() WHERE id = $1', [owed]);
  expect(await markPastDue(billing.database, billing.admin.id, [owed])).toBe(1);
  const giving = await draftBelowZero(customer);
  await billing.moveTo('2025-01-10T13:00:00Z');
  return { behind, giving, run: openRun(weir, billing.database) };
}

/** Does something while another connection holds the rows of a statement. */
async function whileHeld(statement: string, id: string | undefined, work: () => Promise<void>): Promise<void> {
  const holder = await weir.pool.connect();
  try {
    await holder.query('BEGIN');
    await holder.query(statement, [id]);
    await work();
  } finally {
    await holder.query('ROLLBACK');
    holder.release();
  }
}

/** The status of a subscription, and what the feed said of it last. */
async function lastOf(subscription: string): Promise<unknown[]> {
  const { data: feed } = await billing.get('/billing-events?limit=1000');
  const own = feed.filter(({ data }: { data: { id: string } }) => data.id === subscription);
  return [(await billing.get(`/subscriptions/${subscription}`)).status, own.at(-1).type];
}

test('what pays the last that is past due waits for the next look where somebody has its subscription', async () => {
  const { behind, giving, run } = await pastDueAndGiving();
  const others: string[] = [];
  for (const price of ['5', '6', '7']) {
    const { id: customer } = await billing.customer();
    others.push(await draftOf(await subscribe(customer, price)));
  }
  await whileHeld('SELECT FROM subscriptions WHERE id = $1 FOR UPDATE', behind, async () => {
    // Nothing is left to do at once: there is no use in another turn as long as it is held.
    expect(await run.perform({ task: 'finalize', organizationId: billing.admin.id })).toEqual([]);
    expect(run.failures()).toBe(0);
    const { rows } = await weir.pool.query('SELECT status, run_error FROM invoices WHERE id = $1', [giving]);
    expect(rows).toEqual([{ status: 'DRAFT', run_error: null }]);
    for (const id of others) expect(await billing.get(`/invoices/${id}`)).toMatchObject({ status: 'OPEN' });
    expect(await lastOf(behind)).toEqual(['PAST_DUE', 'subscription.past_due']);
    expect(await billing.post(`/invoices/${giving}/finalize`, {}, 503)).toMatchObject({ code: 'unavailable' });
    expect(await run.find()).toMatchObject([{ task: 'finalize' }]);
  });
  await run.untilDone();
  expect(await lastOf(behind)).toEqual(['ACTIVE', 'subscription.activated']);
  expect(await checkBilling(billing.database, { organizationId: billing.admin.id }, () => {})).toEqual([]);
});

test('what pays the last that is past due does not wait for a price that is added to its plan', async () => {
  const { behind, run } = await pastDueAndGiving();
  await whileHeld('SELECT FROM subscriptions WHERE id = $1 FOR KEY SHARE', behind, async () => {
    await run.untilDone();
    expect(await lastOf(behind)).toEqual(['ACTIVE', 'subscription.activated']);
  });
});

test('an invoice that one below zero has in hand is marked as past due afterwards, and others at once', async () => {
  await billing.moveTo('2025-01-10T12:00:00Z');
  const { id: customer } = await billing.customer();
  const ids: string[] = [];
  for (const price of ['10', '20']) {
    const [{ id }] = await billing.finalizeAll(await subscribe(customer, price));
    ids.push(id);
  }
  await weir.pool.query('UPDATE invoices SET past_due_at = billing_now() WHERE id = ANY ($1)', [ids]);
  const mark = () => markPastDue(billing.database, billing.admin.id, ids);
  await whileHeld('SELECT FROM invoices WHERE id = $1 FOR UPDATE', ids[0], async () => {
    expect([await mark(), await mark()]).toEqual([1, 0]);
  });
  expect([await mark(), await mark()]).toEqual([1, 0]);
});

test('an alert over a customer is made while the run gives that customer something', async () => {
  await billing.request('PATCH', '/billing/settings', { invoice_grace_hours: 0 });
  await billing.moveTo('2025-01-10T12:00:00Z');
  const { id: customer_id } = await billing.customer();
  const giving = await draftBelowZero(customer_id);
  await billing.moveTo('2025-01-10T13:00:00Z');
  const { admin, database } = billing;
  let both: Promise<unknown>[] = [];
  await whileHeld(`SELECT pg_advisory_xact_lock(${FINALIZING_LOCK}, uuid_hash($1::uuid))`, admin.id, async () => {
    both = [finalizeInvoices(database, admin.id, [giving], { actor: 'weir' })];
    await untilWaiting(weir);
    const alert = { name: 'Alert', subscription_amount: true, customer_id, thresholds: [1] };
    both.push(billing.post('/alerts', alert, 201));
    await untilWaiting(weir, 2);
  });
  expect(await Promise.all(both)).toMatchObject([{ finalized: [giving] }, { customer_id }]);
});
