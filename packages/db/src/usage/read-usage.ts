// Reads what was counted: sums of rollups, and of single events where a window or a bucket cuts a row. plan-read.ts says which
// stretch of a window is read from where, usage-rows.ts makes SQL of it. Each question is one statement, which is one snapshot,
// so a total always agrees with its buckets.

import { average } from '@weir/shared/decimal';
import { AGGREGATIONS, type AggregationType, countsValues, type MeterStatus } from '@weir/shared/meter';
import type { Window } from '@weir/shared/window';
import type pg from 'pg';
import { ANY_READ, columnsRead, isOf, readingOf } from '../aggregations.ts';
import { after, orderBy, readCursor, reversed, type Order } from '../order.ts';
import { cutPage, mapPage, spanOf, type Page, type PageOf } from '../page.ts';
import { MonthTakenOut } from '../months-taken-out.ts';
import { ROLLUPS, type UsageColumn } from '../rollups.ts';
import { planCustomer, planCustomers, planMeter, planValues } from './plan-read.ts';
import {
  asInstant,
  customersIn,
  joined,
  monthOfCutHours,
  Parameters,
  rowsOfCustomers,
  rowsOfMeter,
  valuesOfCustomers,
  valuesOfMeter,
  type Scope,
} from './usage-rows.ts';
import { WRITTEN_SUMS, WrittenSums, type WrittenSum } from './written-sums.ts';

/** What some events are worth under the aggregation of their meter: an exact decimal, of which only averages are rounded; null where there is none. */
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

