// While an old snapshot is open, of a backup or of a count of all events, Postgres keeps every change that alerts have looked at. They go on
// behind those, and past none that is still to come.

import { findAlertWork, readAlertsOldestSeconds, TouchedPlaces } from '@weir/db/alerts/find-alert-work';
import { performAlerts } from '@weir/db/alerts/perform-alerts';
import type { Database } from '@weir/db/database';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { signUp, until } from '../support/harness.ts';
import { indexPagesReadBy } from '../support/reading-effort.ts';
import { openTestDatabase } from '../support/test-database.ts';
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
  const other = await weir.pool.connect();
  others.push(other);
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

/** Nothing that is noted may get this id any more, or a lower one. */
const passed = (id: bigint): Promise<void> =>
  until(async () => {
    await look();
    return BigInt(places.of(organization)) > id;
  }, 'looks go on behind what is gone');

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
  await note(1);
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
