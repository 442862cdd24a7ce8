// Organizations take turns in billing, and a job remembers what a worker died of.

import { openBillingJobs, openBillingWorker, type BegunChunk, type BillingJob } from '@weir/queue/billing-jobs';
import { disconnect, openWorker } from '@weir/queue/connection';
import { queueKeys } from '@weir/queue/keys';
import { createLog } from '@weir/shared/log';
import { addDueWork } from '@weir/worker/billing/find-work';
import { Queue } from 'bullmq';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { openRun, startPricedRun, type PricedRun } from '../support/billing-run.ts';
import { until } from '../support/harness.ts';
import { startInvoicing } from '../support/invoicing.ts';
import { letGoOf } from '../support/let-go-of.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let priced: PricedRun;
let { billing, run, plan } = {} as PricedRun;

beforeEach(async () => {
  priced = await startPricedRun(weir);
  ({ billing, run, plan } = priced);
});
afterEach(() => priced.close());

const USAGE = { type: 'USAGE', display_name: 'Other calls', unit_price: '0.1' };

const freshPrefix = () => `{weir-test-${randomBytes(6).toString('hex')}}`;

async function drafts(): Promise<{ id: string; run_error: string | null }[]> {
  const found = `SELECT id, run_error FROM invoices WHERE organization_id = $1 AND status = 'DRAFT' ORDER BY run_at, id`;
  return (await weir.pool.query(found, [billing.admin.id])).rows;
}

/** Drafts of cycle 0 of so many subscriptions, which are due. */
async function makeDue(count: number): Promise<void> {
  await priced.subscribeMany(count);
  await billing.moveTo('2026-01-01T02:00:00Z');
  expect(await drafts()).toHaveLength(count);
}

test('an organization has one job for each task, however often the run is woken and looks', async () => {
  await makeDue(3);
  const other = await startInvoicing(weir);
  await billing.moveTo('2026-01-01T02:00:00Z');
  await other.request('PATCH', '/billing/settings', { invoice_grace_hours: 0 });
  const { id: fixed } = await other.plan([{ type: 'FIXED', display_name: 'Base', unit_price: '1' }]);
  await other.subscribe(fixed, (await other.customer()).id, { start_date: '2025-12-01' });
  // A queue that no worker takes from.
  const keys = queueKeys(freshPrefix());
  const jobs = openBillingJobs({ redis: weir.redis, keys }, createLog('test', 'silent'));
  const queue = new Queue<BillingJob>('billing', { connection: weir.redis, prefix: keys.prefix });
  for (let woken = 0; woken < 20; woken += 1) jobs.wakeRun(billing.admin.id);
  for (let looks = 0; looks < 3; looks += 1) await addDueWork(billing.database, jobs);
  const waiting = (await queue.getWaiting()).map(({ data }) => `${data.task} ${data.organizationId}`);
  const expected = [`open ${billing.admin.id}`, `finalize ${billing.admin.id}`, `finalize ${other.admin.id}`];
  expect(waiting.toSorted()).toEqual(expected.toSorted());
  await queue.obliterate({ force: true });
  await Promise.all([jobs.close(), queue.close(), other.close()]);
});

test('a turn delayed by a clock that was an hour ahead comes at once, and one after its rest as ever', async () => {
  const keys = queueKeys(freshPrefix());
  const jobs = openBillingJobs({ redis: weir.redis, keys }, createLog('test', 'silent'));
  const queue = new Queue<BillingJob>('billing', { connection: weir.redis, prefix: keys.prefix });
  await jobs.add([{ task: 'finalize', organizationId: 'rests' }], 60_000);
  await jobs.add([{ task: 'finalize', organizationId: 'held up' }], 3_600_000);
  await jobs.promoteAhead();
  const ids = async (state: 'waiting' | 'delayed') =>
    (await queue.getJobs([state])).map(({ data }) => data.organizationId);
  expect([await ids('waiting'), await ids('delayed')]).toEqual([['held up'], ['rests']]);
  await queue.obliterate({ force: true });
  await Promise.all([jobs.close(), queue.close()]);
});

