import type pg from 'pg';
import { expect } from 'vitest';

// What the rollups should be, made anew of the events; each column counts the rows of a table that are something else.

const OF_EVENTS = `count(*) AS event_count, sum(quantity) AS quantity_sum, min(quantity) AS quantity_min, max(quantity) AS quantity_max,
    max("timestamp") AS last_timestamp, (array_agg(id ORDER BY "timestamp" DESC, id DESC))[1] AS last_event_id,
    (array_agg(quantity ORDER BY "timestamp" DESC, id DESC))[1] AS last_quantity`;
const AMOUNTS = [
  'event_count',
  'quantity_sum',
  'quantity_min',
  'quantity_max',
  'last_timestamp',
  'last_event_id',
  'last_quantity',
];

const timeOf = { hour: `date_trunc('hour', "timestamp", 'UTC')`, day: `date_trunc('day', "timestamp", 'UTC')` };

/** How many rows of a rollup of customers are not what the events give. */
function usageDifferences(table: string, time: 'hour' | 'day'): string {
  const amounts = (side: string) => AMOUNTS.map((name) => `${side}.${name}`).join(', ');
  return `(SELECT count(*)::int FROM (
      SELECT organization_id, meter_id, customer_external_id, ${timeOf[time]} AS ${time}, ${OF_EVENTS} FROM events GROUP BY 1, 2, 3, 4
    ) AS s FULL JOIN ${table} r USING (organization_id, meter_id, customer_external_id, ${time})
    WHERE (${amounts('s')}) IS DISTINCT FROM (${amounts('r')})) AS ${table}`;
}

/** How many distinct values are missing or too many. */
function valueDifferences(table: string, time: 'hour' | 'day'): string {
  return `(SELECT count(*)::int FROM (
      SELECT DISTINCT e.organization_id, e.meter_id, customer_external_id, ${timeOf[time]} AS ${time}, unique_value_hash(metadata) AS value_hash
      FROM events e JOIN meters m ON (m.organization_id, m.id) = (e.organization_id, e.meter_id) WHERE aggregation_type = 'UNIQUE_COUNT'
    ) AS u FULL JOIN ${table} v USING (organization_id, meter_id, customer_external_id, ${time}, value_hash)
    WHERE u.organization_id IS NULL OR v.organization_id IS NULL) AS ${table}`;
}

/** The same for the quarters of whole meters, whose parts are added up. */
const QUARTER_DIFFERENCES = `(SELECT count(*)::int FROM (
    SELECT organization_id, meter_id, date_bin('15 minutes', "timestamp", TIMESTAMPTZ '2000-01-01 00:00:00Z') AS quarter, ${OF_EVENTS}
    FROM events GROUP BY 1, 2, 3
  ) AS s FULL JOIN (
    SELECT organization_id, meter_id, quarter, sum(event_count) AS event_count, sum(quantity_sum) AS quantity_sum,
      min(quantity_min) AS quantity_min, max(quantity_max) AS quantity_max, max(last_timestamp) AS last_timestamp,
      (array_agg(last_event_id ORDER BY last_timestamp DESC, last_event_id DESC))[1] AS last_event_id,
      (array_agg(last_quantity ORDER BY last_timestamp DESC, last_event_id DESC))[1] AS last_quantity
    FROM meter_quarters GROUP BY 1, 2, 3
  ) AS r USING (organization_id, meter_id, quarter)
  WHERE (${AMOUNTS.map((name) => `s.${name}`).join(', ')}) IS DISTINCT FROM (${AMOUNTS.map((name) => `r.${name}`).join(', ')})) AS meter_quarters`;

const SECONDS = `floor(extract(epoch FROM "timestamp"))::bigint`;
const VALUED = `events e JOIN meters m ON (m.organization_id, m.id) = (e.organization_id, e.meter_id) WHERE aggregation_type = 'UNIQUE_COUNT'`;

/** The same for the distinct values of whole meters by the day, with a one for each quarter of an hour that has an event. */
const METER_VALUE_DAY_DIFFERENCES = `(SELECT count(*)::int FROM (
    SELECT e.organization_id, e.meter_id, to_timestamp(${SECONDS} / 86400 * 86400) AS day, unique_value_hash(metadata) AS value_hash,
      array_agg(${SECONDS} % 86400 / 900) AS numbers
    FROM ${VALUED} GROUP BY 1, 2, 3, 4
  ) AS u FULL JOIN meter_value_days v USING (organization_id, meter_id, day, value_hash)
  WHERE (SELECT string_agg((n = ANY (u.numbers))::int::text, '' ORDER BY n) FROM generate_series(0, 95) AS n)
    IS DISTINCT FROM v.quarters::text) AS meter_value_days`;

/** The same by the quarter, with the time of the first event of each. */
const METER_VALUE_QUARTER_DIFFERENCES = `(SELECT count(*)::int FROM (
    SELECT e.organization_id, e.meter_id, to_timestamp(${SECONDS} / 900 * 900) AS quarter, unique_value_hash(metadata) AS value_hash,
      min("timestamp") AS first_timestamp
    FROM ${VALUED} GROUP BY 1, 2, 3, 4
  ) AS u FULL JOIN meter_value_quarters v USING (organization_id, meter_id, quarter, value_hash)
  WHERE u.first_timestamp IS DISTINCT FROM v.first_timestamp) AS meter_value_quarters`;

const DIFFERENCES = `SELECT ${[
  usageDifferences('usage_rollups', 'hour'),
  usageDifferences('usage_days', 'day'),
  QUARTER_DIFFERENCES,
  valueDifferences('unique_values', 'hour'),
  valueDifferences('unique_days', 'day'),
  METER_VALUE_DAY_DIFFERENCES,
  METER_VALUE_QUARTER_DIFFERENCES,
].join(', ')}`;

/** The promise under every number that is read: rollups equal the events they were made of. */
export async function expectRollupsToEqualEvents(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query(DIFFERENCES);
  const none = {
    usage_rollups: 0,
    usage_days: 0,
    meter_quarters: 0,
    unique_values: 0,
    unique_days: 0,
    meter_value_days: 0,
    meter_value_quarters: 0,
  };
  expect(rows).toEqual([none]);
}
