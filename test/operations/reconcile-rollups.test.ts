// Rollups equal the events: `npm run reconcile` finds every way in which they do not, and --repair makes them what counting
// live would have made, bit by bit.

import type { Database } from '@weir/db/database';
import { recordEvents } from '@weir/db/record';
import { rebuildUnit, UnitLocked } from '@weir/db/rollup-check';
import { ALL_ROLLUPS, ROLLUPS, rowsOfTable } from '@weir/db/rollups';
import { newCommand } from '@weir/reconcile/connect';
import { parseReconcileOptions } from '@weir/reconcile/reconcile-options';
import { balanceRollups } from '@weir/reconcile/rollups';
import { newId } from '@weir/shared/ids';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { until } from '../support/harness.ts';
import { makeTenant, reconcileHere, reportHere, runReconcile, type Tenant } from '../support/reconcile-fixture.ts';
import { openTestDatabase } from '../support/test-database.ts';
import { expectRollupsToEqualEvents } from '../support/rollups.ts';
import { ownWeir } from '../support/use-weir.ts';

const HOURS = ROLLUPS.customerUsageHours.table;
const DAYS = ROLLUPS.customerUsageDays.table;
const QUARTERS = ROLLUPS.meterUsageQuarters.table;
const VALUES = ROLLUPS.customerValueDays.table;
const METER_VALUES = ROLLUPS.meterValueDays.table;

const weir = ownWeir();
let database: Database;
let tenant: Tenant;
let before: Record<string, string[]>;

beforeAll(async () => {
  database = openTestDatabase(weir);
  // What belongs to another organization stays as it is.
  await makeTracked();
  tenant = await makeTracked();
});
afterAll(() => database.close());
// Each test but the last ones leaves everything as it was.
beforeEach(async () => {
  before = await contents();
});

async function makeTracked(): Promise<Tenant> {
  const made = await makeTenant(weir);
  const hours = [
    '2026-09-30T23:59:59.999999Z',
    '2026-10-01T00:00:00Z',
    '2026-10-01T00:30:00+05:30',
    '2025-01-01T12:00:00Z',
  ];
  // In batches of their own, so that rows are made and then added to; equal times, so that ids decide which is the last.
  for (let batch = 0; batch < 3; batch += 1) {
    const events = Array.from({ length: 60 }, (_, index) => ({
      customer_external_id: `customer ${index % 3}`,
      quantity: Number(`${(index * 7919) % 101}.${(index + batch) % 4 === 0 ? '5' : '125'}`),
      timestamp: hours[(index + batch) % hours.length],
      ...(index % 2 === 0 && {
        meter_token: made.users.token,
        metadata: { user_id: `user ${(index * batch) % 11}` },
      }),
    }));
    const sent = await made.track(...events);
    if (sent.some(({ status }) => status !== 201)) throw new Error(`tracking answered ${JSON.stringify(sent)}`);
    await weir.drained();
  }
  return made;
}

/** Everything in the tables, every column as Postgres writes it. */
async function contents(): Promise<Record<string, string[]>> {
  const read = async (table: string) => {
    const { rows } = await weir.pool.query<{ row: string }>(`SELECT t::text AS row FROM ${table} AS t ORDER BY 1`);
    return rows.map(({ row }) => row);
  };
  const tables: Record<string, string[]> = {};
  for (const rollup of ALL_ROLLUPS) {
    // Which worker wrote a part is not what a repair brings back.
    tables[rollup.table] = await read(rollup.isSplit === true ? `(${rowsOfTable(rollup, 'true')})` : rollup.table);
  }
  return tables;
}

const first = (table: string, more = 'true') =>
  `${table}.ctid = (SELECT ctid FROM ${table} WHERE organization_id = $1 AND ${more} ORDER BY ${table} LIMIT 1)`;
const later = `hour >= '2026-10-01'`;