test('the next turn of an organization comes after the rest, and one of another before it', async () => {
  const keys = queueKeys(freshPrefix());
  const jobs = openBillingJobs({ redis: weir.redis, keys }, createLog('test', 'silent'));
  const queue = new Queue<BillingJob>('billing', { connection: weir.redis, prefix: keys.prefix });
  await jobs.add([{ task: 'finalize', organizationId: 'had a turn' }], 60_000);
  // It waits for its turn, however often it is woken meanwhile.
  await jobs.add([{ task: 'finalize', organizationId: 'had a turn' }]);
  await jobs.add([{ task: 'finalize', organizationId: 'another' }]);
  const ids = async (state: 'waiting' | 'delayed') =>
    (await queue.getJobs([state])).map(({ data }) => data.organizationId);
  expect(await ids('waiting')).toEqual(['another']);
  expect(await ids('delayed')).toEqual(['had a turn']);
  await queue.obliterate({ force: true });
  await Promise.all([jobs.close(), queue.close()]);
});

test('a wake that comes while a turn is under way has another one follow, and a look has not', async () => {
  const keys = queueKeys(freshPrefix());
  const jobs = openBillingJobs({ redis: weir.redis, keys }, createLog('test', 'silent'));
  const connection = openWorker({ url: inject('redisUrl'), prefix: keys.prefix }, () => {});
  const [looking, woken] = ['looking', 'woken'].map((organizationId) => ({ task: 'open' as const, organizationId }));
  const taken: string[] = [];
  let go = (): void => {};
  const looked = new Promise<void>((resolve) => (go = resolve));
  const worker = openBillingWorker(connection, {
    concurrency: 3,
    async perform({ task, organizationId }) {
      taken.push(`${task} ${organizationId}`);
      await looked;
      return [];
    },
    onDone: () => {},
    onFailed: () => {},
    onError: () => {},
  });
  await jobs.add([looking, woken].filter((job) => job !== undefined));
  await until(() => taken.length === 2, 'both turns are under way');
  await jobs.add([{ task: 'open', organizationId: 'looking' }]);
  for (let times = 0; times < 3; times += 1) jobs.wakeRun('woken');
  await until(() => taken.length === 3, 'the task without a turn has one');
  await jobs.close();
  go();
  await until(() => taken.length === 4, 'the turn that follows');
  await worker.close();
  expect(taken).toEqual(['open looking', 'open woken', 'finalize woken', 'open woken']);
  const queue = new Queue<BillingJob>('billing', { connection: weir.redis, prefix: keys.prefix });
  expect(await queue.getJobCounts('waiting', 'delayed', 'active')).toEqual({ waiting: 0, delayed: 0, active: 0 });
  await queue.close();
  disconnect(connection);
});

test('a turn takes a chunk of what is due, and its organization gets another turn behind those that wait', async () => {
  await makeDue(7);
  const job = { task: 'finalize' as const, organizationId: billing.admin.id };
  const next = await run.perform({ ...job, chunkMax: 2 });
  expect(await drafts()).toHaveLength(5);
  expect(next).toEqual([{ ...job, chunkMax: 4 }]);
  await run.perform(next[0] ?? job);
  expect(await drafts()).toHaveLength(1);
  // It took all that was due, and no other turn waits in the way of what comes next.
  expect(await run.perform(job)).toEqual([]);
  expect(await drafts()).toEqual([]);
});

test('what a turn of opening leaves gets another turn, and what it has done whole gets none', async () => {
  await billing.request('PATCH', '/billing/settings', { invoice_grace_hours: 0 });
  await priced.subscribeMany(5);
  await billing.moveTo('2026-02-01T02:00:00Z');
  const job = { task: 'open' as const, organizationId: billing.admin.id };
  const next = await run.perform({ ...job, chunkMax: 2 });
  expect(next).toEqual([
    { ...job, chunkMax: 4 },
    { task: 'finalize', organizationId: billing.admin.id },
  ]);
  // What is finalized may be left to another turn, where opening took all of this one.
  for (const _ of ['the rest', 'nothing'])
    expect((await run.perform(job)).filter(({ task }) => task === 'open')).toEqual([]);
});

