// What the processes write while Redis or Postgres is away. Every connection tries again, and every request fails: it is said once.

import { LOOKUP_MS_MAX } from '@weir/api/serve';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { openBillingJobs, type BillingTask } from '@weir/queue/billing-jobs';
import { openWorker } from '@weir/queue/connection';
import { openJobWorker } from '@weir/queue/job-worker';
import { createLog } from '@weir/shared/log';
import { Queue } from 'bullmq';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { Edge } from '../../chaos/environment/edge.ts';
import { spawnCaptured, type Captured } from '../support/captured.ts';
import { signUp, until, type Organization } from '../support/harness.ts';
import { openStoreEdges, type StoreEdges } from '../support/store-edges.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ lookupMsMax: LOOKUP_MS_MAX, withWorker: false });
let admin: Organization;
let apiKey: string;
let event: object;
let edges: StoreEdges;
let { redis, postgres } = {} as StoreEdges;
let processes: { api: Captured; worker: Captured };

beforeAll(async () => {
  admin = await signUp(weir);
  apiKey = await admin.createKey();
  event = { meter_token: (await admin.createMeter('SUM')).token, customer_external_id: 'acme', quantity: 1 };
  edges = await openStoreEdges(weir);
  ({ redis, postgres } = edges);
  const env = { ...weir.env, ...edges.env, LOG_LEVEL: 'info', BILLING_CONCURRENCY: '1' };
  processes = {
    api: await spawnCaptured('apps/api/dist/main.js', env),
    worker: await spawnCaptured('apps/worker/dist/main.js', env),
  };
});
afterAll(async () => {
  await processes.api.stop();
  await processes.worker.stop();
  await edges.close();
});

const track = () => weir.request('POST', '/api/v1/sdk/track', { baseUrl: processes.api.url, apiKey, body: event });
const list = () => weir.request('GET', '/api/v1/features', { baseUrl: processes.api.url, session: admin.session });
const linesOf = ({ output }: Captured): Record<string, unknown>[] =>
  output()
    .split('\n')
    // The last one may not have come in whole.
    .slice(0, -1)
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);

test('a worker whose password Redis does not take says so in one line, and ends', async () => {
  const url = new URL(inject('redisUrl'));
  url.username = 'weir-nobody';
  url.password = 'not this one';
  await expect(weir.startWorker({ REDIS_URL: url.href })).rejects.toThrow(
    /^Cannot start: Redis says "WRONGPASS [^\n]*": check user and password in REDIS_URL\.$/,
  );
});

test('a job whose end Redis has, and whose answer was lost, is no error', async () => {
  const errors: Error[] = [];
  const queue = openWorker({ url: inject('redisUrl'), prefix: weir.queue.keys.prefix }, (error) => errors.push(error));
  const jobs = new Queue('ended', { connection: queue.redis, prefix: queue.keys.prefix });
  const done: string[] = [];
  const onError = (error: Error) => void errors.push(error);
  const work = async ({ name }: { name: string }) => {
    // As its end does, of which nobody has heard.
    if (name === 'gone') await queue.redis.del(`${queue.keys.prefix}:ended:gone`);
    done.push(name);
  };
  const worker = openJobWorker(queue, 'ended', { concurrency: 1 }, work, { onFailed: onError, onError });
  await jobs.add('gone', {}, { jobId: 'gone' });
  await jobs.add('next', {}, { jobId: 'next' });
  await until(async () => done.includes('next') && (await jobs.getCompletedCount()) === 1, 'both are worked off');
  await worker.close();
  await jobs.close();
  queue.redis.disconnect();
  expect(errors).toEqual([]);
});

/** Which way the API said last that events take. */
const wayOfEvents = () => linesOf(processes.api).findLast(({ way }) => way !== undefined)?.['way'];

