// The run of billing, with its jobs done twice, at once, late, in pieces and not at all. Postgres decides, and every invoice is made once.

import { settleSubscription } from '@weir/db/billing/run/settlements';
import { finalizeInvoices } from '@weir/db/billing/run/finalize';
import { openBillingJobs } from '@weir/queue/billing-jobs';
import { createLog } from '@weir/shared/log';
import pg from 'pg';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { setBillingTime } from '../support/billing-time.ts';
import { readBillingRows, startPricedRun, type PricedRun } from '../support/billing-run.ts';
import { expectDocumentedFeed } from '../support/documented-feed.ts';
import { until } from '../support/harness.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let priced: PricedRun;
let { billing, run, meter, plan } = {} as PricedRun;

beforeEach(async () => {
  priced = await startPricedRun(weir);
  ({ billing, run, meter, plan } = priced);
  // What is opened late is due at once.
  await billing.request('PATCH', '/billing/settings', { invoice_grace_hours: 0 });
});
afterEach(() => priced.close());

interface NumberedInvoice {
  subscription_id: string;
  cycle: number | null;
  status: string;
  invoice_number: string | null;
  run_error: string | null;
}

async function allInvoices(): Promise<NumberedInvoice[]> {
  const { rows } = await weir.pool.query(
    `SELECT subscription_id, cycle, status, invoice_number, run_error FROM invoices WHERE organization_id = $1
     ORDER BY invoice_number NULLS LAST`,
    [billing.admin.id],
  );
  return rows;
}

/** The ids of the subscriptions that the API lists for a query. */
async function subscriptionsWith(query: string): Promise<string[]> {
  const { data } = await billing.get(`/subscriptions?${query}`);
  return data.map(({ id }: { id: string }) => id);
}

/** One invoice for each of these cycles of each subscription, numbered without a gap, cycle by cycle. */
async function expectNumbered(subscriptions: number, cycles: number): Promise<void> {
  const invoices = await allInvoices();
  const expected = Array.from({ length: subscriptions * cycles }, (_, index) => {
    return `INV-2026-${String(index + 1).padStart(6, '0')}`;
  });
  expect(invoices.map(({ invoice_number }) => invoice_number)).toEqual(expected);
  const bySubscription = new Map<string, (number | null)[]>();
  for (const { subscription_id, cycle } of invoices)
    bySubscription.set(subscription_id, [...(bySubscription.get(subscription_id) ?? []), cycle]);
  const inOrder = Array.from({ length: cycles }, (_, cycle) => cycle);
  expect([...bySubscription.values()]).toEqual(Array.from({ length: subscriptions }, () => inOrder));
  const { rows } = await weir.pool.query(
    `SELECT bool_and(later) AS in_order FROM (
       SELECT finalized_at >= lag(finalized_at, 1, finalized_at) OVER (ORDER BY invoice_number) AS later
       FROM invoices WHERE organization_id = $1 AND invoice_number IS NOT NULL) AS each`,
    [billing.admin.id],
  );
  expect(rows).toEqual([{ in_order: true }]);
}

test('a run that comes again, twice at once, and with each of its jobs three times changes nothing', async () => {
  await billing.request('PATCH', '/billing/settings', { invoice_grace_hours: 1 });
  await priced.subscribeMany(8);
  // Each boundary is opened, and an hour later there is something to finalize.
  const [january, february, march] = ['2026-01-01T01', '2026-02-01T00', '2026-03-01T02'];
  for (const hour of [january, february, '2026-02-01T01', march, '2026-03-01T03']) {
    const at = `${hour}:00:00Z`;
    await billing.moveTo(at);
    const jobs = await run.find();
    expect(jobs.length).toBeGreaterThan(0);
    // Each job three times, all of them at once, and some after each other.
    await Promise.all([...jobs, ...jobs].map((job) => run.perform(job)));
    await run.untilDone();
    const after = await readBillingRows(weir);
    for (const job of [...jobs].reverse()) await run.perform(job);
    await Promise.all([run.once(), run.once()]);
    expect(await readBillingRows(weir)).toEqual(after);
  }
  await expectNumbered(8, 3);
  expect(run.failures()).toBe(0);
}, 120_000);

test('finalizations that overlap and come in any order leave one invoice for each cycle', async () => {
  const made = await priced.subscribeMany(12);
  await billing.moveTo('2026-03-01T05:00:00Z', ...made.map(({ id }) => id));
  const { rows } = await weir.pool.query(
    `SELECT id FROM invoices WHERE organization_id = $1 AND status = 'DRAFT' ORDER BY cycle, subscription_id`,
    [billing.admin.id],
  );
  const ids: string[] = rows.map(({ id }) => id);
  expect(ids).toHaveLength(36);
  const slices = [ids.slice(0, 9), ids.slice(6, 20), ids.slice(3, 30), [...ids].reverse()];
  const { database, admin } = billing;
  await Promise.all(slices.map((slice) => finalizeInvoices(database, admin.id, slice, { actor: 'weir' })));
  await run.untilDone();
  await expectNumbered(12, 3);
}, 120_000);

