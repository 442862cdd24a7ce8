// What an organization has tracked in a stretch of time, over all of its meters and customers: sums of rollups, of which one
// question reads so many rows and no more. What would take longer is left out, since it is asked for again and again.

import { type AggregationType, countsValues } from '@weir/shared/meter';
import { isoOf, type Micros } from '@weir/shared/instant';
import type pg from 'pg';
import { columnsRead, readingOf } from '../aggregations.ts';
import { ROLLUPS } from '../rollups.ts';
import { planCustomers, planMeter, planValues } from './plan-read.ts';
import { customerOf, usageOf, type Usage } from './read-usage.ts';
import { Parameters, rowsOfCustomers, rowsOfMeter, valuesOfMeter } from './usage-rows.ts';
import type { WrittenSum } from './written-sums.ts';

/** A half-open stretch of time that begins and ends with a quarter of an hour. */
export interface Stretch {
  start: Micros;
  end: Micros;
}

/** Events of a meter in two stretches of time. */
export interface CountedMeter {
  meter_id: string;
  name: string;
  unit: string | null;
  aggregation_type: AggregationType;
  recorded: number;
  previous: number;
}

export interface CountedCustomer {
  customer_external_id: string;
  /** Null, like the name, where the customer has no record. */
  customer_id: string | null;
  name: string | null;
  event_count: number;
}

/**
 * Rows that a question reads at most, so that it takes some tenths of a second however much there is. A meter that is busy all day has
 * some hundred quarters of an hour a day, in up to four parts: this is twenty such meters for two months.
 */
const QUARTERS_MAX = 500_000;
/** Days of customers on meters: a month of 1,600 customers who use ten meters every day. */
const DAYS_MAX = 500_000;
/** Days of distinct values. */
const VALUES_MAX = 100_000;

/**
 * The events of each meter that has some in one of the stretches, most in the first of them first, and of each day. A day ends where
 * the next one begins, and the last one with the first stretch; `before` begins with the first day. Undefined where there are too
 * many quarters of an hour to count.
 */
export async function countEvents(
  pool: pg.Pool,
  organizationId: string,
  { now, before, days }: { now: Stretch; before: Stretch; days: readonly Micros[] },
): Promise<{ meters: CountedMeter[]; days: number[] } | undefined> {
  const parameters = new Parameters();
  const organization = parameters.add(organizationId, 'uuid');
  const within = ({ start, end }: Stretch): string =>
    `quarter >= ${parameters.instant(start)} AND quarter < ${parameters.instant(end)}`;
  const { rows } = await pool.query<
    Omit<CountedMeter, 'meter_id' | 'recorded' | 'previous'> & {
      meter_id: string | null;
      day: number;
      read: string;
      events: string;
      recorded: string;
      previous: string;
    }
  >(
    `WITH counted AS MATERIALIZED (
       SELECT meter_id, width_bucket(quarter, ${parameters.add(days.map(isoOf), 'timestamptz[]')}) AS day, count(*) AS read,
         sum(event_count) AS events, sum(event_count) FILTER (WHERE ${within(now)}) AS recorded,
         sum(event_count) FILTER (WHERE ${within(before)}) AS previous
       FROM (
         SELECT meter_id, quarter, event_count FROM meters CROSS JOIN LATERAL (
           SELECT meter_id, quarter, event_count FROM ${ROLLUPS.meterUsageQuarters.table}
           WHERE organization_id = ${organization} AND meter_id = meters.id
             AND quarter >= ${parameters.instant(before.start)} AND quarter < ${parameters.instant(now.end)} OFFSET 0
         ) AS found WHERE meters.organization_id = ${organization} LIMIT ${QUARTERS_MAX + 1}
       ) AS quarters GROUP BY meter_id, day
     ), summed AS (
       SELECT meter_id, day, sum(read) AS read, sum(events) AS events, coalesce(sum(recorded), 0) AS recorded,
         coalesce(sum(previous), 0) AS previous
       FROM counted GROUP BY GROUPING SETS ((meter_id), (day))
     )
     SELECT (SELECT sum(read) FROM counted) AS read, meter_id, day, name, unit, aggregation_type, events, recorded, previous
     FROM summed LEFT JOIN meters ON meters.organization_id = ${organization} AND meters.id = meter_id
     ORDER BY recorded DESC, meter_id`,
    parameters.values,
  );
  if (Number(rows[0]?.read ?? 0) > QUARTERS_MAX) return undefined;
  const ofDays = days.map(() => 0);
  const meters: CountedMeter[] = [];
  for (const { meter_id, day, name, unit, aggregation_type, events, ...row } of rows) {
    const [recorded, previous] = [Number(row.recorded), Number(row.previous)];
    if (meter_id === null) ofDays[day - 1] = Number(events);
    else if (recorded + previous > 0) meters.push({ meter_id, name, unit, aggregation_type, recorded, previous });
  }
  return { meters, days: ofDays };
}

