// What of billing a lock holds off that somebody holds for long: it is told, tried again soon, and done once the lock is gone.

import { readRunState } from '@weir/db/billing/run/run-work';
import { RECORDING_LOCK } from '@weir/db/advisory-locks';
import { openBillingJobs, type BillingTask } from '@weir/queue/billing-jobs';
import { createLog } from '@weir/shared/log';
import { Queue } from 'bullmq';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startPricedRun, type PricedRun } from '../support/billing-run.ts';
import { until } from '../support/harness.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let priced: PricedRun;
let { billing, run, meter } = {} as PricedRun;

beforeEach(async () => {
  priced = await startPricedRun(weir);
  ({ billing, run, meter } = priced);
  await billing.request('PATCH', '/billing/settings', { invoice_grace_hours: 0 });
});
afterEach(() => priced.close());

/** Holds what a statement locks until it is told to let go. */
async function hold(statement: string, values: unknown[]): Promise<{ letGo(): Promise<void> }> {
  const holder = new pg.Client({ connectionString: weir.databaseUrl });
  await holder.connect();
  await holder.query('BEGIN');
  await holder.query(statement, values);
  return {
    async letGo() {
      await holder.query('ROLLBACK');
      await holder.end();
    },
  };
}

/** A worker that bills, and its jobs. `databaseUrl`: as a role of an operator may be set up. */
async function openWorker(databaseUrl = weir.databaseUrl) {
  const worker = await weir.startWorker({ BILLING_CONCURRENCY: '8', DATABASE_URL: databaseUrl });
  const jobs = openBillingJobs(weir.queue, createLog('test', 'silent'));
  const queue = new Queue('billing', { connection: weir.redis, prefix: weir.keys.prefix });
  const waiting = async (task: BillingTask) => (await queue.getDelayed()).find(({ name }) => name === task);
  return {
    add: (task: BillingTask) => jobs.add([{ task, organizationId: billing.admin.id }]),
    failures: async () =>
      Number(/^weir_billing_failures_total (\d+)$/m.exec(await (await fetch(`${worker.url}/metrics`)).text())?.[1]),
    /** Resolves once the job waits for its next try, with for how long it does. */
    async untilPutOff(task: BillingTask) {
      await until(async () => (await waiting(task)) !== undefined, `${task} waits for its next try`);
      return (await waiting(task))?.delay;
    },
    tryNow: async (task: BillingTask) => (await waiting(task))?.promote(),
    isIdle: async () => Object.values(await queue.getJobCounts()).every((count) => count === 0),
    async close() {
      await jobs.close();
      await queue.close();
      await worker.close();
    },
  };
}

test('a settlement that a lock holds off is tried again soon, counted meanwhile, and done after it', async () => {
  const [subscribed] = await priced.subscribeMany(1);
  const id = subscribed?.id ?? '';
  await billing.moveTo('2026-01-20T00:00:00Z');
  await billing.post(`/subscriptions/${id}/cancel`, { cancel_at_period_end: false });
  await billing.moveTo('2026-01-20T01:00:00Z');
  await run.untilDone();
  const customer = subscribed?.customer.external_id ?? '';
  await billing.track([{ meter, customer, quantity: 1, at: '2026-01-03T00:00:00Z' }]);
  await billing.moveTo('2026-01-20T02:00:00Z');
  // As a statement has it that records and hangs.
  const held = await hold(`SELECT pg_advisory_xact_lock(${RECORDING_LOCK}, closing_slot($1::uuid))`, [
    billing.admin.id,
  ]);
  const worker = await openWorker();
  await worker.add('settle');
  expect(await worker.untilPutOff('settle')).toBeLessThanOrEqual(60_000);
  expect(await worker.failures()).toBe(0);
  await worker.tryNow('settle');
  await until(async () => (await worker.failures()) === 1, 'the second refusal is counted');
  await worker.untilPutOff('settle');
  await held.letGo();
  await worker.tryNow('settle');
  const settled = async () => {
    const { data } = await billing.get(`/subscriptions/${id}/invoices`);
    return data.filter(({ kind }: { kind: string }) => kind === 'ADJUSTMENT');
  };
  await until(async () => (await settled()).length === 1, 'it is settled');
  await until(worker.isIdle, 'nothing is left to do');
  expect(await worker.failures()).toBe(1);
  await worker.close();
});

test('a day that cannot be looked at for a lock is looked at again soon, and not tomorrow', async () => {
  await priced.subscribeMany(1);
  await billing.moveTo('2026-01-16T00:00:00Z');
  const held = await hold('LOCK TABLE unbilled_usage_looks IN EXCLUSIVE MODE', []);
  const url = new URL(weir.databaseUrl);
  url.searchParams.set('options', '-c lock_timeout=200');
  const worker = await openWorker(url.href);
  await worker.add('unbilled');
  expect(await worker.untilPutOff('unbilled')).toBeLessThanOrEqual(60_000);
  await worker.tryNow('unbilled');
  await until(async () => (await worker.failures()) === 1, 'the second refusal is counted');
  await worker.untilPutOff('unbilled');
  await held.letGo();
  await worker.tryNow('unbilled');
  await until(worker.isIdle, 'nothing is left to do');
  const { rows } = await weir.pool.query(
    'SELECT has_failed FROM unbilled_usage_looks WHERE organization_id = $1 GROUP BY has_failed',
    [billing.admin.id],
  );
  expect(rows).toEqual([{ has_failed: false }]);
  await worker.close();
});

test('an invoice that nobody can mark as past due is among what waits to be billed', async () => {
  const [subscribed] = await priced.subscribeMany(1);
  await billing.moveTo('2026-01-01T01:00:00Z');
  await run.untilDone();
  const oldest = async () => (await readRunState(billing.database.kysely)).oldestSeconds;
  await billing.moveTo('2026-02-01T00:00:00Z');
  await run.untilDone();
  expect(await oldest()).toBe(0);
  const isPastDue = async () => (await billing.get(`/subscriptions/${subscribed?.id}`)).status === 'PAST_DUE';
  expect(await isPastDue()).toBe(true);
  await weir.pool.query('UPDATE invoices SET is_past_due = false WHERE is_past_due');
  const held = await hold('SELECT FROM subscriptions WHERE id = $1 FOR UPDATE', [subscribed?.id]);
  await billing.moveTo('2026-02-01T00:10:00Z');
  await run.once();
  expect(await oldest()).toBe(600);
  await held.letGo();
  await run.untilDone();
  expect(await oldest()).toBe(0);
});
