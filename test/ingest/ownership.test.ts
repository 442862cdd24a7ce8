// The queue of one database is touched by no other: two Weirs that share a Redis by mistake lose nothing of each other.

import { identify, requireSchema } from '@weir/db/installation';
import { admit } from '@weir/queue/admit';
import { queueKeys } from '@weir/queue/keys';
import { Ownership, readOwner, type StoreFault } from '@weir/queue/ownership';
import { RECORD_QUEUE } from '@weir/queue/record-jobs';
import { stagedText } from '@weir/queue/staged';
import { newId } from '@weir/shared/ids';
import { createLog } from '@weir/shared/log';
import { Queue } from 'bullmq';
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from 'vitest';
import { counted } from '../support/counted.ts';
import { until } from '../support/harness.ts';
import { makeTenant, type Tenant } from '../support/reconcile-fixture.ts';
import { runToEnd } from '../support/run-to-end.ts';
import { createTestDatabase, type TestDatabase } from '../support/setup/database.ts';
import { queryOnce } from '../support/setup/query.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir();
let tenant: Tenant;
let other: TestDatabase;
beforeAll(async () => {
  other = await createTestDatabase();
  tenant = await makeTenant(weir);
  await queryOnce(other.url, 'UPDATE installation SET id = gen_random_uuid()');
});
afterEach(async () => {
  const mark = await weir.redis.get(weir.keys.database);
  if (mark === FOREIGN) await weir.redis.set(weir.keys.database, ours);
});
afterAll(() => other.drop());

const FOREIGN = `${randomUUID()}:0123456789abcdef`;
let ours = '';

async function readinessOf(url: string | undefined): Promise<{ status: number; text: string }> {
  const response = await fetch(`${url}/readyz`);
  return { status: response.status, text: await response.text() };
}

test.each(['api', 'worker'])('another Weir on the same prefix is refused at start: %s', async (app) => {
  await until(async () => (await weir.redis.exists(weir.keys.database)) === 1, 'the queue has its mark');
  const ended = await runToEnd(`apps/${app}/dist/main.js`, { ...weir.env, DATABASE_URL: other.url });
  expect(ended).toMatchObject({ code: 1, out: '' });
  expect(ended.err).toMatch(
    /^Cannot start: The queue in Redis .* belongs to the database of another Weir: give this Weir a QUEUE_PREFIX [^\n]*\n$/,
  );
});

test('when another database gets the queue, the door shuts and workers leave it, until it is back', async () => {
  ours = (await weir.redis.get(weir.keys.database)) ?? '';
  expect((await tenant.track({})).map(({ status }) => status)).toEqual([201]);
  await weir.drained();
  await weir.redis.set(weir.keys.database, FOREIGN);

  // A batch of the other one, which may be a copy with the same organizations. Its job is taken before the worker has looked.
  const foreign = {
    id: newId(),
    organization_id: tenant.id,
    meter_id: tenant.sum.id,
    aggregation: 'SUM' as const,
    customer_external_id: 'acme',
    quantity: '1',
    timestamp: new Date().toISOString(),
  };
  const batch = newId();
  await admit(weir.queue, batch, [{ id: foreign.id, event: stagedText(foreign), sender: null, claim: null }], 60);
  const queue = new Queue(RECORD_QUEUE, { connection: weir.redis, prefix: weir.keys.prefix });
  await queue.add(RECORD_QUEUE, { batch }, { jobId: batch });
  for (const url of [weir.baseUrl, weir.workerUrl]) {
    await until(async () => (await readinessOf(url)).status === 503, 'the process is not ready');
    expect((await readinessOf(url)).text).toContain('belongs to the database of another Weir');
  }
  const refused = await weir.request('POST', '/api/v1/sdk/track', {
    apiKey: tenant.apiKey,
    body: { meter_token: tenant.sum.token, customer_external_id: 'acme', quantity: 1 },
  });
  expect(refused).toMatchObject({ status: 503, body: { outcome: 'not_accepted' } });
  // The worker takes nothing: what it had tried before it was told has gone back to the queue.
  await until(async () => (await queue.getActiveCount()) === 0, 'the worker has nothing in hand');
  expect(await weir.redis.exists(weir.keys.batch(batch))).toBe(1);
  expect((await counted(weir, tenant.sum.id)).events).toBe(1);

  await weir.redis.multi().unlink(weir.keys.batch(batch)).zrem(weir.keys.staged, batch).exec();
  await weir.redis.set(weir.keys.database, ours);
  for (const url of [weir.baseUrl, weir.workerUrl])
    await until(async () => (await readinessOf(url)).status === 200, 'the process is ready');
  expect((await tenant.track({})).map(({ status }) => status)).toEqual([201]);
  await weir.drained();
  expect((await counted(weir, tenant.sum.id)).events).toBe(2);
  await queue.close();
});

