// Postgres is restored from a backup, by the steps of docs/operations.md and without them: nobody is told that an event which
// is gone was taken, everybody can send again, and what is missing is said.

import { addAcceptedCounts, raiseTotals } from '@weir/db/accepted';
import type { Database } from '@weir/db/database';
import { identify, requireSchema } from '@weir/db/installation';
import { createLog } from '@weir/shared/log';
import { setCountsAside } from '@weir/queue/accepted-counts';
import { Ownership, readOwner } from '@weir/queue/ownership';
import { bringCountsBack, drainAcceptedCounts } from '@weir/worker/drain-accepted-counts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { copyDatabase } from '../support/copy-database.ts';
import type { TestDatabase } from '../support/setup/database.ts';
import { until, type Answer, type Weir } from '../support/harness.ts';
import { makeTenant, reconcileHere, runReconcile, type Tenant } from '../support/reconcile-fixture.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { expectRollupsToEqualEvents } from '../support/rollups.ts';
import { runToEnd } from '../support/run-to-end.ts';
import { weirOfEachTest } from '../support/use-weir.ts';

let database: Database;
let tenant: Tenant;
let copies: TestDatabase[];

/** When nobody is connected to them any more. */
afterEach(async () => {
  for (const copy of copies) await copy.drop();
});
const weir = weirOfEachTest({ withWorker: false });
beforeEach(async () => {
  weir.pool.on('error', () => {});
  database = openTestDatabase(weir);
  tenant = await makeTenant(weir);
  copies = [];
});
afterEach(() => database.close());

const track = (idempotency_key: string, baseUrl = weir.baseUrl): Promise<Answer> =>
  weir.request('POST', '/api/v1/sdk/track', {
    apiKey: tenant.apiKey,
    baseUrl,
    body: { meter_token: tenant.sum.token, customer_external_id: 'acme', quantity: 1, idempotency_key },
  });

/** As a client does: again while it is told that nothing was kept. */
async function trackUntilSettled(key: string, baseUrl = weir.baseUrl): Promise<number> {
  let answer = await track(key, baseUrl);
  await until(async () => {
    if (answer.status === 503) answer = await track(key, baseUrl);
    return answer.status !== 503;
  }, `${key} is settled`);
  return answer.status;
}

async function trackAll(keys: string[], baseUrl = weir.baseUrl): Promise<number[]> {
  const statuses: number[] = [];
  for (const key of keys) statuses.push(await trackUntilSettled(key, baseUrl));
  return statuses;
}

async function recorded(keys: string[]): Promise<void> {
  expect(await trackAll(keys)).toEqual(keys.map(() => 201));
  const worker = await weir.startWorker();
  await weir.drained();
  await worker.close();
  while ((await drainAcceptedCounts(weir.queue, database)) !== undefined);
}

const untilCountsAreBack = (database: Database) =>
  until(async () => {
    await drainAcceptedCounts(weir.queue, database);
    await bringCountsBack(weir.queue, database);
    const { accepted, draining, countsAhead } = weir.keys;
    return (await weir.redis.exists(accepted, draining, countsAhead)) === 0;
  }, 'the counts are back');

const keysIn = async (pool: Pick<Weir['pool'], 'query'>): Promise<string[]> => {
  const { rows } = await pool.query<{ key: string }>('SELECT idempotency_key AS key FROM events ORDER BY 1');
  return rows.map(({ key }) => key);
};
const month = new Date().toISOString().slice(0, 7);

