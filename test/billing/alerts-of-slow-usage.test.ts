// Usage that takes longer to be read than a statement may: alerts are held against that of all others, and against it once it can be read.

import { findAlertWork, readAlertsOldestSeconds, TouchedPlaces } from '@weir/db/alerts/find-alert-work';
import { performAlerts } from '@weir/db/alerts/perform-alerts';
import { SlowUsage } from '@weir/db/alerts/slow-usage';
import { openDatabase, type Database } from '@weir/db/database';
import { recordEvents } from '@weir/db/record';
import { newId } from '@weir/shared/ids';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { makeAlert } from '../support/alerting.ts';
import { until } from '../support/harness.ts';
import { startInvoicing, type Invoicing } from '../support/invoicing.ts';
import { ownWeir } from '../support/use-weir.ts';

const weir = ownWeir({ withWorker: false, unobserved: true });
let own: Invoicing;
let database: Database;
let meter: string;
let slow: SlowUsage;
let passed = 0;

beforeAll(async () => {
  own = await startInvoicing(weir);
  meter = (await own.meter()).id;
  await own.moveTo('2025-01-10T12:00:00Z');
  database = openDatabase(weir.databaseUrl, {
    connectionsMax: 2,
    // A busy machine has all but what sleeps for a minute done by then.
    statementTimeoutMs: 3_000,
    onConnectionError: () => {},
  });
  await weir.pool.query(`
    CREATE TABLE slow (customer_external_id text, seconds float);
    CREATE FUNCTION take_time(customer text) RETURNS boolean LANGUAGE plpgsql VOLATILE COST 1000000 AS
      'BEGIN PERFORM pg_sleep(seconds) FROM slow WHERE customer_external_id = customer; RETURN true; END';
    ALTER TABLE customer_usage_days RENAME TO all_usage_days;
    CREATE VIEW customer_usage_days AS SELECT * FROM all_usage_days WHERE take_time(customer_external_id);`);
});
afterAll(async () => {
  await database.close();
  await own.close();
});
beforeEach(() => {
  slow = new SlowUsage();
  passed = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => process.uptime() * 1_000 + passed);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await weir.pool.query('TRUNCATE slow, touched_usage');
});

/** Has each reach a threshold, and be noted as recording does; the first one first. */
async function use(customers: readonly string[]): Promise<void> {
  await weir.pool.query('DROP VIEW customer_usage_days; ALTER TABLE all_usage_days RENAME TO customer_usage_days');
  await recordEvents(
    own.database.pool,
    customers.map((customer) => ({
      event: {
        id: newId(),
        organization_id: own.admin.id,
        meter_id: meter,
        customer_external_id: customer,
        quantity: '10',
        timestamp: '2025-01-09T11:00:00.000000Z',
      },
      countsUniqueValues: false,
    })),
  );
  await weir.pool.query(`
    ALTER TABLE customer_usage_days RENAME TO all_usage_days;
    CREATE VIEW customer_usage_days AS SELECT * FROM all_usage_days WHERE take_time(customer_external_id);`);
}

const touch = (customer: string) =>
  weir.pool.query('INSERT INTO touched_usage (organization_id, customer_external_id, meter_id) VALUES ($1, $2, $3)', [
    own.admin.id,
    customer,
    meter,
  ]);

const takeTime = (customer: string, seconds: number) =>
  weir.pool.query('INSERT INTO slow VALUES ($1, $2)', [customer, seconds]);

const perform = () => performAlerts(database, own.admin.id, 0, '0', slow);

async function performAll(): Promise<number> {
  for (let tooLong = 0; ;) {
    const turn = await perform();
    tooLong += turn.tooLong;
    if (!turn.hasLeft) return tooLong;
  }
}

const told = async (alert: string): Promise<string[]> =>
  (
    await weir.pool.query(
      'SELECT customer_external_id AS customer FROM alert_crossings WHERE alert_id = $1 ORDER BY 1',
      [alert],
    )
  ).rows.map(({ customer }) => customer);

const waiting = async () => (await weir.pool.query('SELECT FROM touched_usage')).rows.length;