const damages: [string, { sql: string; table: string; found: Record<string, unknown>; told: string }][] = [
  [
    'a sum that was changed',
    {
      sql: `UPDATE ${HOURS} SET quantity_sum = quantity_sum + 0.001 WHERE ${first(HOURS)}`,
      table: HOURS,
      found: { missing: 0, extra: 0, wrong: { quantity_sum: 1 }, off: { event_count: '0', quantity_sum: '0.001' } },
      told: `${HOURS}: quantity_sum wrong in 1 row, quantity_sum 0.001 too high in all. --repair rebuilds them.`,
    },
  ],
  [
    'a row that is missing',
    {
      sql: `DELETE FROM ${HOURS} WHERE ${first(HOURS)}`,
      table: HOURS,
      found: { missing: 1, extra: 0, wrong: {} },
      told: '1 row missing, event_count ',
    },
  ],
  [
    'a row that nobody reported',
    {
      sql: `INSERT INTO ${HOURS} SELECT organization_id, meter_id, 'nobody', hour, 7, 7, 1, 1, last_timestamp, last_event_id, 1
            FROM ${HOURS} WHERE ${first(HOURS)}`,
      table: HOURS,
      found: { missing: 0, extra: 1, wrong: {}, off: { event_count: '7', quantity_sum: '7' } },
      told: '1 row too many, event_count 7 too high in all, quantity_sum 7 too high in all',
    },
  ],
  [
    'a row of a meter without any event',
    {
      sql: `INSERT INTO ${HOURS} SELECT organization_id, gen_random_uuid(), 'nobody', hour, 1, 1, 1, 1, last_timestamp, last_event_id, 1
            FROM ${HOURS} WHERE ${first(HOURS)}`,
      table: HOURS,
      found: { missing: 0, extra: 1, wrong: {} },
      told: '1 row too many',
    },
  ],
  [
    'a last event that is another',
    {
      sql: `UPDATE ${HOURS} SET last_event_id = gen_random_uuid(), last_timestamp = last_timestamp - interval '1 microsecond'
            WHERE ${first(HOURS, later)}`,
      table: HOURS,
      found: { wrong: { last_event_id: 1, last_timestamp: 1 }, off: { event_count: '0', quantity_sum: '0' } },
      told: 'last_timestamp wrong in 1 row, last_event_id wrong in 1 row. --repair',
    },
  ],
  [
    'a distinct value that nobody reported',
    {
      sql: `INSERT INTO ${VALUES} SELECT organization_id, meter_id, customer_external_id, day, 'x', quarters FROM ${VALUES}
            WHERE ${first(VALUES)}`,
      table: VALUES,
      found: { missing: 0, extra: 1 },
      told: `${VALUES}: 1 row too many. --repair`,
    },
  ],
  [
    'a quarter of an hour in which a customer did not have a distinct value',
    {
      sql: `UPDATE ${VALUES} SET quarters = set_bit(quarters, 50, 1) WHERE ${first(VALUES)}`,
      table: VALUES,
      found: { missing: 0, extra: 0, wrong: { quarters: 1 } },
      told: `${VALUES}: quarters wrong in 1 row. --repair`,
    },
  ],
  [
    'a day that is missing',
    {
      sql: `DELETE FROM ${DAYS} WHERE ${first(DAYS)}`,
      table: DAYS,
      found: { missing: 1, extra: 0, wrong: {} },
      told: `${DAYS}: 1 row missing, event_count `,
    },
  ],
  [
    'a largest quantity of a day that was changed',
    {
      sql: `UPDATE ${DAYS} SET quantity_max = 1000 WHERE ${first(DAYS, `day >= '2026-10-01'`)}`,
      table: DAYS,
      found: { missing: 0, extra: 0, wrong: { quantity_max: 1 } },
      told: `${DAYS}: quantity_max wrong in 1 row`,
    },
  ],
  [
    'a part of a quarter of an hour that nobody reported',
    {
      sql: `INSERT INTO ${QUARTERS} SELECT organization_id, meter_id, quarter, 100, 7, 7, 1, 1, last_timestamp, last_event_id, last_quantity
            FROM ${QUARTERS} WHERE ${first(QUARTERS)}`,
      table: QUARTERS,
      found: { missing: 0, extra: 0, off: { event_count: '7', quantity_sum: '7' } },
      told: `${QUARTERS}: event_count wrong in 1 row`,
    },
  ],
  [
    'a quarter of an hour in which nothing happened',
    {
      sql: `INSERT INTO ${QUARTERS} SELECT organization_id, meter_id, quarter + interval '15 minutes', 0, 1, 1, 1, 1,
              last_timestamp, last_event_id, 1 FROM ${QUARTERS} WHERE ${first(QUARTERS)}`,
      table: QUARTERS,
      found: { missing: 0, extra: 1, wrong: {} },
      told: `${QUARTERS}: 1 row too many`,
    },
  ],
  [
    'a distinct value of a day that is missing',
    {
      sql: `DELETE FROM ${VALUES} WHERE ${first(VALUES)}`,
      table: VALUES,
      found: { missing: 1, extra: 0 },
      told: `${VALUES}: 1 row missing. --repair`,
    },
  ],
  [
    'a distinct value of a meter that nobody reported',
    {
      sql: `INSERT INTO ${METER_VALUES} SELECT organization_id, meter_id, day, 'x', quarters FROM ${METER_VALUES}
            WHERE ${first(METER_VALUES)}`,
      table: METER_VALUES,
      found: { missing: 0, extra: 1, wrong: {} },
      told: `${METER_VALUES}: 1 row too many. --repair`,
    },
  ],
  [
    'a quarter of an hour in which a distinct value was not there',
    {
      sql: `UPDATE ${METER_VALUES} SET quarters = set_bit(quarters, 50, 1) WHERE ${first(METER_VALUES)}`,
      table: METER_VALUES,
      found: { missing: 0, extra: 0, wrong: { quarters: 1 } },
      told: `${METER_VALUES}: quarters wrong in 1 row. --repair`,
    },
  ],
];