test('a database restored elsewhere takes the queue over by a step, and clients send again what is gone', async () => {
  await recorded(['a', 'b']);
  const restored = await copyDatabase(weir.databaseUrl);
  copies.push(restored);
  await recorded(['c', 'd']);
  expect(await trackAll(['e'])).toEqual([201]);

  const env = { ...weir.env, DATABASE_URL: restored.url };
  const line =
    /^Cannot start: The queue in Redis .* belongs to another copy of this database: .*run npm run take-over\./;
  await expect(weir.startApi(env)).rejects.toThrow(line);
  await expect(weir.startWorker(env)).rejects.toThrow(line);
  const before = await runReconcile({ ...weir, env });
  expect(before).toMatchObject({ code: 2, out: '', err: expect.stringContaining('another copy of this database') });

  const taken = await runToEnd('apps/reconcile/dist/take-over-main.js', env);
  expect(taken).toMatchObject({ code: 0, err: '' });
  expect(taken.out).toContain('belonged to another copy of it.\n1 batch waits in it');
  const api = await weir.startApi(env);
  const worker = await weir.startWorker(env);
  // A process that still runs on the former database takes nothing more, from the step on.
  await until(async () => {
    expect((await track('never', weir.baseUrl)).status).toBe(503);
    return (await weir.request('GET', '/readyz')).status === 503;
  }, 'the former API says that it is not ready');
  await weir.drained();

  const missing = await runReconcile({ ...weir, env });
  expect(missing.out).toContain(`organization ${tenant.id}, ${month}: 2 events MISSING`);
  expect(missing.code).toBe(1);

  const sent = ['a', 'b', 'c', 'd', 'e'];
  expect(await trackAll(sent, api.url)).toEqual(sent.map(() => 201));
  await weir.drained();
  const other = openTestDatabase({ ...weir, databaseUrl: restored.url });
  try {
    expect(await keysIn(other.pool)).toEqual(sent);
    await expectRollupsToEqualEvents(other.pool);
    // Those of before the backup, and the one that waited in the queue, are duplicates.
    const { rows } = await other.pool.query('SELECT count(*)::int AS duplicates FROM duplicate_events');
    expect(rows).toEqual([{ duplicates: 3 }]);
    await other.pool.query(
      `INSERT INTO accepted_corrections (organization_id, month, events, reason) VALUES ($1, $2, -2, 'restored')`,
      [tenant.id, `${month}-01`],
    );
    expect((await reconcileHere(weir, other)).isEqual).toBe(true);
    // Also when the counts are back in Postgres, and Redis has lost what it remembered.
    await untilCountsAreBack(other);
    await weir.redis.unlink(weir.keys.drained(month), weir.keys.lastDrained);
    expect((await reconcileHere(weir, other)).isEqual).toBe(true);
  } finally {
    await other.close();
  }
  await api.close();
  await worker.close();
});

/** Everything in the database but what it is, as it is now; returns what puts it back. */
async function backUpInPlace(): Promise<() => Promise<void>> {
  const { rows } = await weir.pool.query<{ name: string; columns: string }>(
    // What Postgres makes of other columns cannot be written.
    `SELECT relname AS name, (SELECT string_agg(quote_ident(attname), ', ') FROM pg_attribute
         WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '') AS columns
     FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
       AND NOT relispartition AND relname NOT IN ('migrations', 'installation')`,
  );
  const names = rows.map(({ name }) => name);
  await weir.pool.query(
    `CREATE SCHEMA backup; ${names.map((t) => `CREATE TABLE backup.${t} AS TABLE ${t}`).join(';')}`,
  );
  return async () => {
    const inserts = rows.map(
      ({ name, columns }) =>
        `INSERT INTO ${name} (${columns}) OVERRIDING SYSTEM VALUE SELECT ${columns} FROM backup.${name}`,
    );
    await weir.pool.query(
      `BEGIN; SET LOCAL session_replication_role = replica; TRUNCATE ${names.join(', ')}; ${inserts.join(';')}; COMMIT`,
    );
  };
}

test('a Postgres that went back in time in place is found out by itself, while everything runs', async () => {
  await recorded(['a', 'b']);
  const restore = await backUpInPlace();
  await recorded(['c', 'd', 'e']);
  expect(await trackAll(['c'])).toEqual([409]);
  const memory = await weir.redis.get(weir.keys.epoch);
  await restore();
  await until(async () => (await weir.redis.get(weir.keys.epoch)) !== memory, 'it is found out');
  const told = async () => (await weir.request('GET', '/metrics')).body as string;
  expect(await told()).toContain('weir_faults_total{fault="postgres_replaced"} 1\n');

  // Also before a worker has brought the counts back.
  const isMissing = async () => {
    const { events, isEqual } = await reconcileHere(weir, database);
    expect(events.map(({ difference }) => difference)).toEqual([3]);
    expect(isEqual).toBe(false);
  };
  await isMissing();
  // Redis does not vouch for its API key now, and it is recorded and counted directly.
  expect(await trackAll(['f'])).toEqual([201]);
  expect(await keysIn(weir.pool)).toEqual(['a', 'b', 'f']);
  await isMissing();
  expect(await bringCountsBack(weir.queue, database)).toBe(0);
  expect(await bringCountsBack(weir.queue, database)).toBeUndefined();
  await isMissing();

  await recorded(['c', 'd', 'a']);
  expect(await keysIn(weir.pool)).toEqual(['a', 'b', 'c', 'd', 'f']);
  await isMissing();
});