test('one customer whose usage takes too long holds up nobody, and is told of once it can be read', async () => {
  const others = Array.from({ length: 20 }, (_, n) => `customer ${String(n).padStart(2, '0')}`);
  const alert = await makeAlert(own, { meter_id: meter }, [10]);
  await performAll();
  await takeTime('millions', 60);
  await use([...others.slice(0, 10), 'millions', ...others.slice(10)]);
  expect(await performAll()).toBe(1);
  expect(await told(alert)).toEqual(others);
  expect(await waiting()).toBe(1);

  // What is noted meanwhile is one change once it has been tried again, which is not before a minute has passed.
  for (let count = 0; count < 3; count += 1) await touch('millions');
  expect([await performAll(), await waiting()]).toEqual([0, 4]);
  passed += 61_000;
  expect([await performAll(), await waiting()]).toEqual([1, 1]);
  await weir.pool.query('TRUNCATE slow');
  expect(await performAll()).toBe(0);
  expect(await told(alert)).toEqual(others);
  passed += 61_000;
  expect([await performAll(), await waiting()]).toEqual([0, 0]);
  expect(await told(alert)).toEqual([...others, 'millions']);
  await touch('millions');
  expect((await perform()).hasLeft).toBe(true);
  expect(slow.customersOf(own.admin.id)).toEqual([]);
});

test('a customer that another worker tries is not taken for one that was read', async () => {
  await makeAlert(own, { meter_id: meter }, [10]);
  await performAll();
  await takeTime('in hand', 60);
  await use(['in hand']);
  expect(await performAll()).toBe(1);
  const other = await weir.pool.connect();
  try {
    await other.query('BEGIN');
    await other.query('SELECT FROM touched_usage FOR UPDATE');
    // What nobody has in hand is not all.
    await touch('in hand');
    passed += 61_000;
    expect(await performAll()).toBe(0);
  } finally {
    await other.query('ROLLBACK');
    other.release();
  }
  expect(slow.customersOf(own.admin.id)).toEqual(['in hand']);
  await weir.pool.query('TRUNCATE slow');
  passed += 61_000;
  await perform();
  expect([slow.customersOf(own.admin.id), await waiting()]).toEqual([[], 0]);
});

test('looks begin behind what was taken since a customer is too slow, and tell how long that one waits', async () => {
  await makeAlert(own, { meter_id: meter }, [10]);
  await performAll();
  await takeTime('for hours', 60);
  await use(['for hours']);
  await weir.pool.query(`UPDATE touched_usage SET touched_at = billing_now() - interval '3 hours'`);
  expect(await performAll()).toBe(1);
  await use(['meanwhile']);
  const { rows: last } = await weir.pool.query('SELECT max(id)::text AS id FROM touched_usage');
  expect([await performAll(), await waiting()]).toEqual([0, 1]);
  passed += 61_000;
  expect([await performAll(), await waiting()]).toEqual([1, 1]);
  const places = new TouchedPlaces();
  const goesOnBehind = async () => {
    await findAlertWork(own.database, places);
    return places.isBehind;
  };
  // What other tests have written and not committed yet, on the same server, holds it up.
  await until(goesOnBehind, 'looks go on behind what is gone', 90);
  expect(BigInt(places.of(own.admin.id))).toBeGreaterThan(BigInt(last[0].id));

  await weir.pool.query(
    `INSERT INTO touched_usage (organization_id, id, customer_external_id, touched_at) OVERRIDING SYSTEM VALUE
     SELECT organization_id, id - 1, 'of now', billing_now() FROM touched_usage`,
  );
  expect(await readAlertsOldestSeconds(own.database, new TouchedPlaces())).toBeGreaterThan(3 * 3_600 - 1);
}, 120_000);

test('usage that takes too long at once is read in parts, and so for some minutes', async () => {
  const customers = Array.from({ length: 20 }, (_, n) => `many ${String(n).padStart(2, '0')}`);
  const alert = await makeAlert(own, { meter_id: meter }, [10]);
  await performAll();
  const before = await told(alert);
  for (const customer of customers) await takeTime(customer, 0.2);
  await use(customers);
  expect((await perform()).hasLeft).toBe(true);
  expect(slow.changesMax(own.admin.id)).toBe(5);
  expect(await performAll()).toBe(0);
  expect(await told(alert)).toEqual([...before, ...customers].toSorted());
  expect(slow.changesMax(own.admin.id)).toBe(5);
  passed += 301_000;
  expect(slow.changesMax(own.admin.id)).toBe(Infinity);
});