test('a turn of opening that has found all in other hands gets no other one', async () => {
  await priced.subscribeMany(3);
  await billing.moveTo('2026-02-01T00:00:00Z');
  const { rows } = await weir.pool.query(
    'SELECT id FROM subscriptions WHERE organization_id = $1 ORDER BY run_at, id',
    [billing.admin.id],
  );
  const job = { task: 'open' as const, organizationId: billing.admin.id, chunkMax: 2 };
  const holder = await weir.pool.connect();
  try {
    await holder.query('BEGIN');
    await holder.query('SELECT FROM subscriptions WHERE id = ANY ($1) FOR UPDATE', [
      rows.slice(0, 2).map(({ id }) => id),
    ]);
    expect(await run.perform(job)).toEqual([]);
  } finally {
    await holder.query('ROLLBACK');
    holder.release();
  }
  expect((await run.perform(job)).filter(({ task }) => task === 'open')).toEqual([{ ...job, chunkMax: 4 }]);
});

test('subscriptions that were made one by one with a start long ago are opened and finalized by one job', async () => {
  await billing.request('PATCH', '/billing/settings', { invoice_grace_hours: 0 });
  await billing.moveTo('2026-03-15T00:00:00Z');
  for (let made = 0; made < 6; made += 1)
    await billing.subscribe(plan, (await billing.customer()).id, { start_date: '2026-01-01' });
  await run.perform({ task: 'finalize', organizationId: billing.admin.id });
  expect(await drafts()).toEqual([]);
  const { rows } = await weir.pool.query('SELECT number FROM closings WHERE organization_id = $1', [billing.admin.id]);
  expect(rows).toEqual([{ number: '1' }]);
});

/** A worker that takes a job and dies where it begins the first chunk: the job as it is for whoever takes it next. */
async function dieOf(job: BillingJob): Promise<BillingJob> {
  let begun: BegunChunk | undefined;
  const died = run.perform(job, (chunk) => {
    begun = chunk;
    return Promise.reject(new Error('died'));
  });
  await expect(died).rejects.toThrow('died');
  return { ...job, ...(begun !== undefined && { begun }) };
}

/** Workers that each die of a job, up to the one before which it is put off. */
async function dieUntilPutOff(job: BillingJob): Promise<{ last: BillingJob; begun: (BegunChunk | undefined)[] }> {
  const begun: (BegunChunk | undefined)[] = [];
  for (let last = job; ;) {
    last = await dieOf(last);
    begun.push(last.begun);
    if (last.begun?.rows === 1 && last.begun.deaths === 1) return { last, begun };
  }
}

/** Does a job, and all that follow it. */
async function performAll(job: BillingJob): Promise<void> {
  for (let next = [job]; next.length > 0;) next = (await Promise.all(next.map((each) => run.perform(each)))).flat();
}

const deadly = expect.stringMatching(/memory/);

test('a worker that dies of a chunk comes back to an eighth of it, and what it dies of alone is put off', async () => {
  await makeDue(20);
  const [first = '', ...others] = (await drafts()).map(({ id }) => id);
  const { last, begun } = await dieUntilPutOff({ task: 'finalize', organizationId: billing.admin.id });
  expect(begun).toEqual([
    { first, rows: 20, deaths: 0 },
    { first, rows: 2, deaths: 0 },
    { first, rows: 1, deaths: 0 },
    { first, rows: 1, deaths: 1 },
  ]);
  await performAll(last);
  expect(run.deaths()).toBe(4);
  expect(await drafts()).toEqual([{ id: first, run_error: deadly }]);
  const done = `SELECT count(*)::integer AS n FROM invoices WHERE organization_id = $1 AND status <> 'DRAFT'`;
  expect((await weir.pool.query(done, [billing.admin.id])).rows).toEqual([{ n: others.length }]);
});

