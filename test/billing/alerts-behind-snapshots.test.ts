// While an old snapshot is open, of a backup or of a count of all events, Postgres keeps every change that alerts have looked at. They go on
// behind those, and past none that is still to come.

import { findAlertWork, readAlertsOldestSeconds, TouchedPlaces } from '@weir/db/alerts/find-alert-work';
import { performAlerts } from '@weir/db/alerts/perform-alerts';
import { openDatabase, type Database } from '@weir/db/database';
import { migrate } from '@weir/db/migrate';
import { findFreePort } from '@weir/services/connection';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { signUp, until } from '../support/harness.ts';
import { killServer, settleServers } from '../support/postgres-server.ts';
import { indexPagesReadBy } from '../support/reading-effort.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { untilAvailable } from '../support/until-available.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false, unobserved: true });
let database: Database;
let organization: string;
let places: TouchedPlaces;
const others: pg.PoolClient[] = [];

beforeAll(() => {
  database = openTestDatabase(weir);
});
afterAll(() => database.close());
beforeEach(async () => {
  organization = await makeAlerted();
  places = new TouchedPlaces();
});
afterEach(async () => {
  for (const other of others.splice(0)) {
    await other.query('ROLLBACK');
    other.release();
  }
});

/** An organization with an alert. */
async function makeAlerted(): Promise<string> {
  const admin = await signUp(weir);
  const { id: meter_id } = await admin.createMeter('SUM');
  const body = { name: 'Alert', meter_id, thresholds: [1] };
  expect(await weir.request('POST', '/api/v1/alerts', { session: admin.session, body })).toMatchObject({ status: 201 });
  return admin.id;
}

/** Somebody else's transaction, which goes on until it is ended. */
async function begin(how = ''): Promise<pg.PoolClient> {
  const other = await database.pool.connect();
  others.push(other);
  // It is to idle for as long as others on the server take.
  await other.query('SET idle_in_transaction_session_timeout = 0');
  await other.query(`BEGIN ${how}`);
  return other;
}

/** Notes changes, and returns the id of the last one. */
async function note(count: number, by: Pick<pg.ClientBase, 'query'> = weir.pool): Promise<bigint> {
  const { rows } = await by.query<{ id: string }>(
    `INSERT INTO touched_usage (organization_id, customer_external_id) SELECT $1, 'someone' FROM generate_series(1, $2::int)
     RETURNING id`,
    [organization, count],
  );
  return BigInt(rows.at(-1)?.id ?? '');
}

const left = async (): Promise<number> =>
  (await weir.pool.query('SELECT FROM touched_usage WHERE organization_id = $1', [organization])).rowCount ?? 0;

/** A look of a worker, with a turn of each organization in which there is something to do. */
async function look(at = database): Promise<string[]> {
  const found = await findAlertWork(at, places);
  for (const id of found) await performAlerts(at, id, 60_000, places.of(id));
  return found;
}

/**
 * Waits for what comes when the transactions that run now are over, of all databases of this server: tests beside this one have some, too.
 * Says which one is in the way.
 */
async function untilOver(condition: () => Promise<boolean>, what: string): Promise<void> {
  await until(condition, what).catch(async (error: unknown) => {
    const { rows } = await weir.pool.query(
      `SELECT datname, pid, xact_start, state, query FROM pg_stat_activity
       WHERE backend_xid IS NOT NULL ORDER BY xact_start LIMIT 1`,
    );
    throw new Error(`${String(error)}; the oldest transaction: ${JSON.stringify(rows[0])}`, { cause: error });
  });
}

/** Nothing that is noted may get this id any more, or a lower one. */
const passed = (id: bigint): Promise<void> =>
  untilOver(async () => {
    await look();
    return BigInt(places.of(organization)) > id;
  }, 'looks go on behind what is gone');

/** Has a transaction get its number, and waits until it is the oldest that runs. */
async function untilOldest(client: pg.PoolClient): Promise<void> {
  const { rows } = await client.query<{ own: string }>('SELECT pg_current_xact_id()::text AS own');
  await untilOver(async () => {
    const { rows: now } = await weir.pool.query('SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS oldest');
    return now[0].oldest === rows[0]?.own;
  }, 'older transactions are over');
}

