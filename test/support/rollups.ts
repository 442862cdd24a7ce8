import type pg from 'pg';
import { expect } from 'vitest';

// What the rollups should be, made anew of the events; each column counts the rows of a table that are something else.

const COUNTED = `(SELECT * FROM events e WHERE NOT EXISTS (SELECT FROM corrections c WHERE (c.organization_id, c.event_id) = (e.organization_id, e.id)))`;

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
      SELECT organization_id, meter_id, customer_external_id, ${timeOf[time]} AS ${time}, ${OF_EVENTS} FROM ${COUNTED} AS events GROUP BY 1, 2, 3, 4
    ) AS s FULL JOIN ${table} r USING (organization_id, meter_id, customer_external_id, ${time})
    WHERE (${amounts('s')}) IS DISTINCT FROM (${amounts('r')})) AS ${table}`;
}

const SECONDS = `floor(extract(epoch FROM "timestamp"))::bigint`;

/** The same for the quarters of whole meters, whose parts are added up. */
const QUARTER_DIFFERENCES = `(SELECT count(*)::int FROM (
    SELECT organization_id, meter_id, date_bin('15 minutes', "timestamp", TIMESTAMPTZ '2000-01-01 00:00:00Z') AS quarter, ${OF_EVENTS}
    FROM ${COUNTED} AS events GROUP BY 1, 2, 3
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
      FROM ${COUNTED} AS events WHERE (organization_id, meter_id) IN (SELECT m.organization_id, m.id FROM meters m WHERE aggregation_type = 'UNIQUE_COUNT')
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

/** The events of meters that name keys, each with the combination of values that it counts under. */
const GROUPED_EVENTS = `(
    SELECT e.*, m.aggregation_type, CASE WHEN EXISTS (SELECT FROM metadata_groups g WHERE g.meter_id = e.meter_id
      AND g.day = ${timeOf.day} AND g.group_values = group_values(m.metadata_keys, e.metadata))
      THEN array_to_json(group_values(m.metadata_keys, e.metadata))::text ELSE 'overflow' END AS of_group
    FROM ${COUNTED} e JOIN meters m ON (m.organization_id, m.id) = (e.organization_id, e.meter_id) WHERE m.metadata_keys <> '{}'
  ) AS events`;

/** How many rows of a rollup by group are not what the events give; `row` says what of a row, and `made` what of the events. */
function groupDifferences(
  table: string,
  key: string[],
  time: string,
  what: { made: string; row: string; from?: string },
): string {
  const all = [...key, 'of_group'].join(', ');
  return `(SELECT count(*)::int FROM (
      SELECT ${key.map((name) => (timeSql[name] === undefined ? name : `${timeSql[name]} AS ${name}`)).join(', ')}, of_group, ${what.made} AS made
      FROM ${GROUPED_EVENTS} ${what.from ?? ''} GROUP BY ${[...key, 'of_group'].map((_, index) => index + 1).join(', ')}
    ) AS s FULL JOIN (
      SELECT ${key.map((name) => `r.${name}`).join(', ')}, coalesce(array_to_json(g.group_values)::text, 'overflow') AS of_group, ${what.row} AS kept
      FROM ${table} r LEFT JOIN metadata_groups g ON g.organization_id = r.organization_id AND g.meter_id = r.meter_id
        AND g.day = date_trunc('day', r.${time}, 'UTC') AND g.group_hash = r.group_hash
      GROUP BY ${[...key, 'of_group'].map((_, index) => index + 1).join(', ')}
    ) AS r USING (${all}) WHERE made IS DISTINCT FROM kept) AS ${table}`;
}

const timeSql: Record<string, string> = {
  ...timeOf,
  quarter: `date_bin('15 minutes', "timestamp", TIMESTAMPTZ '2000-01-01 00:00:00Z')`,
  value_hash: 'unique_value_hash(metadata)',
};
const OF_USAGE = {
  made: `ROW(count(*)::numeric, trim_scale(sum(quantity)), min(quantity), max(quantity), max("timestamp"),
    (array_agg(id ORDER BY "timestamp" DESC, id DESC))[1], (array_agg(quantity ORDER BY "timestamp" DESC, id DESC))[1])::text`,
  row: `ROW(sum(event_count), trim_scale(sum(quantity_sum)), min(quantity_min), max(quantity_max), max(last_timestamp),
    (array_agg(last_event_id ORDER BY last_timestamp DESC, last_event_id DESC))[1],
    (array_agg(last_quantity ORDER BY last_timestamp DESC, last_event_id DESC))[1])::text`,
};
const OF_VALUES = {
  made: `(SELECT string_agg((n = ANY (array_agg(${SECONDS} % 86400 / 900)))::int::text, '' ORDER BY n) FROM generate_series(0, 95) AS n)`,
  row: 'max(quarters::text)',
  from: `WHERE aggregation_type = 'UNIQUE_COUNT'`,
};
const OF_CUSTOMER = ['organization_id', 'meter_id', 'customer_external_id'];
const OF_METER = ['organization_id', 'meter_id'];
const GROUP_TABLES: Record<string, string> = {
  customer_group_hours: groupDifferences('customer_group_hours', [...OF_CUSTOMER, 'hour'], 'hour', OF_USAGE),
  meter_group_quarters: groupDifferences('meter_group_quarters', [...OF_METER, 'quarter'], 'quarter', OF_USAGE),
  customer_group_value_days: groupDifferences(
    'customer_group_value_days',
    [...OF_CUSTOMER, 'day', 'value_hash'],
    'day',
    OF_VALUES,
  ),
  meter_group_value_days: groupDifferences(
    'meter_group_value_days',
    [...OF_METER, 'day', 'value_hash'],
    'day',
    OF_VALUES,
  ),
};

/** The promise under every number that is read: rollups equal the events they were made of. */
export async function expectRollupsToEqualEvents(pool: pg.Pool): Promise<void> {
  const tables = { ...TABLES, ...GROUP_TABLES };
  const { rows } = await pool.query(`SELECT ${Object.values(tables).join(', ')}`);
  expect(rows).toEqual([Object.fromEntries(Object.keys(tables).map((table) => [table, 0]))]);
}
