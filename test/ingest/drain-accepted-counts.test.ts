// The door counts what it accepts in Redis, and workers bring the counts to Postgres: each count once, whoever dies or comes
// twice.

import { addAcceptedCounts, type Drain } from '@weir/db/accepted';
import type { Database } from '@weir/db/database';
import { firstIdAt, newId } from '@weir/shared/ids';
import { dropAcceptedCounts, setCountsAside } from '@weir/queue/accepted-counts';
import { drainAcceptedCounts } from '@weir/worker/drain-accepted-counts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { until } from '../support/harness.ts';
import { makeTenant, type Tenant } from '../support/reconcile-fixture.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false });
let database: Database;
let tenant: Tenant;

beforeAll(async () => {
  database = openTestDatabase(weir);
});
afterAll(() => database.close());
beforeEach(async () => {
  while ((await drainAcceptedCounts(weir.queue, database)) !== undefined);
  tenant = await makeTenant(weir);
});

const ones = (count: number) => Array.from({ length: count }, () => ({}));
const drainOnce = () => drainAcceptedCounts(weir.queue, database);

/** Brings the counts to Postgres as a worker does that dies before it drops them. */
async function drainWithoutDrop(): Promise<Drain> {
  let drain: Drain | undefined;
  await until(async () => {
    drain = await addAcceptedCounts(database, () => setCountsAside(weir.queue));
    return drain !== undefined;
  }, 'no look of the API is at the counts, and they are drained');
  if (drain === undefined) throw new Error('nothing is drained');
  return drain;
}

async function acceptedOf({ id }: Tenant): Promise<number> {
  const { rows } = await weir.pool.query<{ events: number }>(
    'SELECT coalesce(sum(events), 0)::int AS events FROM accepted_events WHERE organization_id = $1',
    [id],
  );
  return rows[0]?.events ?? 0;
}

test('a count is brought to Postgres once, and Redis keeps nothing of it', async () => {
  const other = await makeTenant(weir);
  await tenant.track(...ones(5));
  await other.track(...ones(2));
  expect(await drainOnce()).toMatchObject({ outcome: 'drained', events: 7 });
  expect(await weir.redis.exists(weir.keys.accepted, weir.keys.draining)).toBe(0);
  expect(await drainOnce()).toBeUndefined();
  await tenant.track(...ones(3));
  expect(await drainOnce()).toMatchObject({ outcome: 'drained', events: 3 });
  expect([await acceptedOf(tenant), await acceptedOf(other)]).toEqual([8, 2]);
});

test('a worker that dies before the count is in Postgres, or out of Redis, leaves it to the next one', async () => {
  await tenant.track(...ones(4));
  await setCountsAside(weir.queue);
  await tenant.track(...ones(1));
  // A slower worker drops the counts that it has drained, and no others.
  await dropAcceptedCounts(weir.queue, newId(), []);
  expect(await drainOnce()).toMatchObject({ events: 4 });
  // Committed, and not dropped.
  await addAcceptedCounts(database, () => setCountsAside(weir.queue));
  await tenant.track(...ones(2));
  expect(await drainOnce()).toMatchObject({ outcome: 'again', events: 0 });
  expect(await acceptedOf(tenant)).toBe(5);
  expect(await drainOnce()).toMatchObject({ outcome: 'drained', events: 2 });
  expect(await acceptedOf(tenant)).toBe(7);
});

test('workers that drain at the same time, under traffic, add every count once', async () => {
  let isOver = false;
  const draining = [drainOnce, drainOnce, drainOnce].map(async (each) => {
    while (!isOver) await each();
  });
  let sent = 0;
  const send = async (): Promise<void> => {
    for (let round = 0; round < 40; round += 1) {
      const { length } = await tenant.track(...ones(3));
      sent += length;
    }
  };
  await Promise.all([send(), send(), send()]);
  isOver = true;
  await Promise.all(draining);
  while ((await drainOnce()) !== undefined);
  expect(await acceptedOf(tenant)).toBe(sent);
});

test('a Redis that comes back with an older state brings no count twice, and new counts begin', async () => {
  await tenant.track(...ones(5));
  const older = await weir.redis.hgetall(weir.keys.accepted);
  await drainOnce();
  await weir.redis.hset(weir.keys.accepted, older);
  await tenant.track(...ones(2));
  expect(await drainOnce()).toMatchObject({ outcome: 'again', id: older['id'], events: 2 });
  await tenant.track(...ones(3));
  expect(await drainOnce()).toMatchObject({ outcome: 'drained', events: 3 });
  expect(await acceptedOf(tenant)).toBe(8);
});

test('what was drained last is remembered for as long as Redis names it, and what was before for 30 days', async () => {
  const [ahead, older, old] = [43, 42, 41].map((days) => firstIdAt(Date.now() - days * 86_400_000));
  // Redis never names what Postgres lacks: a look of the API would take that for a restore.
  await weir.pool.query(
    "INSERT INTO drained_counts (id, events, drained_at) SELECT id, 1, now() - interval '40 days' FROM unnest($1::uuid[]) AS id",
    [[older, old]],
  );
  // By a Postgres whose clock is ahead of who made the id.
  await weir.pool.query('INSERT INTO drained_counts (id, events) VALUES ($1, 1)', [ahead]);
  await weir.redis.set(weir.keys.lastDrained, String(old));
  await weir.pool.query('DELETE FROM drained_counts WHERE id <> ALL ($1::uuid[])', [[ahead, older, old]]);
  await tenant.track(...ones(1));
  const { id } = await drainWithoutDrop();
  const { rows } = await weir.pool.query('SELECT id FROM drained_counts ORDER BY id');
  expect(rows.map((row) => row.id)).toEqual([ahead, old, id]);
});

test('what Redis remembers of a month is never less, also where Postgres went back to fewer', async () => {
  await tenant.track(...ones(1));
  const { id, totals } = await drainWithoutDrop();
  expect(totals).toMatchObject([{ events: 1, added: 1 }]);
  const remembered = weir.keys.drained(totals[0]?.month ?? '');
  await weir.redis.hset(remembered, tenant.id, 5);
  await dropAcceptedCounts(weir.queue, id, totals);
  expect(await weir.redis.hget(remembered, tenant.id)).toBe('6');
});

test('what may be staged counts as accepted once 30 days have passed by both clocks', async () => {
  const [old, ahead, fresh] = [40, 39, 0].map((days) => firstIdAt(Date.now() - days * 86_400_000));
  await weir.pool.query(
    `INSERT INTO perhaps_staged_events (organization_id, id, recorded_at) SELECT $1, id, now() - age
     FROM (VALUES ($2::uuid, interval '40 days'), ($3, '0 days'), ($4, '40 days')) AS t (id, age)`,
    [tenant.id, old, ahead, fresh],
  );
  await tenant.track(...ones(3));
  await until(
    async () => (await drainOnce())?.events === 3,
    'no look of the API is at the counts, and they are drained',
  );
  const { rows } = await weir.pool.query('SELECT id FROM perhaps_staged_events ORDER BY id');
  expect(rows.map(({ id }) => id)).toEqual([ahead, fresh]);
  expect(await acceptedOf(tenant)).toBe(4);
});

test('workers drain by themselves', async () => {
  await tenant.track(...ones(9));
  const worker = await weir.startWorker();
  await until(async () => (await acceptedOf(tenant)) > 0, 'the count is in Postgres');
  expect(await acceptedOf(tenant)).toBe(9);
  await weir.drained();
  await worker.close();
});
