// A worker that is told to stop while it bills something that takes longer than its stop may.

import { openBillingJobs, openBillingWorker, type BegunChunk, type BillingJob } from '@weir/queue/billing-jobs';
import { disconnect, openWorker } from '@weir/queue/connection';
import { queueKeys } from '@weir/queue/keys';
import { createLog } from '@weir/shared/log';
import { Queue } from 'bullmq';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { expect, inject, test } from 'vitest';
import { startPricedRun } from '../support/billing-run.ts';
import { until } from '../support/harness.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();

test('what workers were stopped over is no death, however often, and a death before it is not forgotten', async () => {
  const priced = await startPricedRun(weir);
  const { billing, run } = priced;
  await priced.subscribeMany(9);
  await billing.moveTo('2026-01-01T02:00:00Z');
  const drafts = async (): Promise<string[]> => {
    const found = `SELECT id FROM invoices WHERE organization_id = $1 AND status = 'DRAFT' ORDER BY run_at, id`;
    return (await weir.pool.query<{ id: string }>(found, [billing.admin.id])).rows.map(({ id }) => id);
  };
  const [first = ''] = await drafts();
  const job: BillingJob = { task: 'finalize', organizationId: billing.admin.id };
  /** What the next worker begins, which is cut off there. */
  const begunAfter = async (begun: BegunChunk): Promise<BegunChunk[]> => {
    const begins: BegunChunk[] = [];
    const cutOff = run.perform({ ...job, begun: { ...begun, isStopped: true } }, (chunk) => {
      begins.push(chunk);
      return Promise.reject(new Error('cut off'));
    });
    await expect(cutOff).rejects.toThrow('cut off');
    return begins;
  };
  // It was too much for one stop.
  expect(await begunAfter({ first, rows: 9, deaths: 0 })).toEqual([{ first, rows: 1, deaths: 0 }]);
  for (const deaths of [0, 1])
    expect(await begunAfter({ first, rows: 1, deaths })).toEqual([{ first, rows: 1, deaths }]);
  const next = await run.perform({ ...job, begun: { first, rows: 1, deaths: 1, isStopped: true } });
  for (const each of next) await run.perform(each);
  expect(await drafts()).not.toContain(first);
  expect(run.deaths()).toBe(0);
  await priced.close();
});

test('a worker that is told to stop has the chunks that it began remember it, and those it begins then', async () => {
  const keys = queueKeys(`{weir-test-${randomBytes(6).toString('hex')}}`);
  const jobs = openBillingJobs({ redis: weir.redis, keys }, createLog('test', 'silent'));
  const connection = openWorker({ url: inject('redisUrl'), prefix: keys.prefix }, () => {});
  const queue = new Queue<BillingJob>('billing', { connection: weir.redis, prefix: keys.prefix });
  const died: BegunChunk = { first: 'of another', rows: 500, deaths: 0 };
  const taken: BillingJob[] = [];
  const begins: ((chunk: BegunChunk) => Promise<void>)[] = [];
  let go = (): void => {};
  const ended = new Promise<void>((resolve) => (go = resolve));
  const worker = openBillingWorker(connection, {
    concurrency: 2,
    async perform(job, begin) {
      taken.push(job);
      if (job.begun === undefined) {
        await begin({ first: 'one', rows: 1, deaths: 0 });
        begins.push(begin);
      }
      await ended;
      return [];
    },
    onDone: () => {},
    onFailed: () => {},
    onError: () => {},
  });
  const begunOf = async (id: string) =>
    (await queue.getActive()).find(({ data }) => data.organizationId === id)?.data.begun;
  const begun = () => begunOf('stopped');
  await jobs.add([{ task: 'finalize', organizationId: 'died', begun: died }]);
  await until(() => taken.length === 1, 'what another worker died of is in hand');
  await jobs.add([{ task: 'finalize', organizationId: 'stopped' }]);
  await until(() => begins.length === 1, 'a chunk is in hand');
  expect(await begun()).toEqual({ first: 'one', rows: 1, deaths: 0 });
  const closed = worker.close();
  await until(async () => (await begun())?.isStopped === true, 'its job remembers that the worker was stopped');
  expect(await begunOf('died')).toEqual(died);
  await begins[0]?.({ first: 'two', rows: 1, deaths: 0 });
  expect(await begun()).toEqual({ first: 'two', rows: 1, deaths: 0, isStopped: true });
  go();
  await closed;
  await Promise.all([jobs.close(), queue.close()]);
  disconnect(connection);
});

/** Ends it by an error that nobody catches. */
const throwOnSignal = "process.on('SIGUSR2',()=>{throw(new(Error)('planted'))})";

test.each([
  ['whose stop is over before its chunk leaves the job as one that was stopped', 'SIGTERM', 0, { isStopped: true }],
  ['that ends by an error which nobody caught leaves the job as one that died', 'SIGUSR2', 1, {}],
] as const)('a worker %s', async (_, signal, code, mark) => {
  const priced = await startPricedRun(weir);
  await priced.subscribeMany(2);
  await priced.billing.moveTo('2026-01-01T02:00:00Z');
  const jobs = openBillingJobs(weir.queue, createLog('test', 'silent'));
  const queue = new Queue<BillingJob>('billing', { connection: weir.redis, prefix: weir.keys.prefix });
  const organizationId = priced.billing.admin.id;
  const begun = async () =>
    (await queue.getActive()).flatMap(({ data }) => (data.organizationId === organizationId ? (data.begun ?? []) : []));
  const holder = await weir.pool.connect();
  try {
    // Whoever reads goes on.
    await holder.query('BEGIN; LOCK TABLE invoice_lines IN SHARE MODE');
    const worker = await weir.spawnWorker({
      BILLING_CONCURRENCY: '1',
      DRAIN_TIMEOUT_MS: '1000',
      NODE_OPTIONS: `--import=data:text/javascript,${throwOnSignal}`,
    });
    await jobs.add([{ task: 'finalize', organizationId }]);
    await until(async () => (await begun()).length === 1, 'a chunk is in hand');
    const ended = once(worker.child, 'exit');
    worker.child.kill(signal);
    expect(await ended).toEqual([code, null]);
    expect(await begun()).toEqual([{ first: expect.any(String), rows: 2, deaths: 0, ...mark }]);
  } finally {
    await holder.query('ROLLBACK');
    holder.release();
  }
  await Promise.all([jobs.close(), queue.close()]);
  await priced.close();
});