/** Looks as every process does, once. Returns whether claims count for nothing since. */
async function isFoundOut(): Promise<boolean> {
  const before = await weir.redis.get(weir.keys.epoch);
  const ownership = new Ownership({
    queue: weir.queue,
    database: {
      requireSchema: () => requireSchema(database),
      identify: (drained) => identify(database, drained),
      raiseTotals: (remembered) => raiseTotals(database, remembered),
    },
    log: createLog('test', 'silent'),
    intervalMs: 3_600_000,
  });
  await ownership.requireOurs();
  ownership.close();
  return (await weir.redis.get(weir.keys.epoch)) !== before;
}

/** By a look here, or by one of the API: where two raise the totals at once, one of them leaves it to the other. */
const untilFoundOut = (epoch: string | null) =>
  until(async () => {
    await isFoundOut();
    return (await weir.redis.get(weir.keys.epoch)) !== epoch;
  }, 'it is found out');

test('a worker that dies in the middle of a drain, and a Redis that goes back in time, are no restore', async () => {
  await trackAll(['a']);
  expect(await isFoundOut()).toBe(false);
  // Set aside, and no more.
  await setCountsAside(weir.queue);
  expect(await isFoundOut()).toBe(false);
  // In Postgres, and not dropped.
  await addAcceptedCounts(database, () => setCountsAside(weir.queue));
  expect(await isFoundOut()).toBe(false);
  await trackAll(['b']);
  expect(await drainAcceptedCounts(weir.queue, database)).toMatchObject({ outcome: 'again', events: 0 });
  expect(await isFoundOut()).toBe(false);
  const older = await weir.redis.get(weir.keys.lastDrained);
  await drainAcceptedCounts(weir.queue, database);
  expect(await weir.redis.hgetall(weir.keys.drained(month))).toEqual({ [tenant.id]: '2' });
  expect(await isFoundOut()).toBe(false);

  // Redis comes back with what it had one drain ago, and then with nothing.
  await weir.redis.set(weir.keys.lastDrained, older ?? '');
  await weir.redis.hset(weir.keys.drained(month), tenant.id, '1');
  expect(await isFoundOut()).toBe(false);
  await trackAll(['c']);
  await drainAcceptedCounts(weir.queue, database);
  expect(await weir.redis.hgetall(weir.keys.drained(month))).toEqual({ [tenant.id]: '3' });
  await weir.redis.unlink(weir.keys.lastDrained, weir.keys.drained(month), weir.keys.timeline, weir.keys.database);
  expect(await isFoundOut()).toBe(false);
  await trackAll(['d']);
  await drainAcceptedCounts(weir.queue, database);
  expect(await weir.redis.hgetall(weir.keys.drained(month))).toEqual({ [tenant.id]: '4' });
  // Nothing of all this is counted twice, or missing.
  const { events } = await reconcileHere(weir, database);
  expect(events).toMatchObject([{ accepted: 4, fates: { queued: 4 }, difference: 0 }]);
});

/** Has one event of four in the database that is restored, and one that waits. Returns the epoch before. */
async function goBackInTime(): Promise<string | null> {
  await recorded(['a']);
  const restore = await backUpInPlace();
  await recorded(['b', 'c']);
  await trackAll(['d']);
  const epoch = await weir.redis.get(weir.keys.epoch);
  await restore();
  return epoch;
}

test('a restore between a drain and its drop loses no count', async () => {
  const epoch = await goBackInTime();
  await untilFoundOut(epoch);
  expect(await isFoundOut()).toBe(false);
  // Drained into the restored database, and not dropped: what Redis remembers is from before it.
  await until(
    async () => (await addAcceptedCounts(database, () => setCountsAside(weir.queue))) !== undefined,
    'no look of the API is at the counts, and they are drained',
  );
  expect(await bringCountsBack(weir.queue, database)).toBeUndefined();
  // A look of the API may be at the counts just then.
  await until(async () => {
    await drainAcceptedCounts(weir.queue, database);
    return (await bringCountsBack(weir.queue, database)) === 0;
  }, 'the counts are brought back');
  const { rows } = await weir.pool.query('SELECT events::int FROM accepted_events');
  expect(rows).toEqual([{ events: 4 }]);
});

