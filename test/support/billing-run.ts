// The run of billing, taken apart: a test looks for work and does the jobs itself, as often and in the order that it likes.

import { addDueWork, addLooks, addSettling } from '@weir/worker/billing/find-work';
import { performBillingJob, type BillingDeps } from '@weir/worker/billing/perform-job';
import type { Database } from '@weir/db/database';
import type { BegunChunk, BillingJob, BillingJobs } from '@weir/queue/billing-jobs';
import { createLog, type Logger } from '@weir/shared/log';
import type { Weir } from './harness.ts';
import { startInvoicing, type Invoicing, type PricedMeter } from './invoicing.ts';

export interface BillingRun {
  /** The jobs that a look for work adds now. */
  find(): Promise<BillingJob[]>;
  findSettling(): Promise<BillingJob[]>;
  findLooks(): Promise<BillingJob[]>;
  /** Does a job, and returns those that follow. */
  perform(job: BillingJob, begin?: (chunk: BegunChunk) => Promise<void>): Promise<BillingJob[]>;
  /** One look for work, and all of its jobs. */
  once(): Promise<void>;
  /** Looks for work until there is none, which may be all that fails is put off. */
  untilDone(): Promise<void>;
  /** How many subscriptions and drafts were left out so far. */
  failures(): number;
  /** How many invoices were counted as finalized. */
  finalized(): number;
  /** How often a job said that a worker had died of it. */
  deaths(): number;
}

export function openRun(
  weir: Weir,
  database: Database,
  log: Logger = createLog('run', process.env['TEST_LOG_LEVEL'] ?? 'silent'),
): BillingRun {
  let failures = 0;
  let deaths = 0;
  let finalized = 0;
  const deps: BillingDeps = {
    database,
    queue: weir.queue,
    ownership: { check: () => Promise.resolve() },
    log,
    metrics: {
      finalizedInvoices: { inc: (by) => (finalized += by) },
      billingFailures: { inc: () => (failures += 1) },
      billingDeaths: { inc: () => (deaths += 1) },
    },
  };
  const perform: BillingRun['perform'] = (job, begin) => performBillingJob(deps, job, begin);
  const find = async () => collect((jobs) => addDueWork(database, jobs));
  const once = async () => {
    for (const job of await find()) await perform(job);
  };
  return {
    find,
    perform,
    once,
    findSettling: () => collect((jobs) => addSettling(database, jobs)),
    findLooks: () => collect((jobs) => addLooks(database, jobs)),
    async untilDone() {
      for (let looks = 0; (await find()).length > 0; looks += 1) {
        if (looks === 10) throw new Error('the run found work again and again');
        await once();
      }
    },
    failures: () => failures,
    finalized: () => finalized,
    deaths: () => deaths,
  };
}

/** The jobs that would be added to the queue. */
async function collect(add: (jobs: Pick<BillingJobs, 'add'>) => Promise<void>): Promise<BillingJob[]> {
  const jobs: BillingJob[] = [];
  await add({
    add(some) {
      jobs.push(...some);
      return Promise.resolve();
    },
  });
  return jobs;
}

/** All that billing has written, but for what says when a row was made: to hold two moments against each other. */
export async function readBillingRows(weir: Weir): Promise<Record<string, unknown[]>> {
  const tables = [
    'subscriptions',
    'subscription_periods',
    'dues',
    'invoices',
    'invoice_lines',
    'invoice_numbers',
    'credit_grants',
    'credit_entries',
    'billing_feeds',
    'billing_events',
  ];
  const rows: Record<string, unknown[]> = {};
  for (const table of tables) {
    const result = await weir.pool.query(`SELECT to_jsonb(t) AS row FROM ${table} t ORDER BY t::text`);
    rows[table] = result.rows.map(({ row }) => row);
  }
  return rows;
}

/** A run on 1 January 2026, and a plan with a fixed price and one for usage. */
export interface PricedRun {
  billing: Invoicing;
  run: BillingRun;
  meter: PricedMeter;
  plan: string;
  /** So many customers on the plan from that day on, each with usage in that month. */
  subscribeMany(count: number): Promise<{ id: string; customer: { id: string; external_id: string } }[]>;
  /** Leaves nothing that another run would find due. */
  close(): Promise<void>;
}

export async function startPricedRun(weir: Weir): Promise<PricedRun> {
  const billing = await startInvoicing(weir);
  await billing.moveTo('2026-01-01T00:00:00Z');
  const meter = await billing.meter('SUM');
  const charges = [
    { type: 'FIXED', display_name: 'Base', unit_price: '31' },
    { type: 'USAGE', display_name: 'Calls', meter_id: meter.id, unit_price: '0.1' },
  ];
  const { id: plan } = await billing.plan(charges);
  return {
    billing,
    run: openRun(weir, billing.database),
    meter,
    plan,
    async subscribeMany(count) {
      const made = [];
      for (let index = 0; index < count; index += 1) {
        const customer = await billing.customer();
        const { id } = await billing.subscribe(plan, customer.id, { start_date: '2026-01-01' });
        made.push({ id, customer });
      }
      const at = '2026-01-15T00:00:00Z';
      await billing.track(made.map(({ customer }) => ({ meter, customer: customer.external_id, quantity: 10, at })));
      return made;
    },
    async close() {
      await weir.pool.query('UPDATE subscriptions SET run_at = NULL');
      await weir.pool.query('UPDATE invoices SET run_at = NULL, past_due_at = NULL');
      await billing.close();
    },
  };
}
