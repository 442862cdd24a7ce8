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

const SECONDS = `floor(extract(epoch FROM "timestamp"))::bigint`;

/** The same for the quarters of whole meters, whose parts are added up. */
const QUARTER_DIFFERENCES = `(SELECT count(*)::int FROM (
    SELECT organization_id, meter_id, date_bin('15 minutes', "timestamp", TIMESTAMPTZ '2000-01-01 00:00:00Z') AS quarter, ${OF_EVENTS}
    FROM events GROUP BY 1, 2, 3
  ) AS s FULL JOIN (
    SELECT organization_id, meter_id, quarter, sum(event_count) AS event_count, sum(quantity_sum) AS quantity_sum,
      min(quantity_min) AS quantity_min, max(quantity_max) AS quantity_max, max(last_timestamp) AS last_timestamp,
      (array_agg(last_event_id ORDER BY last_timestamp DESC, last_event_id DESC))[1] AS last_event_id,
      (array_agg(last_quantity ORDER BY last_timestamp DESC, last_event_id DESC))[1] AS last_quantity
    FROM meter_usage_quarters GROUP BY 1, 2, 3
  ) AS r USING (organization_id, meter_id, quarter)
  WHERE (${AMOUNTS.map((name) => `s.${name}`).join(', ')}) IS DISTINCT FROM (${AMOUNTS.map((name) => `r.${name}`).join(', ')})) AS meter_usage_quarters`;

/** How many distinct values are missing or too many, or do not have a one for each quarter of an hour with an event, and zeros else. */
function valueDifferences(table: string, whose: string): string {
  return `(SELECT count(*)::int FROM (
      SELECT ${whose}, to_timestamp(${SECONDS} / 86400 * 86400) AS day, unique_value_hash(metadata) AS value_hash,
        array_agg(${SECONDS} % 86400 / 900) AS numbers
      FROM events WHERE (organization_id, meter_id) IN (SELECT m.organization_id, m.id FROM meters m WHERE aggregation_type = 'UNIQUE_COUNT')
      GROUP BY ${whose}, day, value_hash
    ) AS u FULL JOIN ${table} v USING (${whose}, day, value_hash)
    WHERE (SELECT string_agg((n = ANY (u.numbers))::int::text, '' ORDER BY n) FROM generate_series(0, 95) AS n)
      IS DISTINCT FROM v.quarters::text) AS ${table}`;
}

const TABLES: Record<string, string> = {
  customer_usage_hours: usageDifferences('customer_usage_hours', 'hour'),
  customer_usage_days: usageDifferences('customer_usage_days', 'day'),
  meter_usage_quarters: QUARTER_DIFFERENCES,
  customer_value_days: valueDifferences('customer_value_days', 'organization_id, meter_id, customer_external_id'),
  meter_value_days: valueDifferences('meter_value_days', 'organization_id, meter_id'),
};

/** The promise under every number that is read: rollups equal the events they were made of. */
export async function expectRollupsToEqualEvents(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query(`SELECT ${Object.values(TABLES).join(', ')}`);
  expect(rows).toEqual([Object.fromEntries(Object.keys(TABLES).map((table) => [table, 0]))]);
}
