// A primary of Redis that is replaced and lives on as a replica answers all that is read, refuses what is written, and closes nothing.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { signUp, until } from '../support/harness.ts';
import { openRedisPair, type RedisPair } from '../support/redis-pair.ts';
import { ownWeir } from '../support/use-weir.ts';

let pair: RedisPair;
beforeAll(async () => {
  pair = await openRedisPair();
});
/** After all that use it have closed. */
afterAll(() => pair?.close());

/** Its API has nothing to send. */
const weir = ownWeir(() => ({ withWorker: false, api: { REDIS_URL: pair.url } }));

/** Holds up whoever records events. */
async function holdRecording(): Promise<{ isWaitedFor(): Promise<boolean>; end(): Promise<void> }> {
  const client = await weir.pool.connect();
  await client.query('BEGIN');
  await client.query('LOCK TABLE events IN SHARE MODE');
  return {
    async isWaitedFor() {
      const { rowCount } = await client.query(
        `SELECT FROM pg_locks WHERE NOT granted AND relation = 'events'::regclass AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      );
      return rowCount !== 0;
    },
    async end() {
      await client.query('COMMIT');
      client.release();
    },
  };
}

test.each(['1', '2'])('REDIS_COPIES=%s: a primary that lives on as a replica is left by everybody', async (copies) => {
  const admin = await signUp(weir);
  const [meter, apiKey] = await Promise.all([admin.createMeter('SUM'), admin.createKey()]);
  const api = await weir.startApi({ REDIS_COPIES: copies });
  const worker = await weir.startWorker({
    REDIS_URL: pair.url,
    REDIS_COPIES: copies,
    BILLING_CONCURRENCY: '1',
    WEBHOOK_CONCURRENCY: '1',
  });
  const track = (idempotency_key: string) =>
    weir.request('POST', '/api/v1/sdk/track', {
      apiKey,
      baseUrl: api.url,
      body: { meter_token: meter.token, customer_external_id: 'acme', quantity: 1, idempotency_key },
    });
  const recorded = async () => {
    const { rows } = await weir.pool.query(
      'SELECT idempotency_key AS key FROM events WHERE organization_id = $1 ORDER BY 1',
      [admin.id],
    );
    return rows.map(({ key }) => key as string);
  };
  const staged = () => pair.primary().zcard(weir.keys.staged);
  const isThrough = async (baseUrl: string) => (await weir.request('GET', '/readyz', { baseUrl })).body.way === 'redis';

  const recording = await holdRecording();
  expect((await track('before')).status).toBe(201);
  await until(recording.isWaitedFor, 'a worker has the event in hand');
  await pair.failOver();
  expect(await staged()).toBe(1);
  await recording.end();

  await until(async () => (await staged()) === 0, 'the event is recorded, and taken off by who has a new connection');
  expect((await track('meanwhile')).status).toBe(201);
  await until(async () => (await pair.countLeftBehind()) === 0, 'no connection is left at the former primary');
  for (const url of [weir.baseUrl, api.url]) await until(() => isThrough(url), 'events go through Redis');
  expect((await track('after')).status).toBe(201);
  await until(async () => (await recorded()).length === 3, 'all are recorded');
  expect(await recorded()).toEqual(['after', 'before', 'meanwhile']);
  await worker.close();
  await api.close();
});