test('an open invoice that workers die of is marked as past due hours later, and the others at once', async () => {
  await makeDue(9);
  await performAll({ task: 'finalize', organizationId: billing.admin.id });
  await billing.moveTo('2026-03-01T00:00:00Z');
  const job: BillingJob = { task: 'past_due', organizationId: billing.admin.id };
  const { last, begun } = await dieUntilPutOff(job);
  const first = begun[0]?.first;
  expect(begun).toEqual([
    { first, rows: 9, deaths: 0 },
    { first, rows: 1, deaths: 0 },
    { first, rows: 1, deaths: 1 },
  ]);
  await performAll(last);
  const left = `SELECT id, run_error FROM invoices WHERE organization_id = $1 AND status = 'OPEN' AND NOT is_past_due`;
  expect((await weir.pool.query(left, [billing.admin.id])).rows).toEqual([{ id: first, run_error: deadly }]);
  // It is billed: nothing of its subscription could not be.
  expect((await billing.get('/subscriptions?has_run_error=true')).data).toEqual([]);
  await performAll(job);
  expect((await weir.pool.query(left, [billing.admin.id])).rows).toHaveLength(1);
  await billing.moveTo('2026-03-01T06:00:00Z');
  await performAll(job);
  expect((await weir.pool.query(left, [billing.admin.id])).rows).toEqual([]);
});

test('what workers die of where they settle is put off for hours, and settled then', async () => {
  const subscribed = (await priced.subscribeMany(3)).sort((one, other) => (one.id < other.id ? -1 : 1));
  for (const { id } of subscribed) await billing.post(`/subscriptions/${id}/cancel`);
  for (const hour of ['00', '02']) {
    await billing.moveTo(`2026-02-01T${hour}:00:00Z`);
    await run.untilDone();
  }
  const late = subscribed.map(({ customer }) => ({
    meter: priced.meter,
    customer: customer.external_id,
    quantity: 20,
  }));
  await billing.track(late.map((each) => ({ ...each, at: '2026-01-20T00:00:00Z' })));
  const settled = async () => {
    const found = `SELECT subscription_id AS id FROM invoices WHERE organization_id = $1 AND kind = 'ADJUSTMENT' ORDER BY 1`;
    return (await weir.pool.query(found, [billing.admin.id])).rows.map(({ id }) => id);
  };
  const [one, poison = '', other] = subscribed.map(({ id }) => id);
  // Somebody else has settled the first.
  await billing.post(`/subscriptions/${one}/settle`, undefined, 201);
  const job: BillingJob = { task: 'settle', organizationId: billing.admin.id };
  const { last, begun } = await dieUntilPutOff(job);
  expect(begun.map((each) => each?.first)).toEqual([poison, poison]);
  await performAll(last);
  expect(await settled()).toEqual([one, other]);
  const putOff = 'SELECT run_error FROM subscriptions WHERE organization_id = $1 AND run_error IS NOT NULL';
  expect((await weir.pool.query(putOff, [billing.admin.id])).rows).toEqual([{ run_error: deadly }]);
  // Each hour there is another look.
  await billing.moveTo('2026-02-01T07:59:00Z');
  await run.untilDone();
  await performAll(job);
  expect(await settled()).toEqual([one, other]);
  await billing.moveTo('2026-02-01T08:00:00Z');
  await run.untilDone();
  await performAll(job);
  expect(await settled()).toEqual([one, poison, other]);
  expect((await weir.pool.query(putOff, [billing.admin.id])).rows).toEqual([]);
});

test('a day that workers die of where they look for what nothing bills is looked at on the next day', async () => {
  await priced.subscribeMany(1);
  await billing.moveTo('2026-01-03T01:00:00Z');
  const job: BillingJob = { task: 'unbilled', organizationId: billing.admin.id };
  const first = `${priced.meter.id} 2026-01-01`;
  const { last, begun } = await dieUntilPutOff(job);
  expect(begun).toEqual([
    { first, rows: 1, deaths: 0 },
    { first, rows: 1, deaths: 1 },
  ]);
  const begins: string[] = [];
  const note = (chunk: BegunChunk) => Promise.resolve(void begins.push(chunk.first));
  for (let next = [last]; next.length > 0;)
    next = (await Promise.all(next.map((each) => run.perform(each, note)))).flat();
  expect(begins).toEqual([`${priced.meter.id} 2026-01-02`]);
  expect(await run.perform(job, note)).toEqual([]);
  expect(begins).toHaveLength(1);
  await billing.moveTo('2026-01-04T01:00:00Z');
  await run.perform(job, note);
  expect(begins[1]).toBe(first);
});

