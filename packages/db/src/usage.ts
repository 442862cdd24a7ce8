// Reads what was counted: whole hours from the rollups, the hours that a window or a bucket cuts from the events
// themselves. Each question is one statement, which is one snapshot, so a total always agrees with its buckets.

import { average } from '@weir/shared/decimal';
import { AGGREGATION_TYPES, type AggregationType, type MeterStatus, usageOfNothing } from '@weir/shared/meter';
import type { Bucket, Window } from '@weir/shared/window';
import type pg from 'pg';
import type { Page, PageOf } from './page.ts';

/** What some events are worth under the aggregation of their meter: an exact decimal, null where there is none. */
export interface Usage {
  usage: string | null;
  event_count: number;
}

/** Whose usage to read, and of when. */
export interface UsageQuestion {
  organizationId: string;
  meterId: string;
  aggregation: AggregationType;
  /** Without it, that of all customers. */
  customerExternalId?: string | undefined;
  window: Window;
}

/** The usage of one meter over a window. A bucket without events is worth what nothing is worth: `0`, or null. */
export interface MeterUsage {
  total: Usage;
  uniqueCustomers: number;
  buckets: (Bucket & Usage)[];
}

/** The usage of one of the customers of a meter. */
export interface CustomerUsage extends Usage {
  /** Null, like the name, where usage came in for a customer that has no record. */
  customer_id: string | null;
  customer_external_id: string;
  name: string | null;
}

/** The usage of one customer on one meter. */
export interface UsageOfMeter extends Usage {
  meter_id: string;
  name: string;
  meter_token: string;
  aggregation_type: AggregationType;
  unit: string | null;
  status: MeterStatus;
}

// The parameters that every statement begins with: $1 organization, $2 customer or null, $3 to $5 the hours to read from
// rollups and those among them to leave out, $6 and $7 the ranges to read event by event, $8 where buckets begin.
function parametersOf({
  organizationId,
  customerExternalId,
  window,
}: Omit<UsageQuestion, 'meterId' | 'aggregation'>): unknown[] {
  const { rolledUp, cut, boundaries } = window;
  return [
    organizationId,
    customerExternalId ?? null,
    rolledUp.from,
    rolledUp.to,
    rolledUp.except,
    cut.from,
    cut.to,
    boundaries,
  ];
}

/**
 * Rows of the window that each lie in one bucket: those of an hourly table for whole hours, and single events in the cut
 * ranges. OFFSET 0 keeps the planner from turning the loop over the ranges around: each of them is one short scan of the
 * index on timestamp, however many there are.
 */
function rowsOf(table: string, ofHour: string, ofEvent: string, meter: string): string {
  const mine = `organization_id = $1 AND meter_id = ${meter} AND ($2::text IS NULL OR customer_external_id = $2)`;
  return `SELECT width_bucket(hour, $8::timestamptz[]) AS bucket, customer_external_id, ${ofHour}
      FROM ${table}
      WHERE ${mine} AND hour >= $3::timestamptz AND hour < $4::timestamptz AND NOT hour = ANY ($5::timestamptz[])
    UNION ALL
    SELECT event.* FROM unnest($6::timestamptz[], $7::timestamptz[]) AS cut (since, before) CROSS JOIN LATERAL (
      SELECT width_bucket("timestamp", $8::timestamptz[]), customer_external_id, ${ofEvent}
      FROM events WHERE ${mine} AND "timestamp" >= since AND "timestamp" < before OFFSET 0
    ) AS event`;
}

// What each aggregation reads from a rollup, what it reads from a single event in its place, and how it makes the usage
// of them. An average leaves Postgres as its sum and is divided in `usageOf`. Of UNIQUE_COUNT only the events are counted
// here; its usage has a table of its own, see `sums`.
const READINGS: Record<AggregationType, { ofHour: string; ofEvent: string; usage: string }> = {
  COUNT: { ofHour: 'event_count AS value', ofEvent: '1', usage: 'sum(value)' },
  SUM: { ofHour: 'quantity_sum AS value', ofEvent: 'quantity', usage: 'sum(value)' },
  MAX: { ofHour: 'quantity_max AS value', ofEvent: 'quantity', usage: 'max(value)' },
  MIN: { ofHour: 'quantity_min AS value', ofEvent: 'quantity', usage: 'min(value)' },
  AVG: { ofHour: 'quantity_sum AS value', ofEvent: 'quantity', usage: 'sum(value)' },
  LAST: {
    ofHour: 'last_quantity AS value, last_timestamp, last_event_id',
    ofEvent: 'quantity, "timestamp", id',
    usage: '(array_agg(value ORDER BY last_timestamp DESC, last_event_id DESC))[1]',
  },
  UNIQUE_COUNT: { ofHour: '0 AS value', ofEvent: '0', usage: 'sum(value)' },
};

/** What was counted in the window, as rows with the columns that {@link sums} needs. */
function counted(aggregation: AggregationType, meter: string): string {
  const { ofHour, ofEvent } = READINGS[aggregation];
  return `(${rowsOf('usage_rollups', `event_count, ${ofHour}`, `1, ${ofEvent}`, meter)})`;
}