test('what alerts have looked at is passed over once, and not again by each look', async () => {
  const snapshot = await begin('ISOLATION LEVEL REPEATABLE READ');
  // As pg_dump does.
  await snapshot.query('LOCK TABLE touched_usage IN ACCESS SHARE MODE');
  const last = await note(20_000);
  await passed(last);
  await note(10);
  const pages = await indexPagesReadBy(
    weir,
    async (at) => {
      expect(await readAlertsOldestSeconds(at, places)).toBeGreaterThan(0);
      expect(await look(at)).toEqual([organization]);
    },
    'touched_usage',
  );
  expect(await left()).toBe(0);
  expect(pages).toBeLessThan(100);
});

test('a change that is committed after later ones were looked at is found by the next look', async () => {
  const slow = await begin();
  // Whoever notes a change has written something else before.
  await slow.query(`UPDATE organizations SET name = 'Other' WHERE id = $1`, [organization]);
  const late = await note(1, slow);
  expect(await note(1)).toBeGreaterThan(late);
  for (let looks = 0; looks < 5; looks += 1) await look();
  expect(await left()).toBe(0);
  await slow.query('COMMIT');
  expect(await left()).toBe(1);
  expect(await look()).toEqual([organization]);
  expect(await left()).toBe(0);
});

test('a change that another worker has in hand is found again where that one does not get it done', async () => {
  const inHand = await note(1);
  const idle = await makeAlerted();
  // Looks without a turn.
  await untilOver(async () => {
    await findAlertWork(database, places);
    return BigInt(places.of(idle)) > inHand;
  }, 'looks at others begin behind the change');
  expect(places.of(organization)).toBe(String(inHand));
  const other = await begin();
  await other.query('DELETE FROM touched_usage WHERE organization_id = $1', [organization]);
  await note(1);
  for (let looks = 0; looks < 5; looks += 1) await look();
  expect(await left()).toBe(1);
  await other.query('ROLLBACK');
  await look();
  expect(await left()).toBe(0);
});

test('a Postgres that has gone back in time, and hands out ids again, is looked at from the beginning', async () => {
  await passed(await note(100));
  await weir.pool.query(`SELECT setval('touched_usage_id_seq', 1)`);
  await note(1);
  expect(await look()).toEqual([organization]);
  expect(await left()).toBe(0);
});

test('ids that are handed out again before they were passed over are found as well', async () => {
  await passed(await note(1));
  const oldest = await begin();
  await untilOldest(oldest);
  const last = await note(100);
  // It is to pass over the hundred once the oldest transaction is over.
  await look();
  await weir.pool.query(`SELECT setval('touched_usage_id_seq', $1)`, [last - 50n]);
  const late = await begin();
  await late.query('SELECT pg_current_xact_id()');
  expect(await note(1, late)).toBe(last - 49n);
  await oldest.query('ROLLBACK');
  await untilOldest(late);
  await look();
  await note(100);
  await late.query('COMMIT');
  await look();
  expect(await left()).toBe(0);
});

test('a Postgres that has recovered from a crash without a restart is looked at from the beginning', async () => {
  const servers = await settleServers('weir');
  onTestFinished(() => servers.remove());
  const [data, port] = [join(servers.folder, 'data'), await findFreePort()];
  await servers.initialize(data);
  const server = await servers.start(data, port);
  onTestFinished(() => killServer(server));
  const url = servers.urlOf(port);
  await migrate(url);
  let isCrashed = false;
  const crashing = openDatabase(url, {
    connectionsMax: 1,
    statementTimeoutMs: 30_000,
    onConnectionError: () => (isCrashed = true),
  });
  onTestFinished(() => crashing.close());
  await until(async () => {
    await findAlertWork(crashing, places);
    return places.isBehind;
  }, 'looks go on behind what is gone');
  const killed = new pg.Client({ connectionString: url });
  killed.on('error', () => {});
  await killed.connect();
  const { rows } = await killed.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  process.kill(rows[0]?.pid ?? Number.NaN, 'SIGKILL');
  await until(() => isCrashed, 'the idle connection is lost');
  await untilAvailable(() => findAlertWork(crashing, places));
  expect(places.isBehind).toBe(false);
});
