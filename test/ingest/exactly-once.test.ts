// Whatever dies: an event that was answered with 201 is counted exactly once. Each test ends by comparing the rollups with the
// events.

import { ROLLUPS } from '@weir/db/rollups';
import { beforeAll, expect, test } from 'vitest';
import { counted } from '../support/counted.ts';
import { signUp, until, type Organization } from '../support/harness.ts';
import { expectRollupsToEqualEvents } from '../support/rollups.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let admin: Organization;
let apiKey: string;
beforeAll(async () => {
  admin = await signUp(weir);
  apiKey = await admin.createKey();
});

test('workers that are killed while they record leave nothing out and count nothing twice', async () => {
  const meter = await admin.createMeter('SUM');
  const trackBatches = async (name: string): Promise<void> => {
    for (let batch = 0; batch < 10; batch += 1) {
      const events = Array.from({ length: 1000 }, (_, index) => ({
        meter_token: meter.token,
        customer_external_id: `customer ${index % 7}`,
        quantity: 0.1,
        ...(index % 2 === 0 && { idempotency_key: `${name} ${batch} ${index}` }),
      }));
      const answer = await weir.request('POST', '/api/v1/sdk/track/batch', { apiKey, body: { events } });
      expect(answer.status).toBe(201);
    }
  };
  await trackBatches('first');
  const staged = await weir.redis.zcard(weir.keys.staged);

  const first = await weir.spawnWorker();
  await until(async () => (await weir.redis.zcard(weir.keys.staged)) < staged, 'the first batch is recorded');
  await first.stop('SIGKILL');
  // A quick one may have left nothing to the second.
  await trackBatches('second');

  // The second is killed while Postgres works for it. Its statements are committed all the same, and nobody is told.
  const blocker = await weir.pool.connect();
  await blocker.query(`BEGIN; LOCK TABLE ${ROLLUPS.customerUsageHours.table} IN EXCLUSIVE MODE`);
  const second = await weir.spawnWorker();
  const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  await until(async () => ((await weir.pool.query(waiting)).rowCount ?? 0) > 1, 'the second worker is recording');
  await second.stop('SIGKILL');
  const before = await counted(weir, meter.id);
  await blocker.query('COMMIT');
  blocker.release();
  await until(async () => (await counted(weir, meter.id)).events > before.events, 'a statement of the dead commits');

  await weir.startWorker();
  await weir.drained();
  expect(await counted(weir, meter.id)).toEqual({ events: 20_000, sum: '2000.0' });
  await expectRollupsToEqualEvents(weir.pool);
});

test('APIs that are killed under load lose nothing that they accepted, and retries count nothing twice', async () => {
  const meter = await admin.createMeter('SUM');
  const doomed = await Promise.all([weir.spawnApi(), weir.spawnApi()]);
  const baseUrls = [...doomed.map(({ url }) => url), weir.baseUrl];
  const total = 2_000;
  const ids = new Map<number, string>();
  const statuses = { 201: 0, 409: 0 };
  let retries = 0;
  let next = 0;

  /** Sends an event again and again with the same key, each time to the next API, until it is known to be accepted. */
  const track = async (index: number): Promise<void> => {
    const body = {
      meter_token: meter.token,
      customer_external_id: 'acme',
      quantity: 1,
      idempotency_key: `under load ${index}`,
    };
    for (let attempt = 0; ; attempt += 1) {
      const baseUrl = baseUrls[(index + attempt) % baseUrls.length] ?? weir.baseUrl;
      const answer = await weir.request('POST', '/api/v1/sdk/track', { apiKey, body, baseUrl }).catch(() => undefined);
      if (answer?.status === 201 || answer?.status === 409) {
        statuses[answer.status] += 1;
        ids.set(index, answer.body.id);
        return;
      }
      expect([undefined, 503]).toContain(answer?.status);
      retries += 1;
    }
  };
  const client = async (): Promise<void> => {
    while (next < total) {
      next += 1;
      await track(next);
    }
  };
  const clients = Array.from({ length: 40 }, client);
  await until(() => ids.size > 400, 'the load is under way');
  await doomed[0]?.stop('SIGKILL');
  await until(() => ids.size > 1_000, 'the load goes on');
  await doomed[1]?.stop('SIGKILL');
  await Promise.all(clients);
  expect(retries).toBeGreaterThan(0);
  expect(statuses[201] + statuses[409]).toBe(total);

  await weir.startWorker();
  await weir.swept();
  expect(await counted(weir, meter.id)).toEqual({ events: total, sum: String(total) });
  const { rows } = await weir.pool.query('SELECT id::text FROM events WHERE meter_id = $1', [meter.id]);
  expect(rows.map(({ id }) => String(id)).toSorted()).toEqual([...ids.values()].toSorted());
  // Nothing stays behind in Redis either.
  expect(await weir.redis.keys(weir.keys.batch('*'))).toEqual([]);
  await expectRollupsToEqualEvents(weir.pool);
});