test.each(damages)('%s is found, told, and made right bit by bit', async (_, { sql, table, found, told }) => {
  const { rowCount } = await weir.pool.query(sql, [tenant.id]);
  expect(rowCount).toBe(1);
  const damaged = await contents();
  expect(damaged).not.toEqual(before);

  const report = await reportHere(weir, database, { organizationId: tenant.id });
  expect(report).toContain(told);
  expect(report).toMatch(/NOT EQUAL\.$/);
  expect(await contents()).toEqual(damaged);

  const repaired = await reconcileHere(weir, database, { repair: true });
  expect(repaired.rollups.differing).toEqual([expect.objectContaining({ organizationId: tenant.id, table, ...found })]);
  expect(repaired.isEqual).toBe(true);
  expect(await contents()).toEqual(before);
});

test('all rollups of an organization that are lost are made anew, bit by bit, and nothing else is touched', async () => {
  const untouched = `SELECT ctid, xmin, organization_id FROM ${HOURS} WHERE organization_id <> $1 ORDER BY 1`;
  const others = (await weir.pool.query(untouched, [tenant.id])).rows;
  expect(others.length).toBeGreaterThan(0);
  for (const table of Object.keys(before)) {
    await weir.pool.query(`DELETE FROM ${table} WHERE organization_id = $1`, [tenant.id]);
  }
  const { code, out } = await runReconcile(weir, '--repair', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ equal: true });
  expect(await contents()).toEqual(before);
  expect((await weir.pool.query(untouched, [tenant.id])).rows).toEqual(others);
});

test('a repair waits for a worker that has written and not yet committed', async () => {
  const now = new Date().toISOString();
  const unit = { organizationId: tenant.id, meterId: tenant.sum.id, month: now.slice(0, 7) };
  await tenant.track({ timestamp: now }, { timestamp: now });
  await weir.drained();
  await weir.pool.query(`DELETE FROM ${HOURS} WHERE organization_id = $1 AND customer_external_id = $2`, [
    tenant.id,
    'acme',
  ]);
  const event = {
    id: newId(),
    organization_id: tenant.id,
    meter_id: tenant.sum.id,
    customer_external_id: 'acme',
    quantity: '1',
    timestamp: now,
  };
  const worker = await weir.pool.connect();
  try {
    await worker.query('BEGIN');
    await recordEvents(worker as unknown as pg.Pool, [{ event, countsUniqueValues: false }]);
    const repair = rebuildUnit(database, unit);
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await until(async () => (await weir.pool.query(waiting)).rowCount === 1, 'the repair waits');
    await worker.query('COMMIT');
    expect(await repair).toMatchObject([{ wrong: { event_count: 1 }, off: { event_count: '-2', quantity_sum: '-2' } }]);
  } finally {
    worker.release();
  }
  await expectRollupsToEqualEvents(weir.pool);
});

test('events are recorded while a repair waits for what holds a lock for long, such as a vacuum', async () => {
  const unit = { organizationId: tenant.id, meterId: tenant.sum.id, month: '2026-10' };
  const added = `UPDATE ${HOURS} SET event_count = event_count + 1
    WHERE organization_id = $1 AND meter_id = $2 AND hour = '2026-10-01T00:00:00Z'`;
  const { rowCount } = await weir.pool.query(added, [tenant.id, tenant.sum.id]);
  const event = {
    id: newId(),
    organization_id: tenant.id,
    meter_id: tenant.sum.id,
    customer_external_id: 'beside the repair',
    quantity: '1',
    timestamp: '2026-10-01T00:00:00Z',
  };
  const vacuum = await weir.pool.connect();
  try {
    await vacuum.query('BEGIN');
    await vacuum.query(`LOCK TABLE ${HOURS} IN SHARE UPDATE EXCLUSIVE MODE`);
    let waits = 0;
    const repair = rebuildUnit(database, unit, undefined, () => (waits += 1));
    const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await until(async () => (await weir.pool.query(waiting)).rowCount === 1, 'the repair waits');
    await recordEvents(weir.pool, [{ event, countsUniqueValues: false }]);
    await until(() => waits > 0, 'the repair says that it waits');

    await expect(rebuildUnit(database, unit, 0)).rejects.toThrow(UnitLocked);
    const options = parseReconcileOptions(['--repair', '--organization', tenant.id], newCommand());
    const { differing } = await balanceRollups(
      database,
      options,
      () => true,
      () => {},
      0,
    );
    expect(differing).toEqual([
      expect.objectContaining({ table: HOURS, wrong: { event_count: rowCount }, isRebuilt: false, wasLocked: true }),
    ]);
    await vacuum.query('COMMIT');
    expect(await repair).toMatchObject([{ table: HOURS, wrong: { event_count: rowCount } }]);
  } finally {
    await vacuum.query('ROLLBACK');
    vacuum.release();
  }
  await expectRollupsToEqualEvents(weir.pool);
});