test('a run that is killed in the middle goes on: one invoice a cycle, no number missing, none twice', async () => {
  const made = await priced.subscribeMany(10);
  await billing.moveTo('2026-02-01T03:00:00Z', ...made.map(({ id }) => id));
  const { rows } = await weir.pool.query(
    'SELECT id FROM invoices WHERE organization_id = $1 ORDER BY cycle, subscription_id',
    [billing.admin.id],
  );
  const ids: string[] = rows.map(({ id }) => id);
  const database = openTestDatabase(weir);
  const finalize = (some: string[]) => finalizeInvoices(database, billing.admin.id, some, { actor: 'weir', now: true });
  await finalize(ids.slice(0, 3));
  const before = await readBillingRows(weir);
  // Whoever holds one of these rows stops it there: where it writes lines, where it takes numbers, and before the feed.
  for (const [table, statement] of [
    ['dues', 'SELECT FROM dues WHERE organization_id = $1 FOR UPDATE'],
    ['invoice_numbers', 'SELECT FROM invoice_numbers WHERE organization_id = $1 FOR UPDATE'],
    ['billing_feeds', 'SELECT FROM billing_feeds WHERE organization_id = $1 FOR UPDATE'],
  ] as const) {
    const holder = new pg.Client({ connectionString: weir.databaseUrl });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query(statement, [billing.admin.id]);
    const killed = finalize(ids.slice(3, 15)).then(
      () => 'finalized',
      () => 'killed',
    );
    await until(async () => {
      const blocked = await weir.pool.query<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0`,
      );
      for (const { pid } of blocked.rows) await weir.pool.query('SELECT pg_terminate_backend($1)', [pid]);
      return blocked.rows.length > 0;
    }, `the finalization waits at ${table}`);
    expect(await killed).toBe('killed');
    await holder.query('ROLLBACK');
    await holder.end();
    expect(await readBillingRows(weir)).toEqual(before);
  }
  await database.close();
  await run.untilDone();
  await expectNumbered(10, 2);
}, 120_000);

test('a draft that cannot be billed is left out, with the reason, and tried again; the others go on', async () => {
  const made = await priced.subscribeMany(9);
  const bad = made[4];
  await billing.moveTo('2026-01-01T01:00:00Z');
  await run.untilDone();
  const spoil = (price: string) =>
    weir.pool.query(
      `UPDATE dues SET terms = jsonb_set(terms, '{unit_price}', to_jsonb($2::text)) WHERE subscription_id = $1 AND meter_id IS NOT NULL`,
      [bad?.id, price],
    );
  await spoil('many');
  await billing.moveTo('2026-02-01T02:00:00Z');
  await run.untilDone();
  const drafts = (await allInvoices()).filter(({ status }) => status === 'DRAFT');
  expect(drafts).toMatchObject([{ subscription_id: bad?.id, cycle: 1, run_error: expect.stringMatching(/many/) }]);
  expect(run.failures()).toBe(1);
  expect(await subscriptionsWith('has_run_error=true')).toEqual([bad?.id]);
  expect(await subscriptionsWith('has_run_error=false')).toHaveLength(8);
  await spoil('0.1');
  await run.untilDone();
  expect((await allInvoices()).filter(({ status }) => status === 'DRAFT')).toHaveLength(1);
  await billing.moveTo('2026-02-01T02:05:00Z');
  await run.untilDone();
  expect((await allInvoices()).filter(({ run_error }) => run_error !== null)).toEqual([]);
  expect(await subscriptionsWith('has_run_error=true')).toEqual([]);
  await expectNumbered(9, 2);
}, 120_000);

test('a subscription that cannot be opened is left out, with the reason, and tried again; the others go on', async () => {
  const made = await priced.subscribeMany(5);
  const bad = made[1];
  await weir.pool.query(`UPDATE subscriptions SET time_zone = 'Nowhere/Land' WHERE id = $1`, [bad?.id]);
  await billing.moveTo('2026-02-01T00:00:00Z');
  await run.untilDone();
  const state = async () => {
    const { rows } = await weir.pool.query(
      'SELECT id, cycle, run_error FROM subscriptions WHERE organization_id = $1 ORDER BY cycle, id',
      [billing.admin.id],
    );
    return rows;
  };
  const [left, ...others] = await state();
  expect(left).toMatchObject({ id: bad?.id, cycle: 0, run_error: expect.stringMatching(/nowhere/i) });
  expect(others.map(({ cycle }) => cycle)).toEqual([1, 1, 1, 1]);
  await weir.pool.query(`UPDATE subscriptions SET time_zone = 'UTC' WHERE id = $1`, [bad?.id]);
  expect(await subscriptionsWith('has_run_error=true')).toEqual([bad?.id]);
  await billing.moveTo('2026-02-01T00:05:00Z');
  await run.untilDone();
  expect((await state()).map(({ cycle, run_error }) => [cycle, run_error])).toEqual(
    [0, 1, 2, 3, 4].map(() => [1, null]),
  );
}, 120_000);

test('a subscription many boundaries behind is brought up to date by its job and what follows it', async () => {
  await priced.subscribeMany(1);
  await billing.moveTo('2026-06-15T00:00:00Z');
  // A turn may be over before all of it is opened, or finalized.
  let next = await run.perform({ task: 'open', organizationId: billing.admin.id });
  while (next.length > 0) next = (await Promise.all(next.map((job) => run.perform(job)))).flat();
  expect(await run.find()).toEqual([]);
  await expectNumbered(1, 6);
});

test('an open invoice is past due once its due date has ended, its subscription with it, until it is paid', async () => {
  const [subscribed] = await priced.subscribeMany(1);
  await billing.moveTo('2026-01-01T01:00:00Z');
  await run.untilDone();
  const status = async () => (await billing.get(`/subscriptions/${subscribed?.id}`)).status;
  const pastDue = async () => {
    const { rows } = await weir.pool.query('SELECT id FROM invoices WHERE organization_id = $1 AND is_past_due', [
      billing.admin.id,
    ]);
    return rows.map(({ id }) => id);
  };
  await billing.moveTo('2026-01-31T23:59:59.999999Z');
  await run.untilDone();
  expect([await status(), await pastDue()]).toEqual(['ACTIVE', []]);
  await billing.moveTo('2026-02-01T00:00:00Z');
  await run.untilDone();
  await run.once();
  const [late] = await pastDue();
  expect(await status()).toBe('PAST_DUE');
  await billing.post(`/invoices/${late}/pay`, {});
  expect([await status(), await pastDue()]).toEqual(['ACTIVE', []]);
  const { data } = await billing.get('/billing-events?limit=1000');
  const types = data.map(({ type }: { type: string }) => type);
  const told = types.filter((type: string) => /past_due|paid|activated/.test(type));
  expect(told.slice(-4)).toEqual([
    'invoice.past_due',
    'subscription.past_due',
    'invoice.paid',
    'subscription.activated',
  ]);
  await expectDocumentedFeed(weir, 'the run', { organization: billing.admin.id });
});

test('late changes of a subscription that has ended are put on an ADJUSTMENT invoice, at most one a day', async () => {
  const [subscribed] = await priced.subscribeMany(1);
  const customer = subscribed?.customer.external_id ?? '';
  const id = subscribed?.id ?? '';
  const { id: organization } = billing.admin;
  const settle = () => settleSubscription(billing.database, organization, id, { actor: 'weir' });
  expect(await settle()).toEqual({ outcome: 'subscription_not_ended' });
  await billing.moveTo('2026-01-20T00:00:00Z');
  await billing.post(`/subscriptions/${id}/cancel`, { cancel_at_period_end: false });
  expect(await settle()).toEqual({ outcome: 'earlier_draft' });
  await billing.moveTo('2026-01-20T01:00:00Z');
  await run.untilDone();
  expect(await settle()).toEqual({ outcome: 'nothing' });
  const adjustments = async () => {
    const { data } = await billing.get(`/subscriptions/${id}/invoices`);
    return data.filter(({ kind }: { kind: string }) => kind === 'ADJUSTMENT');
  };
  // Billing stands still: without this the closing of a moment ago would be this one.
  let seconds = 0;
  const moveTo = async (at: string) => {
    seconds += 1;
    await billing.moveTo(`${at}:${String(seconds).padStart(2, '0')}Z`);
  };
  const settleWhatIsDue = async () => {
    for (const job of await run.findSettling()) await run.perform(job);
  };
  const settleAll = async (at = '2026-01-20T02:00') => {
    await moveTo(at);
    await settleWhatIsDue();
  };
  const late = (quantity: number, day: number) =>
    billing.track([{ meter, customer, quantity, at: `2026-01-${String(day).padStart(2, '0')}T00:00:00Z` }]);
  // Less than half a cent comes to nothing: it waits.
  await late(0.04, 2);
  await settleAll();
  expect(await adjustments()).toEqual([]);
  await late(1, 3);
  // What is after the end is of nobody.
  await late(1_000, 21);
  await settleAll();
  const [first, ...others] = await adjustments();
  expect(others).toEqual([]);
  expect(first).toMatchObject({
    status: 'OPEN',
    cycle: null,
    total: '0.10',
    period_start: '2026-01-01T00:00:00.000Z',
    period_end: '2026-01-20T00:00:00.000Z',
  });
  await late(2, 4);
  await settleAll('2026-01-20T23:00');
  expect(await adjustments()).toHaveLength(1);
  await moveTo('2026-01-21T03:00');
  await Promise.all([settleWhatIsDue(), settleWhatIsDue()]);
  const [second] = await adjustments();
  const { lines } = await billing.get(`/invoices/${second.id}`);
  expect(lines).toMatchObject([
    { kind: 'LATE_USAGE', quantity: '13.04', exact_amount: '1.304', billed_before: '1.10', amount: '0.20' },
  ]);
  expect(await adjustments()).toHaveLength(2);
});

test('what is voided after the end to be billed again is billed by the run, without a late event', async () => {
  const { id: plan } = await billing.plan([
    { type: 'FIXED', display_name: 'Base', unit_price: '31', timing: 'in_arrears' },
  ]);
  const { id: customer } = await billing.customer();
  const { id } = await billing.subscribe(plan, customer, { start_date: '2026-01-01' });
  await billing.moveTo('2026-01-10T12:00:00Z');
  await billing.post(`/subscriptions/${id}/cancel`, { cancel_at_period_end: false });
  const [final] = await billing.finalizeAll(id);
  expect(final).toMatchObject({ status: 'OPEN', total: '10.00' });
  const settling = async () =>
    (await run.findSettling()).filter(({ organizationId }) => organizationId === billing.admin.id);
  expect(await settling()).toEqual([]);
  await billing.post(`/invoices/${final.id}/void`, { rebill: true });
  await billing.moveTo('2026-01-10T13:00:00Z');
  for (const job of await settling()) await run.perform(job);
  const { data } = await billing.get(`/subscriptions/${id}/invoices?status=OPEN`);
  expect(data).toMatchObject([{ kind: 'ADJUSTMENT', total: '10.00' }]);
  expect(await settling()).toEqual([]);
});

test('how long what is due has waited is looked at often, however seldom billing begins', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const worker = await weir.startWorker({ BILLING_INTERVAL_MS: '600000' });
  const oldest = async () =>
    Number(/^weir_billing_oldest_seconds (\S+)$/m.exec(await (await fetch(`${worker.url}/metrics`)).text())?.[1]);
  await until(async () => (await oldest()) === 0, 'nothing is due');
  await priced.subscribeMany(1);
  await setBillingTime(weir.pool, '2026-03-01T01:00:00Z');
  vi.advanceTimersByTime(10_000);
  await until(async () => (await oldest()) > 0, 'it is due');
  expect(await oldest()).toBeGreaterThan(86_400);
  await worker.close();
});

test('a worker bills by itself: what is due is found, and each job is done', async () => {
  await priced.subscribeMany(1);
  await setBillingTime(weir.pool, '2026-03-01T01:00:00Z');
  const worker = await weir.startWorker({ BILLING_INTERVAL_MS: '100', BILLING_CONCURRENCY: '2' });
  await until(
    async () => (await allInvoices()).filter(({ status }) => status === 'OPEN').length === 3,
    'all is billed',
  );
  await expectNumbered(1, 3);
  // A hint opens what nobody has looked for yet, and coming twice it does nothing.
  const jobs = openBillingJobs(weir.queue, createLog('test', 'silent'));
  for (let hints = 0; hints < 3; hints += 1) jobs.wakeRun(billing.admin.id);
  await jobs.close();
  // The other worker takes jobs as well.
  const count = async (name: string) => {
    const texts = [worker.url, weir.workerUrl ?? ''].map(async (url) => (await fetch(`${url}/metrics`)).text());
    const counts = (await Promise.all(texts)).map((text) =>
      Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]),
    );
    return counts.reduce((sum, each) => sum + each, 0);
  };
  expect(await count('weir_finalized_invoices_total')).toBe(3);
  expect(await count('weir_billing_failures_total')).toBe(0);
  await worker.close();
  await expectNumbered(1, 3);
});

test('a subscription that is made with a start long ago is billed at once: making it wakes the run', async () => {
  const worker = await weir.startWorker({ BILLING_CONCURRENCY: '1' });
  await billing.moveTo('2026-04-01T01:00:00Z');
  const customer = await billing.customer();
  await billing.subscribe(plan, customer.id, { start_date: '2026-01-01' });
  await until(
    async () => (await allInvoices()).filter(({ status }) => status === 'OPEN').length === 4,
    'all is billed',
  );
  await worker.close();
  await expectNumbered(1, 4);
});