/** Number of events and usage of each group of counted rows: `key` is an expression over their columns. */
function sums(
  aggregation: AggregationType,
  meter: string,
  key: string,
  groups: string,
  source = counted(aggregation, meter),
): string {
  const summed = `SELECT ${key} AS key, sum(event_count) AS event_count, trim_scale(${READINGS[aggregation].usage}) AS usage
    FROM ${source} AS counted GROUP BY ${groups}`;
  if (aggregation !== 'UNIQUE_COUNT') return `(${summed})`;
  const values = rowsOf('unique_values', 'value_hash', 'unique_value_hash(metadata)', meter);
  return `(SELECT key, event_count, unique_count AS usage FROM (${summed}) AS summed JOIN (
      SELECT ${key} AS key, count(DISTINCT value_hash)::numeric AS unique_count FROM (${values}) AS v GROUP BY ${groups}
    ) AS uniques USING (key))`;
}

/** Postgres's sums, as an answer has them. */
function usageOf(
  aggregation: AggregationType,
  row: { event_count: string | null; usage: string | null } | undefined,
): Usage {
  // GROUP BY () answers a row of nulls where there is nothing.
  if (row === undefined || row.event_count === null || row.usage === null) {
    return { usage: usageOfNothing(aggregation), event_count: 0 };
  }
  const usage = aggregation === 'AVG' ? average(row.usage, BigInt(row.event_count)) : row.usage;
  return { usage, event_count: Number(row.event_count) };
}

/** The usage of one meter over a window: in all, and in each of its buckets. */
export async function readMeterUsage(pool: pg.Pool, question: UsageQuestion): Promise<MeterUsage> {
  const { aggregation, meterId, window } = question;
  // Buckets count from 1, so that 0 is free for the total.
  const byBucket = sums(aggregation, '$9', 'coalesce(bucket, 0)', 'GROUPING SETS ((bucket), ())', 'rows');
  const { rows } = await pool.query<{
    key: number;
    event_count: string | null;
    usage: string | null;
    customers: string;
  }>(
    `WITH rows AS MATERIALIZED ${counted(aggregation, '$9')}
     SELECT * FROM ${byBucket} AS sums,
       (SELECT count(*) AS customers FROM (SELECT DISTINCT customer_external_id FROM rows) AS c) AS customers`,
    [...parametersOf(question), meterId],
  );
  const byKey = new Map(rows.map((row) => [row.key, row]));
  return {
    total: usageOf(aggregation, byKey.get(0)),
    uniqueCustomers: Number(rows[0]?.customers ?? 0),
    buckets: window.buckets.map((bucket, index) => ({ ...bucket, ...usageOf(aggregation, byKey.get(index + 1)) })),
  };
}

// What Postgres has not divided yet must still be put in order: with more digits than an answer shows.
const QUOTIENT = 'round(usage, greatest(20, scale(usage))) / event_count';

/** The customers with usage on a meter over a window, largest first, then by external id. */
export async function readUsageByCustomer(
  pool: pg.Pool,
  question: UsageQuestion,
  page: Page,
): Promise<PageOf<CustomerUsage>> {
  const { aggregation, meterId } = question;
  const rank = `${aggregation === 'AVG' ? QUOTIENT : 'usage'} DESC, key COLLATE "C"`;
  const { rows } = await pool.query<{
    total: string;
    place: string | null;
    customer_external_id: string;
    customer_id: string | null;
    name: string | null;
    event_count: string;
    usage: string;
  }>(
    `WITH sums AS MATERIALIZED ${sums(aggregation, '$9', 'customer_external_id', 'customer_external_id')}
     SELECT total, place, key AS customer_external_id, customers.id AS customer_id, name, event_count, usage
     FROM (SELECT count(*) AS total FROM sums) AS t
     LEFT JOIN (
       SELECT *, row_number() OVER (ORDER BY ${rank}) AS place FROM sums ORDER BY place LIMIT $10 OFFSET $11
     ) AS page ON true
     LEFT JOIN customers ON customers.organization_id = $1 AND customers.external_id = page.key
     ORDER BY place`,
    [...parametersOf(question), meterId, page.page_size, (page.page - 1) * page.page_size],
  );
  return {
    total: Number(rows[0]?.total ?? 0),
    // A page past the end is one row, with nothing but the total.
    rows: rows
      .filter((row) => row.place !== null)
      .map(({ customer_id, customer_external_id, name, ...row }) => ({
        customer_id,
        customer_external_id,
        name,
        ...usageOf(aggregation, row),
      })),
  };
}

/** The usage of one customer on every meter of the organization, newest meter first. */
export async function readUsageOfCustomer(
  pool: pg.Pool,
  question: { organizationId: string; customerExternalId: string; window: Window },
): Promise<UsageOfMeter[]> {
  const ofEach = AGGREGATION_TYPES.map(
    (aggregation) =>
      `SELECT meters.id AS meter_id, name, meter_token, aggregation_type, unit, status, event_count, usage
       FROM meters CROSS JOIN LATERAL ${sums(aggregation, 'meters.id', '0', '()')} AS sums
       WHERE organization_id = $1 AND aggregation_type = '${aggregation}'`,
  );
  const { rows } = await pool.query<
    Omit<UsageOfMeter, keyof Usage> & { event_count: string | null; usage: string | null }
  >(`${ofEach.join(' UNION ALL ')} ORDER BY meter_id DESC`, parametersOf(question));
  return rows.map(({ event_count, usage, ...meter }) => ({
    ...meter,
    ...usageOf(meter.aggregation_type, { event_count, usage }),
  }));
}