test('a repair waits until Postgres has an autovacuum that is in the way give up, unless that is long', async () => {
  const unit = { organizationId: tenant.id, meterId: tenant.sum.id, month: '2026-10' };
  const alter = `ALTER DATABASE ${new URL(weir.databaseUrl).pathname.slice(1)}`;
  await weir.pool.query(`
    CREATE TABLE waits (setting text);
    CREATE FUNCTION note_wait() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN INSERT INTO waits SELECT current_setting('lock_timeout'); RETURN NULL; END $$;
    CREATE TRIGGER note_wait AFTER DELETE ON ${HOURS} EXECUTE FUNCTION note_wait()`);
  try {
    for (const timeout of ['1s', '1min']) {
      await weir.pool.query(`${alter} SET deadlock_timeout = '${timeout}'`);
      const ofUnit = `meter_id = $1 AND hour = '2026-10-01T00:00:00Z'`;
      await weir.pool.query(`UPDATE ${HOURS} SET event_count = event_count + 1 WHERE ${ofUnit}`, [unit.meterId]);
      const fresh = openTestDatabase(weir);
      try {
        await rebuildUnit(fresh, unit);
      } finally {
        await fresh.close();
      }
    }
    expect((await weir.pool.query('SELECT * FROM waits')).rows).toEqual([{ setting: '1500ms' }, { setting: '5500ms' }]);
  } finally {
    await weir.pool.query(`DROP TABLE waits; DROP FUNCTION note_wait CASCADE`);
    await weir.pool.query(`${alter} RESET deadlock_timeout`);
  }
  await expectRollupsToEqualEvents(weir.pool);
});

test('a reconcile that is stopped leaves no statement behind in Postgres', async () => {
  const { PATH } = process.env;
  const { DATABASE_URL, REDIS_URL, QUEUE_PREFIX } = weir.env;
  const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
    AND query LIKE '%FROM duplicate_events d%'`;
  const holder = await weir.pool.connect();
  try {
    await holder.query('BEGIN');
    await holder.query('LOCK TABLE duplicate_events IN ACCESS EXCLUSIVE MODE');
    const child = spawn(process.execPath, ['apps/reconcile/dist/main.js'], {
      cwd: fileURLToPath(new URL('../..', import.meta.url)),
      env: { PATH, DATABASE_URL, REDIS_URL, QUEUE_PREFIX },
      stdio: 'ignore',
    });
    const ended = once(child, 'exit');
    await until(async () => (await weir.pool.query(waiting)).rowCount === 1, 'it waits');
    child.kill('SIGINT');
    expect(await ended).toEqual([130, null]);
    await until(async () => (await weir.pool.query(waiting)).rowCount === 0, 'what it asked for has ended');
  } finally {
    await holder.query('ROLLBACK');
    holder.release();
  }
});

test('while workers record into the same rows, a repair loses nothing and counts nothing twice', async () => {
  const month = new Date().toISOString().slice(0, 7);
  const unit = { organizationId: tenant.id, meterId: tenant.sum.id, month };
  await weir.startWorker();
  let isOver = false;
  let [sent, goal] = [0, 0];
  const send = async (): Promise<void> => {
    const events = Array.from({ length: 20 }, () => ({ customer_external_id: 'hot' }));
    while (!isOver) {
      const { length } = await tenant.track(...events);
      sent += length;
      // Some come in while a round repairs, and no more: each round reads all that ever came.
      await until(() => isOver || sent < goal + 60, 'the next round begins');
    }
  };
  const traffic = [send(), send(), send()];
  for (let round = 0; round < 25; round += 1) {
    goal = sent + 20;
    await until(() => sent >= goal, 'more events come in');
    await weir.pool.query(
      `UPDATE ${HOURS} SET event_count = event_count + 1000, quantity_sum = quantity_sum / 2 WHERE organization_id = $1 AND customer_external_id = 'hot'`,
      [tenant.id],
    );
    await rebuildUnit(database, unit);
  }
  isOver = true;
  await Promise.all(traffic);
  await weir.drained();
  await expectRollupsToEqualEvents(weir.pool);
});
