// Makes the groups of usage that was recorded before its meter's keys were changed: one day (UTC) of the events' own time after
// the other, each in a transaction that holds the recording of its organization off. What is recorded meanwhile is kept by the
// new keys already, and a day is made of all its events, so it does not matter which of them came when.

import type pg from 'pg';
import type { Database } from './database.ts';
import {
  BEGINNING,
  GROUP_ROLLUPS,
  insertInto,
  OVERFLOW,
  ROLLUPS,
  rowsOfEvents,
  rowsOfFiner,
  type Rollup,
} from './rollups.ts';
import { inStream, ofAll } from './usage/usage-rows.ts';

const DAYS = ROLLUPS.customerUsageDays.table;

/** What is recorded waits in the queue meanwhile: better to try again than to hold it off for a statement that hangs. */
const LOCK_WAIT_MS_MAX = 3_000;

/** A day of millions of events takes minutes, and has to be made some time. */
const DAY_MS_MAX = 600_000;

interface Pending {
  organization_id: string;
  meter_id: string;
}

/**
 * Makes days anew until none is left, or the time is over; at least one. Safe to run in several processes at once, and to be
 * cut off anywhere. Returns how many days were made. Throws what Postgres says; the day is made another time then.
 */
export async function backfillGroups({ pool }: Database, milliseconds: number): Promise<number> {
  const until = performance.now() + milliseconds;
  const { rows } = await pool.query<Pending>('SELECT organization_id, meter_id FROM metadata_backfills ORDER BY 1, 2');
  let days = 0;
  for (const pending of rows) {
    while (await backfillDay(pool, pending)) {
      days += 1;
      if (performance.now() > until) return days;
    }
  }
  return days;
}

/** Makes the next day of a meter. False where there is none, and its usage can be read by group from then on. */
async function backfillDay(pool: pg.Pool, { organization_id, meter_id }: Pending): Promise<boolean> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const found = await makeDay(client, [organization_id, meter_id]);
    await client.query('COMMIT');
    client.release();
    return found;
  } catch (error) {
    // With the connection goes the transaction, whatever state either is in.
    client.release(true);
    throw error;
  }
}

const OF_METER = ofAll({ organization: '$1::uuid', meter: '$2::uuid' });

const NEXT = `
SELECT backfill.through, (SELECT min(day) FROM (
    SELECT min(day) AS day FROM ${DAYS} WHERE ${OF_METER} AND day > backfill.through
    UNION ALL SELECT min(day) FROM metadata_groups WHERE (organization_id, meter_id) = ($1, $2) AND day > backfill.through
  ) AS days)::text AS day
FROM metadata_backfills AS backfill WHERE (organization_id, meter_id) = ($1, $2) FOR UPDATE`;

async function makeDay(client: pg.PoolClient, meter: [organizationId: string, meterId: string]): Promise<boolean> {
  await client.query(`SELECT set_config('lock_timeout', $1, true), set_config('statement_timeout', $2, true)`, [
    String(LOCK_WAIT_MS_MAX),
    String(DAY_MS_MAX),
  ]);
  await client.query('SELECT pg_advisory_xact_lock(20002, closing_slot($1::uuid))', meter.slice(0, 1));
  const [next] = (await client.query<{ day: string | null }>(NEXT, meter)).rows;
  if (next === undefined) return false;
  if (next.day === null) {
    await client.query('DELETE FROM metadata_backfills WHERE (organization_id, meter_id) = ($1, $2)', meter);
    return false;
  }
  const values = [...meter, next.day];
  for (const { table, grain } of [...GROUP_ROLLUPS, { table: 'metadata_groups', grain: 'day' }]) {
    await client.query(
      `DELETE FROM ${table} WHERE (organization_id, meter_id) = ($1, $2)
         AND ${grain} >= $3::timestamptz AND ${grain} < $3::timestamptz + interval '24 hours'`,
      values,
    );
  }
  const make = { text: MAKE, values, query_timeout: DAY_MS_MAX };
  await client.query(make);
  await client.query('UPDATE metadata_backfills SET through = $3 WHERE (organization_id, meter_id) = ($1, $2)', values);
  return true;
}

/** Of one day: $1 organization, $2 meter, $3 the day. The customers of the day are known; no index leads to a meter's events. */
const MAKE = `
WITH meter AS MATERIALIZED (
  SELECT metadata_keys, aggregation_type FROM meters WHERE (organization_id, id) = ($1::uuid, $2::uuid) AND metadata_keys <> '{}'
),
found AS MATERIALIZED (
  SELECT events.*, group_hash(combined) AS asked_hash, combined AS group_values, ${BEGINNING.day('"timestamp"')} AS day
  FROM meter CROSS JOIN (SELECT customer_external_id AS customer FROM ${DAYS}
      WHERE ${OF_METER} AND day = $3::timestamptz OFFSET 0) AS someone
    CROSS JOIN LATERAL (SELECT * FROM events
      WHERE ${inStream({ organization: '$1::uuid', meter: '$2::uuid' }, 'someone.customer')}
        AND "timestamp" >= $3::timestamptz AND "timestamp" < $3::timestamptz + interval '24 hours' OFFSET 0) AS events
    CROSS JOIN LATERAL (SELECT group_values(meter.metadata_keys, events.metadata) AS combined OFFSET 0) AS of_event
),
kept AS MATERIALIZED (
  SELECT group_hash FROM keep_groups(ARRAY(
    SELECT DISTINCT ROW(organization_id, meter_id, day, asked_hash, group_values)::metadata_groups FROM found))
),
grouped AS MATERIALIZED (
  SELECT organization_id, meter_id, customer_external_id, "timestamp", id, quantity, coalesce(group_hash, ${OVERFLOW}) AS group_hash,
    CASE WHEN (SELECT aggregation_type FROM meter) = 'UNIQUE_COUNT' THEN unique_value_hash(metadata) END AS value_hash
  FROM found LEFT JOIN kept ON group_hash = asked_hash
),
${GROUP_ROLLUPS.map(insertDay).join(',\n')}
SELECT`;

function insertDay(rollup: Rollup): string {
  const { table, keeps, madeOf } = rollup;
  const rows =
    madeOf === undefined
      ? rowsOfEvents(rollup, keeps === 'values' ? 'grouped WHERE value_hash IS NOT NULL' : 'grouped')
      : rowsOfFiner(rollup, madeOf, `made_${madeOf.table}`);
  return `made_${table} AS (${rows}),
inserted_${table} AS (${insertInto(rollup)} SELECT * FROM made_${table})`;
}