/** The usage of one meter over a window. */
export interface MeterUsage {
  total: Usage;
  uniqueCustomers: number;
  /** That of a bucket, counted from 0. Without events it is worth what nothing is worth: `0`, or null. */
  ofBucket(index: number): Usage;
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

/** Postgres's sums, as an answer has them; null is what it makes of nothing. */
export function usageOf(aggregation: AggregationType, sums: WrittenSum): Usage {
  // GROUP BY () returns a row of nulls where there is nothing.
  const { kind, ofNothing } = AGGREGATIONS[aggregation];
  if (sums.event_count === null || sums.usage === null) return { usage: ofNothing, event_count: 0 };
  const usage = kind === 'mean' ? average(sums.usage, BigInt(sums.event_count)) : sums.usage;
  return { usage, event_count: Number(sums.event_count) };
}

/** Throws MonthTakenOut where usage of a customer is not all there; `month` as {@link monthOfCutHours} has it. */
export function refuseTakenOut(month: string | null | undefined): void {
  if (month != null) throw new MonthTakenOut('Usage of the customer cannot be told by these hours', month);
}

/**
 * The usage of one meter over a window: in all, and in each of its buckets. Throws MonthTakenOut where the window or a bucket cuts an hour
 * of a customer of which events are in a month that was taken out.
 */
export async function readMeterUsage(pool: pg.Pool, question: UsageQuestion): Promise<MeterUsage> {
  const { aggregation, customerExternalId, window } = question;
  const parameters = new Parameters();
  const scope = scopeOf(parameters, question);
  const isOfMeter = customerExternalId === undefined;
  const plan = isOfMeter ? planMeter(window) : planCustomer(window);
  // Buckets count from 1, so that 0 is free for the total.
  const key = (time: string): string => `width_bucket(${time}, (SELECT boundaries FROM bounds))`;
  const { columns, usage } = columnsRead(aggregation);
  const request = { parameters, scope, reading: readingOf(columns), key, plan };
  const bounds = `SELECT array_agg(${asInstant('at')}) AS boundaries FROM ${parameters.instants(plan.boundaries)} AS at`;
  const sums = `SELECT coalesce(key, 0) AS key, sum(event_count) AS event_count, trim_scale(${usage}) AS usage
    FROM (${isOfMeter ? rowsOfMeter(request) : rowsOfCustomers(request)}) AS counted GROUP BY GROUPING SETS ((key), ())`;
  const values = (): string => {
    const ofValues = { ...request, plan: planValues(window) };
    return isOfMeter ? valuesOfMeter(ofValues) : valuesOfCustomers(ofValues);
  };
  const all = countsValues(aggregation) ? countingValues(sums, uniqueInBuckets(values())) : sums;
  const { rows } = await pool.query<{ sums: string | null; customers: string; taken_out: string | null }>(
    `WITH bounds AS MATERIALIZED (${bounds})
     SELECT (SELECT ${WRITTEN_SUMS} FROM (${all}) AS sums) AS sums,
       (${isOfMeter ? `SELECT count(*) FROM (${customersIn(parameters, scope, window)}) AS present` : 'SELECT 1'}) AS customers,
       ${isOfMeter ? 'NULL' : monthOfCutHours(request)} AS taken_out`,
    parameters.values,
  );
  refuseTakenOut(rows[0]?.taken_out);
  const written = new WrittenSums(rows[0]?.sums ?? null);
  const ofKey = (key: number): Usage => usageOf(aggregation, written.find(key));
  const total = ofKey(0);
  return {
    total,
    uniqueCustomers: total.event_count === 0 ? 0 : Number(rows[0]?.customers),
    ofBucket: (index) => ofKey(index + 1),
  };
}

/** Buckets whose bits fit an integer. */
const WORD = 32;

/**
 * How many distinct values each bucket has, and under 0 how many the window has. A value that comes every day is one row with the
 * bits of its buckets, and not one for each: what is kept until it is counted stays small, where Postgres would write it to disk.
 */
function uniqueInBuckets(values: string): string {
  const counts = Array.from({ length: WORD }, (_, bit) => `count(*) FILTER (WHERE buckets >> ${bit} & 1 = 1)`);
  return `WITH uniques AS MATERIALIZED (
      SELECT value_hash, key / ${WORD} AS word, bit_or(1 << key % ${WORD}) AS buckets
      FROM (${values}) AS each WHERE value_hash IS NOT NULL GROUP BY 1, 2
    )
    SELECT word * ${WORD} + bit::integer - 1 AS key, usage::numeric
    FROM (SELECT word, ARRAY[${counts.join(', ')}] AS counts FROM uniques GROUP BY word) AS words,
      unnest(counts) WITH ORDINALITY AS counted (usage, bit) WHERE usage > 0
    UNION ALL SELECT 0, count(*)::numeric FROM (SELECT FROM uniques GROUP BY value_hash) AS in_all`;
}

/** Sums with the number of distinct values for their usage. */
function countingValues(sums: string, uniques: string): string {
  return `SELECT key, event_count, usage FROM ${joined(
    `(SELECT key, event_count FROM (${sums}) AS each) AS summed`,
    `(${uniques}) AS uniques`,
    'key',
  )} WHERE event_count IS NOT NULL AND usage IS NOT NULL`;
}

export function scopeOf(parameters: Parameters, question: UsageQuestion): Scope {
  const { organizationId, meterId, customerExternalId } = question;
  return {
    organization: parameters.add(organizationId, 'uuid'),
    meter: parameters.add(meterId, 'uuid'),
    customer: customerExternalId === undefined ? undefined : parameters.add(customerExternalId, 'text'),
  };
}

// What Postgres has not divided yet must still be put in order: with more digits than an answer shows.
const QUOTIENT = 'round(usage, greatest(20, scale(usage))) / event_count';

/** By what usage that Postgres has summed up is put in order. */
export function rankOf(aggregation: AggregationType): string {
  return AGGREGATIONS[aggregation].kind === 'mean' ? QUOTIENT : 'usage';
}

/** The customers with usage on a meter over a window: largest first, then by external id, where no other order is named. */
export async function readUsageByCustomer(
  pool: pg.Pool,
  question: UsageQuestion & { sort?: CustomerUsageSort | undefined },
  page: Page,
): Promise<PageOf<CustomerUsage>> {
  const { aggregation, window, sort = '-total_usage' } = question;
  const order = CUSTOMER_USAGE_SORTS[sort];
  const parameters = new Parameters();
  const scope = scopeOf(parameters, question);
  const { columns, usage } = columnsRead(aggregation);
  const key = (): string => 'customer_external_id';
  const request = { parameters, scope, reading: readingOf(columns), key, plan: planCustomers(window) };
  const sums = `SELECT key, sum(event_count) AS event_count, trim_scale(${usage}) AS usage
    FROM (${rowsOfCustomers(request)}) AS counted GROUP BY key`;
  const uniques = (): string => {
    const values = valuesOfCustomers({ ...request, plan: planValues(window, false) });
    // To make them distinct first lets Postgres hash where it would sort.
    return `SELECT key, count(*)::numeric AS usage
      FROM (SELECT DISTINCT key, value_hash FROM (${values}) AS each WHERE value_hash IS NOT NULL) AS v GROUP BY key`;
  };
  const { size, offset, isCounted } = spanOf(page);
  const limited = `LIMIT ${parameters.add(size + 1, 'bigint')} OFFSET ${parameters.add(offset, 'bigint')}`;
  const rest =
    page.cursor === undefined
      ? 'true'
      : after(order, readCursor(order, page.cursor))
          .map((piece) => (typeof piece === 'string' ? piece : parameters.add(piece.value, piece.type)))
          .join('');
  const { rows } = await pool.query<{
    total: string | null;
    place: string | null;
    rank: string;
    letters: string;
    customer_id: string | null;
    name: string | null;
    event_count: string;
    usage: string;
  }>(
    `WITH sums AS MATERIALIZED (${countsValues(aggregation) ? countingValues(sums, uniques()) : sums})
     SELECT total, place, rank, letters, customers.id AS customer_id, name, event_count, usage
     FROM (SELECT ${isCounted ? '(SELECT count(*) FROM sums)' : 'NULL::bigint'} AS total) AS t
     LEFT JOIN (
       SELECT *, row_number() OVER (ORDER BY ${orderBy(order)}) AS place
       FROM (SELECT *, ${rankOf(aggregation)} AS rank, key COLLATE "C" AS letters FROM sums) AS ranked
       WHERE ${rest} ORDER BY place ${limited}
     ) AS page ON true
     LEFT JOIN LATERAL (${customerOf(scope.organization, 'page.key')}) AS customers ON true
     ORDER BY place`,
    parameters.values,
  );
  // A page past the end is one row, with nothing but the total.
  const found = rows.filter((row) => row.place !== null);
  const total = isCounted ? Number(rows[0]?.total ?? 0) : undefined;
  return mapPage(cutPage(found, order, page, total), ({ letters, customer_id, name, ...row }) => ({
    customer_id,
    customer_external_id: letters,
    name,
    ...usageOf(aggregation, row),
  }));
}

type Ranked = Order<{ rank: string; letters: string }>;

/** Customers of a meter by what they are ranked by, then by the bytes of their external ids. */
const LARGEST_FIRST: Ranked = [
  { field: 'rank', type: 'numeric', descending: true, nullable: true },
  { field: 'letters', type: 'text' },
];

/** An order that usage does not change: whoever walks in it meets everybody once, while events go on coming in. */
const BY_LETTERS: Ranked = [{ field: 'letters', type: 'text' }];

export const CUSTOMER_USAGE_SORTS = {
  total_usage: reversed(LARGEST_FIRST),
  '-total_usage': LARGEST_FIRST,
  customer_external_id: BY_LETTERS,
  '-customer_external_id': reversed(BY_LETTERS),
} satisfies Record<string, Ranked>;

export type CustomerUsageSort = keyof typeof CUSTOMER_USAGE_SORTS;

/** The record of a customer, if there is one. */
export function customerOf(organization: string, externalId: string): string {
  return `SELECT id, name FROM customers WHERE organization_id = ${organization} AND external_id = ${externalId} LIMIT 1`;
}

/** Whether a customer has used a meter, at any time. */
export async function isMeterUsedBy(
  pool: pg.Pool,
  question: { organizationId: string; meterId: string; customerExternalId: string },
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `SELECT FROM ${ROLLUPS.customerUsageDays.table} WHERE organization_id = $1 AND meter_id = $2 AND customer_external_id = $3 LIMIT 1`,
    [question.organizationId, question.meterId, question.customerExternalId],
  );
  return rowCount === 1;
}