test('a drain that comes before anybody has looked does not hide a restore', async () => {
  const epoch = await goBackInTime();
  await drainAcceptedCounts(weir.queue, database);
  await untilFoundOut(epoch);
  await untilCountsAreBack(database);
  const { rows } = await weir.pool.query('SELECT events::int FROM accepted_events');
  expect(rows).toEqual([{ events: 4 }]);
});

test('a replica that takes over is found out by its timeline, and an old primary changes nothing', async () => {
  expect(await isFoundOut()).toBe(false);
  const { mark, timeline, hasDrained } = await identify(database, undefined);
  expect({ timeline, hasDrained }).toEqual({ timeline: 1, hasDrained: true });
  const looksLike = async (seen: number, { raise = () => Promise.resolve<number | undefined>(0), looks = 1 } = {}) => {
    const before = await weir.redis.get(weir.keys.epoch);
    const ownership = new Ownership({
      queue: weir.queue,
      database: {
        requireSchema: () => Promise.resolve(),
        identify: () => Promise.resolve({ mark, timeline: seen, hasDrained: true, hasCounted: true }),
        raiseTotals: raise,
      },
      log: createLog('test', 'silent'),
      intervalMs: 3_600_000,
    });
    for (let look = 0; look < looks; look += 1) await ownership.look();
    ownership.close();
    return (await weir.redis.get(weir.keys.epoch)) !== before;
  };
  expect([await looksLike(2), await looksLike(2), await looksLike(1), await looksLike(0)]).toEqual([
    true,
    false,
    false,
    false,
  ]);
  // Claims do not wait for ever for counts that others hold, or that cannot be written: a worker raises them later.
  const busy = () => Promise.resolve(undefined);
  const broken = () => Promise.reject(new Error('read-only'));
  const tries: Parameters<typeof looksLike>[] = [
    [3, { raise: busy, looks: 2 }],
    [3, { raise: busy, looks: 3 }],
    [4, { raise: broken, looks: 2 }],
    [4, { raise: broken, looks: 3 }],
  ];
  for (const [seen, options] of tries)
    expect(await looksLike(seen, options), `timeline ${seen}`).toBe(options?.looks === 3);
  expect(await weir.redis.exists(weir.keys.countsAhead)).toBe(1);
});

test('the queue of another Weir that is taken over brings no counts along', async () => {
  await recorded(['a', 'b']);
  await weir.redis.set(weir.keys.database, `${'0'.repeat(8)}-0000-4000-8000-000000000000:elsewhere`);
  const facts = await identify(database, undefined);
  const env = weir.env;
  expect((await runToEnd('apps/reconcile/dist/take-over-main.js', env)).out).toContain('the database of another Weir');
  expect(await weir.redis.exists(weir.keys.drained(month))).toBe(0);
  expect(await readOwner(weir.queue)).toBe(facts.mark);
});

test('a command that is given another queue than the processes says so, and finds nothing missing', async () => {
  await recorded(['a', 'b']);
  const QUEUE_PREFIX = weir.keys.prefix.replace('}', '-other}');
  const env = { ...weir.env, QUEUE_PREFIX };
  const refused = await runReconcile({ ...weir, env }, '--repair');
  expect(refused).toMatchObject({ code: 2, out: '' });
  expect(refused.err).toContain(`The queue ${QUEUE_PREFIX} in Redis belongs to no database`);
  const taken = await runToEnd('apps/reconcile/dist/take-over-main.js', env);
  expect(taken.out).toContain(`The queue ${QUEUE_PREFIX} belongs to this database now; before, it belonged to none. `);
  await weir.redis.unlink(await weir.redis.keys(`${QUEUE_PREFIX.replace(/[{}]/g, '\\$&')}*`));
});

test('a step that cannot raise the counts leaves the queue to whom it belonged, and may be done again', async () => {
  await recorded(['a']);
  const { mark } = await identify(database, undefined);
  const copy = `${mark.split(':')[0]}:elsewhere`;
  await weir.redis.set(weir.keys.database, copy);
  const step = () => runToEnd('apps/reconcile/dist/take-over-main.js', weir.env);
  await weir.pool.query('ALTER TABLE accepted_events RENAME TO away');
  expect(await step()).toMatchObject({ code: 2 });
  expect(await readOwner(weir.queue)).toBe(copy);
  await weir.pool.query('ALTER TABLE away RENAME TO accepted_events');
  expect(await step()).toMatchObject({ code: 0, out: expect.stringContaining('another copy of it') });
  expect(await readOwner(weir.queue)).toBe(mark);
});