/** Takes connections in place of a part and ends each of them. Resolves once there were so many. */
async function hangUp(port: number, count: number, meanwhile: () => Promise<unknown>): Promise<void> {
  let taken = 0;
  const server: Server = createServer((socket) => {
    taken += 1;
    socket.on('error', () => {}).resetAndDestroy();
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  await until(async () => {
    await meanwhile();
    return taken >= count;
  }, `${count} connections were tried`);
  server.close();
  await once(server, 'close');
}

/** Has both processes without a part for so many attempts. */
async function lose(part: string, edge: Edge, tries: number): Promise<void> {
  await edge.refuse();
  const statuses = new Set<number>();
  await hangUp(edge.port, tries, async () => {
    statuses.add((await track()).status);
    statuses.add((await list()).status);
  });
  // Of Redis nobody hears; without Postgres nobody reads.
  expect([...statuses].includes(503)).toBe(part === 'Postgres');
  await edge.heal();
  await until(async () => (await track()).status === 201 && (await list()).status === 200, `${part} is used again`);
  // A while longer events go directly. They would have nowhere to go without Postgres, and that is said of neither part.
  await until(() => wayOfEvents() !== 'direct', 'events go to Redis');
}

test('that a part is away is said once by each process, and its end with how much was left out', async () => {
  expect((await track()).status).toBe(201);
  expect((await list()).status).toBe(200);
  const each = Object.values(processes);
  const before = each.map((one) => linesOf(one).length);
  // One after the other, and the ends of both are waited for together.
  await lose('Redis', redis, 60);
  await lose('Postgres', postgres, 30);
  for (const part of ['Redis', 'Postgres']) {
    const linesSince = () => each.map((one, at) => linesOf(one).slice(before[at]));
    const isSaid = (lines: Record<string, unknown>[]) => lines.some(({ back }) => back === part);
    // Fifteen seconds after the last of what failed for it.
    await until(() => linesSince().every(isSaid), `both say that ${part} is back`, 90);
    for (const since of linesSince()) {
      const lines = since.filter(({ away = part, back = part }) => away === part && back === part);
      // Which way events take is said beside it, and why: on a busy machine a Redis that is back may not answer a probe in time.
      const ofThePart = lines.filter(({ way }) => way === undefined);
      // Once for its being away, once more where a reason is new, and for its end.
      const loud = ofThePart.filter(({ level }) => Number(level) >= 40);
      expect(loud.length).toBeLessThanOrEqual(3);
      expect(lines.filter(({ away }) => away === part)[0]?.['msg']).toContain(`${part} is away`);
      expect(lines.filter(({ back }) => back === part)).toEqual([
        expect.objectContaining({
          msg: `${part} answers again`,
          alike: expect.any(Number),
          seconds: expect.any(Number),
        }),
      ]);
      expect(JSON.stringify(ofThePart)).not.toContain('"stack"');
    }
  }
}, 150_000);

test('billing that fails since Postgres is away is not counted, and what fails by itself is an error', async () => {
  const jobs = openBillingJobs(weir.queue, createLog('test', 'silent'));
  const queue = new Queue('billing', { connection: weir.redis, prefix: weir.keys.prefix });
  const failures = async () =>
    /^weir_billing_failures_total (\d+)$/m.exec(await (await fetch(`${processes.worker.url}/metrics`)).text())?.[1];
  const isDone = async () => Object.values(await queue.getJobCounts()).every((count) => count === 0);
  const perform = async (task: BillingTask, organizationId: string) => {
    await jobs.add([{ task, organizationId }]);
    await until(isDone, 'the job is gone');
  };
  await postgres.refuse();
  for (const task of ['open', 'finalize', 'past_due', 'settle', 'unbilled'] as const) await perform(task, admin.id);
  expect(await failures()).toBe('0');
  await postgres.heal();
  const isBack = async () => (await fetch(`${processes.worker.url}/readyz`)).ok;
  await until(isBack, 'the worker has Postgres again');
  await perform('open', 'no organization');
  const errors = () => linesOf(processes.worker).filter(({ level, task }) => level === 50 && task !== undefined);
  await until(() => errors().length > 0, 'an error is told');
  expect(errors()).toMatchObject([{ task: 'open', organization_id: 'no organization' }]);
  expect(await failures()).toBe('1');
  await jobs.close();
  await queue.close();
});
