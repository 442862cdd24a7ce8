// REDIS_COPIES=2: what was answered is on a replica too, behind real Sentinels.

import { setCountsAside } from '@weir/queue/accepted-counts';
import { disconnect, openProducer, openWorker, untilReady } from '@weir/queue/connection';
import { NotCopied } from '@weir/queue/redis-away';
import { readRedisPolicy } from '@weir/queue/redis-policy';
import { stagedEvents } from '@weir/queue/staged';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { signUp, until, type Answer, type Organization, type RequestOptions } from '../support/harness.ts';
import { openRedisTrio, type RedisTrio } from '../support/redis-trio.ts';
import { ownWeir } from '../support/use-weir.ts';

let trio: RedisTrio;
beforeAll(async () => {
  trio = await openRedisTrio();
});
/** After the APIs that use it have closed. */
afterAll(() => trio?.close());

/** All APIs of one database have one Redis: each tells it of events that were recorded directly. */
const weir = ownWeir(() => ({ withWorker: false, api: { REDIS_URL: trio.url } }));
let admin: Organization;
let meter: { token: string };
let apiKey: string;
let baseUrl: string;

beforeAll(async () => {
  baseUrl = weir.baseUrl;
  admin = await signUp({ ...weir, request });
  [meter, apiKey] = await Promise.all([admin.createMeter('SUM'), admin.createKey()]);
});
afterEach(() => trio.replication.heal());

function request(method: string, path: string, options?: RequestOptions): Promise<Answer> {
  return weir.request(method, path, { baseUrl, ...options });
}
const track = (idempotencyKey: string) =>
  request('POST', '/api/v1/sdk/track', {
    apiKey,
    body: { meter_token: meter.token, customer_external_id: 'acme', quantity: 1, idempotency_key: idempotencyKey },
  });
/** How many of these events are in Postgres. */
const recorded = async (ids: string[]) =>
  (await weir.pool.query('SELECT FROM events WHERE id = ANY ($1::uuid[])', [ids])).rowCount;
const isBack = async () => (await request('GET', '/readyz')).body.way === 'redis';
const holdReplication = () => trio.replication.silence(['forth', 'back']);
/** Connections of APIs: Sentinels have names, and the replica is one. */
const countClients = async () =>
  String(await trio.primary.client('LIST', 'TYPE', 'NORMAL'))
    .split('\n')
    .filter((line) => line.includes(' name= ')).length;

test('one copy asks no replica, and has no further connection', async () => {
  expect((await track('one-copy')).status).toBe(201);
  expect(await trio.primary.info('commandstats')).not.toContain('cmdstat_wait');
  const before = await countClients();
  const api = await weir.startApi({ REDIS_COPIES: '2', REDIS_COMMAND_TIMEOUT_MS: '900' });
  // The same as that of one copy, and one for each flush on its way.
  expect((await countClients()) - before).toBe(3);
  baseUrl = api.url;
});

test('what no replica acknowledges is recorded directly, and a deleted API key is not said to be', async () => {
  await track('held');
  const other = await request('POST', '/api/v1/api-keys', {
    session: admin.session,
    body: { name: 'other', scopes: ['usage.write'] },
  });
  holdReplication();
  const answers = [await track('new'), await track('held')];
  // That of the key that is held by an event of Redis alone, too: nobody knows whether that one stays.
  expect(answers.map(({ status }) => status)).toEqual([201, 201]);
  expect(await recorded(answers.map(({ body }) => body.id as string))).toBe(2);
  const revoke = () => request('DELETE', `/api/v1/api-keys/${other.body.id}`, { session: admin.session });
  expect((await revoke()).status).toBe(503);
  await trio.replication.heal();
  await until(async () => (await revoke()).status === 204, 'the replica acknowledges again');
  expect((await track('new')).status).toBe(409);
  await until(isBack, 'events go through Redis again');
  expect(await track('held')).toMatchObject({ status: 409, body: { id: answers[1]?.body.id } });
});

test('accepted counts are drained once a replica has them, and what would lose copies is told', async () => {
  const address = { url: trio.url, prefix: weir.keys.prefix, copies: 2 };
  const queue = openWorker(address, () => {});
  try {
    await untilReady(queue, 5_000);
    expect((await readRedisPolicy(queue)).policy).toEqual({});
    holdReplication();
    await expect(setCountsAside(queue)).rejects.toThrow(NotCopied);
    await trio.replication.heal();
    expect((await setCountsAside(queue))?.counts).toMatchObject([{ organizationId: admin.id }]);
    await trio.primary.config('SET', 'min-replicas-to-write', 1);
    expect((await readRedisPolicy(queue)).policy.warn).toContain('min-replicas-to-write');
    await trio.primary.config('SET', 'min-replicas-to-write', 0);
  } finally {
    disconnect(queue);
  }
  const alone = openProducer({ ...address, url: weir.env['REDIS_URL'] ?? '' }, 900, () => {});
  await untilReady(alone, 5_000);
  expect((await readRedisPolicy(alone)).policy.warn).toMatch(/REDIS_COPIES is 2, .* no replica/);
  disconnect(alone);
});

test('a primary that dies under load takes no event along that was answered 201', async () => {
  await until(isBack, 'events go through Redis');
  trio.replication.slowDown(30, 0);
  const acknowledged = new Set<string>();
  let refused = 0;
  let isOver = false;
  const client = async (name: number) => {
    for (let n = 0; !isOver; n += 1) {
      const answer = await track(`load-${name}-${n}`);
      if (answer.status === 201) acknowledged.add(answer.body.id);
      else refused += 1;
    }
  };
  const clients = Array.from({ length: 20 }, (_, name) => client(name));
  await until(() => acknowledged.size > 300, 'events are accepted');
  await trio.killPrimary();
  await trio.promoted();
  isOver = true;
  await Promise.all(clients);

  const batches = await trio.replica.zrange(weir.keys.staged, 0, '-1');
  const flushes = await Promise.all(batches.map((batch) => trio.replica.lrange(weir.keys.batch(batch), 0, -1)));
  const kept = new Set(stagedEvents(flushes.flat()).map(({ id }) => id));
  const gone = [...acknowledged].filter((id) => !kept.has(id));
  expect(gone.length - ((await recorded(gone)) ?? 0)).toBe(0);
  // Postgres has taken what Redis did not.
  expect(refused).toBe(0);
});