test('a queue whose Redis lost its memory is marked again', async () => {
  const mark = await weir.redis.get(weir.keys.database);
  await weir.redis.unlink(weir.keys.database, weir.keys.epoch);
  await until(async () => (await weir.redis.get(weir.keys.database)) === mark, 'the mark is there again');
  // The first is told to come again, since nobody knows whether its API key was deleted meanwhile.
  await until(async () => (await tenant.track({}))?.[0]?.status === 201, 'events are taken');
  expect(await weir.redis.exists(weir.keys.epoch)).toBe(1);
});

test('a queue that nobody had marked is told of once where its database has counted events, and not before', async () => {
  const database = openTestDatabase({ databaseUrl: other.url });
  onTestFinished(() => database.close());
  const lines: string[] = [];
  const faults: StoreFault[] = [];
  const log = createLog('test', 'warn', [], { write: (line) => void lines.push(line) });
  const look = async () => {
    const queue = { ...weir.queue, keys: queueKeys(`${weir.keys.prefix}-${newId()}`) };
    const ownership = new Ownership({
      queue,
      database: {
        requireSchema: () => requireSchema(database),
        identify: (drained) => identify(database, drained),
        raiseTotals: () => Promise.resolve(0),
      },
      log,
      intervalMs: 3_600_000,
      onFault: (fault) => faults.push(fault),
    });
    await ownership.requireOurs();
    await ownership.look();
    expect(await readOwner(queue)).toBe((await identify(database, undefined)).mark);
    ownership.close();
    await weir.redis.unlink(queue.keys.database, queue.keys.epoch, queue.keys.timeline);
  };
  await look();
  expect(lines).toEqual([]);
  await database.pool.query(`INSERT INTO accepted_events VALUES (gen_random_uuid(), '2026-01-01', 1)`);
  await look();
  expect(lines).toEqual([expect.stringContaining('belonged to no database')]);
  expect(faults).toEqual(['redis_replaced']);
});

test('events of an organization that the database lacks are kept, and the others of their batch recorded', async () => {
  await weir.drained();
  const meter = { organization_id: randomUUID(), meter_id: randomUUID() };
  const known = { organization_id: tenant.id, meter_id: tenant.sum.id };
  const before = await counted(weir, tenant.sum.id);
  const events = [known, meter, known, meter].map((whose) => ({
    id: newId(),
    ...whose,
    aggregation: 'SUM' as const,
    customer_external_id: 'acme',
    quantity: '1',
    timestamp: new Date().toISOString(),
  }));
  const batch = newId();
  const candidates = events.map((event) => ({ id: event.id, event: stagedText(event), sender: null, claim: null }));
  await admit(weir.queue, batch, candidates, 60);
  await until(async () => (await counted(weir, tenant.sum.id)).events === before.events + 2, 'the others are recorded');
  await until(async () => (await weir.stagedEvents()) === 2, 'only those that are not known are left');
  const { rows } = await weir.pool.query('SELECT count(*)::int AS rejected FROM rejected_events');
  expect(rows).toEqual([{ rejected: 0 }]);
  // Counted once the job has failed, which is after the others of its batch were recorded.
  const metrics = async () => (await fetch(`${weir.workerUrl}/metrics`)).text();
  const isCounted = async () => /^weir_unknown_organization_attempts_total [1-9]/m.test(await metrics());
  await until(isCounted, 'the attempt is counted');
  // Known by now, as after a restore of what was missing.
  await weir.pool.query(`INSERT INTO organizations (id, name) VALUES ($1, 'Late')`, [meter.organization_id]);
  await weir.pool.query(
    `INSERT INTO meters (organization_id, id, name, meter_token, aggregation_type) VALUES ($1, $2, 'Late', 'late', 'SUM')`,
    [meter.organization_id, meter.meter_id],
  );
  await weir.drained();
  expect(await counted(weir, meter.meter_id)).toEqual({ events: 2, sum: '2' });
  expect((await counted(weir, tenant.sum.id)).events).toBe(before.events + 2);
});

test('an event of a meter that was deleted from an organization that is there is rejected', async () => {
  const event = {
    id: newId(),
    organization_id: tenant.id,
    meter_id: randomUUID(),
    aggregation: 'SUM' as const,
    customer_external_id: 'acme',
    quantity: '1',
    timestamp: new Date().toISOString(),
  };
  await admit(weir.queue, newId(), [{ id: event.id, event: stagedText(event), sender: null, claim: null }], 60);
  await weir.drained();
  const { rows } = await weir.pool.query('SELECT reason FROM rejected_events WHERE id = $1', [event.id]);
  expect(rows).toEqual([{ reason: 'the meter does not exist any more' }]);
});