/**
 * The usage of one customer on every meter of the organization, or on some of them, newest meter first. Throws MonthTakenOut where the window
 * cuts an hour of which events are in a month that was taken out.
 */
export async function readUsageOfCustomer(
  pool: pg.Pool,
  question: { organizationId: string; customerExternalId: string; meterIds?: readonly string[] | null; window: Window },
): Promise<UsageOfMeter[]> {
  const { organizationId, customerExternalId, meterIds = null, window } = question;
  const parameters = new Parameters();
  const organization = parameters.add(organizationId, 'uuid');
  const scope = { organization, meter: 'meters.id', customer: parameters.add(customerExternalId, 'text') };
  const request = { parameters, scope, key: () => '0', plan: planCustomers(window) };
  const counted = (columns: readonly UsageColumn[]): string =>
    rowsOfCustomers({ ...request, reading: readingOf(columns) });
  const values = valuesOfCustomers({ ...request, plan: planValues(window, false) });
  const takenOut = monthOfCutHours(request);
  const isAsked = meterIds === null ? 'true' : `meters.id = ANY (${parameters.add(meterIds, 'uuid[]')})`;
  const meters = (condition: string, event_count: string, usage: string, more: string): string =>
    `SELECT meters.id AS meter_id, name, meter_token, aggregation_type, unit, status, ${event_count} AS event_count, ${usage} AS usage,
       ${takenOut} AS taken_out
     FROM meters ${more} WHERE meters.organization_id = ${organization} AND ${isAsked} AND ${condition}`;
  const statement = [
    meters(
      `NOT ${isOf('aggregation_type', 'values')}`,
      'counted.event_count',
      'counted.usage',
      `CROSS JOIN LATERAL (SELECT sum(event_count) AS event_count, trim_scale(${ANY_READ.usage}) AS usage
         FROM (${counted(ANY_READ.columns)}) AS each) AS counted`,
    ),
    meters(
      isOf('aggregation_type', 'values'),
      'counted.event_count',
      'uniques.usage',
      `CROSS JOIN LATERAL (SELECT sum(event_count) AS event_count
         FROM (${counted(['event_count'])}) AS each) AS counted
       CROSS JOIN LATERAL (SELECT count(DISTINCT value_hash)::numeric AS usage
         FROM (${values}) AS each) AS uniques`,
    ),
  ];
  const { rows } = await pool.query<
    Omit<UsageOfMeter, keyof Usage> & { event_count: string | null; usage: string | null; taken_out: string | null }
  >(`${statement.join(' UNION ALL ')} ORDER BY meter_id DESC`, parameters.values);
  return rows.map(({ event_count, usage, taken_out, ...meter }) => {
    refuseTakenOut(taken_out);
    return { ...meter, ...usageOf(meter.aggregation_type, { event_count, usage }) };
  });
}