test('lines about deaths have the levels that docs/operations.md says', async () => {
  await makeDue(1);
  const [first = ''] = (await drafts()).map(({ id }) => id);
  const lines: Record<string, unknown>[] = [];
  const log = createLog('run', 'info', [], { write: (line) => void lines.push(JSON.parse(line)) });
  const { perform } = openRun(weir, billing.database, log);
  for (const rows of [8, 1])
    await perform({ task: 'finalize', organizationId: billing.admin.id, begun: { first, rows, deaths: 1 } });
  const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
  const row = page.split('\n').find((line) => line.startsWith('| `weir_billing_deaths_total`')) ?? '';
  const levelOf = (told: RegExp) => log.levels.values[told.exec(row)?.[1] ?? ''];
  const ofAll = levelOf(/an? `(\w+)` line names the first row/);
  const ofDeadly = levelOf(/die of alone has an? `(\w+)` line/);
  expect(lines).toMatchObject([
    { level: ofAll, first },
    { level: ofAll, first },
    { level: ofDeadly, id: first },
  ]);
});

test('a look that fails slowly holds up no other meter, and is made again the next day', async () => {
  const others = await billing.meter('SUM');
  await billing.post(`/plans/${plan}/charges`, { ...USAGE, meter_id: others.id }, 201);
  await priced.subscribeMany(1);
  const at = '2026-01-02T12:00:00Z';
  // Of somebody who never subscribed.
  const customer = 'stray';
  await billing.track([priced.meter, others].map((meter) => ({ meter, customer, quantity: 1, at })));
  const [first = '', second = ''] = [priced.meter.id, others.id].toSorted();
  await weir.pool.query(
    `CREATE FUNCTION fail_slowly() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.1); RAISE 'too much'; END $$;
     CREATE TRIGGER fails BEFORE INSERT ON unbilled_usage_days FOR EACH ROW WHEN (NEW.meter_id = '${first}') EXECUTE FUNCTION fail_slowly()`,
  );
  const found = async () => {
    const query = `SELECT meter_id FROM unbilled_usage_days WHERE organization_id = $1 ORDER BY meter_id`;
    return (await weir.pool.query(query, [billing.admin.id])).rows.map(({ meter_id }) => meter_id);
  };
  const job: BillingJob = { task: 'unbilled', organizationId: billing.admin.id };
  await billing.moveTo('2026-01-20T01:00:00Z');
  await performAll(job);
  expect([run.failures(), await found()]).toEqual([1, [second]]);
  await weir.pool.query('DROP FUNCTION fail_slowly CASCADE');
  await performAll(job);
  expect(await found()).toEqual([second]);
  await billing.moveTo('2026-01-21T01:00:00Z');
  await performAll(job);
  expect(await found()).toEqual([first, second]);
});

test('the worker that takes over a job is told what the one before began', async () => {
  const prefix = freshPrefix();
  const open = () => openWorker({ url: inject('redisUrl'), prefix }, () => {});
  const nothing = { onDone: () => {}, onFailed: () => {}, onError: () => {}, concurrency: 1 };
  const jobs = openBillingJobs({ redis: weir.redis, keys: queueKeys(prefix) }, createLog('test', 'silent'));
  const job: BillingJob = { task: 'finalize', organizationId: billing.admin.id };
  const first = open();
  const begun: BegunChunk = { first: 'a', rows: 500, deaths: 0 };
  let hasBegun = false;
  openBillingWorker(first, {
    ...nothing,
    async perform(_, begin) {
      await begin(begun);
      hasBegun = true;
      return await new Promise<BillingJob[]>(() => {});
    },
  });
  await jobs.add([job]);
  await until(() => hasBegun, 'the first has begun');
  disconnect(first);
  await letGoOf({ redis: weir.redis, keys: queueKeys(prefix) }, 'billing');
  const second = open();
  const taken: BillingJob[] = [];
  const worker = openBillingWorker(second, {
    ...nothing,
    perform(each) {
      taken.push(each);
      return Promise.resolve([]);
    },
  });
  await until(() => taken.length > 0, 'the second has taken it over');
  expect(taken).toEqual([{ ...job, begun }]);
  await worker.close();
  disconnect(second);
  await jobs.close();
}, 60_000);