/**
 * What some meters have counted in a stretch, in their order, each with its events of the same snapshot. The usage is null where too
 * many distinct values would have to be counted.
 */
export async function readUsageOfMeters(
  pool: pg.Pool,
  organizationId: string,
  meters: readonly Pick<CountedMeter, 'meter_id' | 'aggregation_type'>[],
  stretch: Stretch,
): Promise<Usage[]> {
  if (meters.length === 0) return [];
  const parameters = new Parameters();
  const organization = parameters.add(organizationId, 'uuid');
  const window = { ...stretch, periods: [] };
  const parts = meters.map(({ meter_id, aggregation_type }, place) => {
    const scope = { organization, meter: parameters.add(meter_id, 'uuid') };
    const request = { parameters, scope, key: () => '0' };
    const { columns, usage } = columnsRead(aggregation_type);
    const rows = rowsOfMeter({ ...request, reading: readingOf(columns), plan: planMeter(window) });
    if (countsValues(aggregation_type)) {
      const values = valuesOfMeter({ ...request, plan: planValues(window, false) });
      return `SELECT ${place} AS place, CASE WHEN count(*) <= ${VALUES_MAX} THEN count(DISTINCT value_hash)::numeric END AS usage,
          (SELECT sum(event_count) FROM (${rows}) AS each) AS event_count
        FROM (SELECT value_hash FROM (${values}) AS each LIMIT ${VALUES_MAX + 1}) AS counted`;
    }
    return `SELECT ${place} AS place, trim_scale(${usage}) AS usage, sum(event_count) AS event_count FROM (${rows}) AS counted`;
  });
  const { rows } = await pool.query<WrittenSum>(
    `SELECT usage, event_count FROM (${parts.map((part) => `(${part})`).join(' UNION ALL ')}) AS parts ORDER BY place`,
    parameters.values,
  );
  return meters.map(({ aggregation_type }, place) => {
    const { usage = null, event_count = null } = rows[place] ?? {};
    if (countsValues(aggregation_type)) return { usage, event_count: Number(event_count) };
    return usageOf(aggregation_type, { usage, event_count });
  });
}

/**
 * The customers with the most events on all meters in a stretch, at most `limit`. Undefined where there are too many days of
 * customers to add up.
 */
export async function findTopCustomers(
  pool: pg.Pool,
  organizationId: string,
  stretch: Stretch,
  limit: number,
): Promise<CountedCustomer[] | undefined> {
  const parameters = new Parameters();
  const organization = parameters.add(organizationId, 'uuid');
  const rowsOf = rowsOfCustomers({
    parameters,
    scope: { organization, meter: 'meters.id' },
    reading: readingOf(['event_count']),
    key: () => 'customer_external_id',
    plan: planCustomers({ ...stretch, periods: [] }),
  });
  const { rows } = await pool.query<Omit<CountedCustomer, 'event_count'> & { read: string; event_count: string }>(
    `WITH counted AS MATERIALIZED (
       SELECT key, count(*) AS read, sum(event_count) AS event_count FROM (
         SELECT key, event_count FROM meters CROSS JOIN LATERAL (${rowsOf}) AS found
         WHERE meters.organization_id = ${organization} LIMIT ${DAYS_MAX + 1}
       ) AS days GROUP BY key
     ), top AS (SELECT key, event_count FROM counted ORDER BY event_count DESC, key COLLATE "C" LIMIT ${limit})
     SELECT (SELECT sum(read) FROM counted) AS read, key AS customer_external_id, customers.id AS customer_id, name, event_count
     FROM top LEFT JOIN LATERAL (${customerOf(organization, 'key')}) AS customers ON true
     ORDER BY event_count DESC, key COLLATE "C"`,
    parameters.values,
  );
  if (Number(rows[0]?.read ?? 0) > DAYS_MAX) return undefined;
  return rows.map(({ customer_external_id, customer_id, name, event_count }) => {
    return { customer_external_id, customer_id, name, event_count: Number(event_count) };
  });
}
