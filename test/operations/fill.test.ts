// A database that the benchmark has filled is one that events came to: measured on anything else, a figure says nothing.

import { openDatabase, type Database } from '@weir/db/database';
import { recordEvents } from '@weir/db/record';
import { PLAIN_ROLLUPS } from '@weir/db/rollups';
import { compareUnit, listUnits } from '@weir/db/rollup-check';
import type { StagedEvent } from '@weir/shared/event';
import { newId } from '@weir/shared/ids';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { insertCallers, type InsertedCaller } from '../../bench/fill/callers.ts';
import { fillEvents } from '../../bench/fill/fill-events.ts';
import { countTotals } from '../../bench/counts.ts';
import { createTestDatabase, type TestDatabase } from '../support/setup/database.ts';

const EVENTS = 3_000;
const UNTIL = new Date('2026-03-02T05:00:00Z');
const otherMeter = newId();

interface Filled {
  testDatabase: TestDatabase;
  client: pg.Client;
}

let first: Filled;
let second: Filled;
let database: Database;
let caller: InsertedCaller;

beforeAll(async () => {
  first = await open();
  second = await open();
  database = openDatabase(first.testDatabase.url, {
    connectionsMax: 2,
    statementTimeoutMs: 0,
    onConnectionError: () => {},
  });
  const callers = await insertCallers(first.client, 1);
  if (callers[0] === undefined) throw new Error('no organization was made');
  caller = callers[0];
  await first.client.query(`UPDATE meters SET aggregation_type = 'UNIQUE_COUNT'`);
  for (const { client } of [first, second]) {
    // Usage has a meter, in the database without callers as well.
    await client.query(`INSERT INTO organizations (id, name) VALUES ($1, 'Filled') ON CONFLICT DO NOTHING`, [
      caller.organizationId,
    ]);
    for (const meterId of [caller.meterId, otherMeter])
      await client.query(
        `INSERT INTO meters (organization_id, id, name, meter_token, aggregation_type)
         VALUES ($1, $2, 'Filled', gen_random_uuid()::text, 'UNIQUE_COUNT') ON CONFLICT DO NOTHING`,
        [caller.organizationId, meterId],
      );
    await fillEvents(client, {
      events: EVENTS,
      customers: 7,
      meters: 2,
      days: 40,
      organizationId: caller.organizationId,
      meterIds: [caller.meterId, otherMeter, newId()],
      until: UNTIL,
    });
  }
});
afterAll(async () => {
  await database.close();
  for (const { client, testDatabase } of [first, second]) {
    await client.end();
    await testDatabase.drop();
  }
});

async function open(): Promise<Filled> {
  const testDatabase = await createTestDatabase();
  const client = new pg.Client({ connectionString: testDatabase.url });
  await client.connect();
  return { testDatabase, client };
}

test('every event has its key, and all rollups are what the events give', async () => {
  const totals = await countTotals(first.client);
  expect(totals).toMatchObject({ events: EVENTS, keys: EVENTS });
  for (const sum of Object.values(totals.rollups)) expect(sum).toEqual({ events: EVENTS, quantity: totals.quantity });
  const differences = [];
  const units = await listUnits(database, {});
  for (const unit of units) differences.push(...(await compareUnit(database, unit)));
  expect(units).toHaveLength(2 * 3);
  expect(differences).toEqual([]);
  for (const { table } of PLAIN_ROLLUPS) {
    const { rows } = await first.client.query(`SELECT count(*)::int AS count FROM ${table}`);
    expect(rows[0].count).toBeGreaterThan(0);
  }
});

test('a key of such an event is held as if it had come through the door', async () => {
  const event = {
    id: newId(),
    organization_id: caller.organizationId,
    meter_id: otherMeter,
    customer_external_id: 'customer-1',
    quantity: '1',
    timestamp: '2026-03-01T00:00:00Z',
  };
  const { rows } = await first.client.query<{ event: StagedEvent }>(
    "SELECT to_jsonb(e) || jsonb_build_object('quantity', quantity::text, 'metadata', metadata::text) AS event FROM events AS e WHERE idempotency_key = 'fill-17'",
  );
  const known = { event: { ...event, ...rows[0]?.event, id: event.id }, countsUniqueValues: false };
  const unknown = { event: { ...event, id: newId(), idempotency_key: 'new-17' }, countsUniqueValues: false };
  expect(await recordEvents(database.pool, [known])).toMatchObject({ recorded: 0, duplicates: 1 });
  expect(await recordEvents(database.pool, [unknown])).toMatchObject({ recorded: 1, duplicates: 0 });
});

test('events are spread over the days, the meters and the customers, each month in its partition', async () => {
  const { rows } = await second.client.query(`
    SELECT count(DISTINCT date_trunc('day', "timestamp", 'UTC'))::int AS days, count(DISTINCT (meter_id, customer_external_id))::int AS pairs,
      min("timestamp") >= '2026-01-21T05:00:00Z' AND max("timestamp") < '2026-03-02T05:00:00Z' AS "isInSpan",
      array_agg(DISTINCT tableoid::regclass::text ORDER BY tableoid::regclass::text) AS partitions
    FROM events`);
  expect(rows[0]).toEqual({
    days: 41,
    pairs: 14,
    isInSpan: true,
    partitions: ['events_2026_01', 'events_2026_02', 'events_2026_03'],
  });
});

test('the same fill makes the same rows', async () => {
  const contents = async ({ client }: Filled, table: string) => {
    const { rows } = await client.query(
      `SELECT t::text AS row FROM ${table} AS t WHERE t::text NOT LIKE '%new-17%' ORDER BY 1`,
    );
    return rows;
  };
  const [made, again] = [await contents(first, 'events'), await contents(second, 'events')];
  expect(made).toHaveLength(EVENTS);
  expect(again).toEqual(made);
});

test('meters that are not named cannot be filled', async () => {
  const fill = {
    events: 1,
    customers: 1,
    meters: 2,
    days: 1,
    organizationId: caller.organizationId,
    meterIds: [otherMeter],
  };
  await expect(fillEvents(first.client, fill)).rejects.toThrow('2 meters');
});
