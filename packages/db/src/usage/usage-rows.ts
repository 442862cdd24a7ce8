// The rows that usage is summed up from, as SQL: for each stretch of a plan those of its rollup, so that no read grows with the
// number of events but where a window or a bucket cuts a row.
//
// Where the end of the window cuts a day, an hour or a quarter, its row says by itself whether it lies in the window: if
// its last event does, all of them do. Only rows that have an event from the end on are looked at more closely.
//
// OFFSET 0 keeps the planner from turning a loop over stretches or customers around: each turn of it is one short scan of
// an index, however many there are. Of which index is no choice either: see `own` and `ofAll`.

import { isoOf, type Micros } from '@weir/shared/instant';
import { DAY, HOUR } from '@weir/shared/time-zone';
import { plainArray } from '../array-text.ts';
import { completeFrom, monthToAttach } from '../months-taken-out.ts';
import { BEGINNING, ROLLUPS } from '../rollups.ts';
import type { LastStretch, ReadPlan, Stretches } from './plan-read.ts';

const HOURS = ROLLUPS.customerUsageHours.table;
const DAYS = ROLLUPS.customerUsageDays.table;
const QUARTERS = ROLLUPS.meterUsageQuarters.table;

/** The values of a statement. Each is written where it is used, as `$1` and so on. */
export class Parameters {
  readonly values: unknown[] = [];
  readonly #instants = new Map<Micros, string>();

  add(value: unknown, type: string): string {
    this.values.push(value);
    return `$${this.values.length}::${type}`;
  }

  /** The same one however often it is asked for. */
  instant(at: Micros): string {
    const known = this.#instants.get(at) ?? this.add(isoOf(at), 'timestamptz');
    this.#instants.set(at, known);
    return known;
  }

  /** Many instants, as a set of microseconds since 1970: to write each as text would take the event loop too long. */
  instants(...columns: Micros[][]): string {
    return `unnest(${columns.map((column) => this.add(plainArray(column), 'bigint[]')).join(', ')})`;
  }
}

/** An instant of {@link Parameters.instants}. */
export function asInstant(micros: string): string {
  return `TIMESTAMPTZ '1970-01-01 00:00:00Z' + ${micros} * interval '1 microsecond'`;
}

/** Whose rows: SQL expressions. Without a customer, those of all customers of the meter. */
export interface Scope {
  organization: string;
  meter: string;
  customer?: string | undefined;
}

/** What is read, of a row of a rollup and of a single event: the same columns. */
export interface Reading {
  ofRow: string;
  ofEvent: string;
}

/** The rollups that are read: those of all usage, or those that keep each group by itself. */
export interface Source {
  hours: string;
  quarters: string;
  customerValues: string;
  meterValues: string;
  /** What is read of distinct values. */
  value: Reading;
}

const PLAIN: Source = {
  hours: HOURS,
  quarters: QUARTERS,
  customerValues: ROLLUPS.customerValueDays.table,
  meterValues: ROLLUPS.meterValueDays.table,
  value: { ofRow: 'value_hash', ofEvent: 'unique_value_hash(metadata) AS value_hash' },
};

/** Which rows, and what of them. */
export interface RowsRequest {
  parameters: Parameters;
  /** Where it is missing, all usage. Rows by group come from a plan without days. */
  source?: Source | undefined;
  scope: Scope;
  reading: Reading;
  /** What rows are told apart by: an SQL expression, given the time of a row. It is the first column, `key`. */
  key: (time: string) => string;
  plan: ReadPlan;
}

/** Rows of each customer. */
export function rowsOfCustomers(request: RowsRequest): string {
  const { parameters, source = PLAIN, scope, reading, key, plan } = request;
  const parts: string[] = [];
  if (plan.days.from.length > 0) {
    parts.push(`SELECT found.* FROM ${stretches(parameters, plan.days)} CROSS JOIN LATERAL (
      SELECT ${key('day')} AS key, ${reading.ofRow} FROM ${DAYS}
      WHERE ${mineOrAll(scope)} AND day >= since AND day < before OFFSET 0) AS found`);
  }
  if (plan.hours.from.length > 0) {
    const someone = scope.customer === undefined ? `CROSS JOIN LATERAL ${customersSince(scope, 'since')}` : '';
    parts.push(`SELECT found.* FROM ${stretches(parameters, plan.hours)} ${someone} CROSS JOIN LATERAL (
      SELECT ${key('hour')} AS key, ${reading.ofRow} FROM ${source.hours}
      WHERE ${own(scope.customer === undefined ? ofSomeone(scope) : scope)} AND hour >= since AND hour < before OFFSET 0) AS found`);
  }
  parts.push(...cutEvents(request));
  if (plan.last !== null) {
    const from = parameters.instant(plan.last.from);
    const end = parameters.instant(plan.end);
    if (plan.last.size === DAY) {
      parts.push(`SELECT ${key('day')} AS key, ${reading.ofRow} FROM ${DAYS}
        WHERE ${mineOrAll(scope)} AND day = ${from} AND last_timestamp < ${end}`);
    }
    parts.push(...lastHours(request, plan.last, { since: plan.last.size === DAY ? end : from }));
  }
  return parts.join(' UNION ALL ');
}

/** Rows of a whole meter. */
export function rowsOfMeter(request: RowsRequest): string {
  const { parameters, source = PLAIN, scope, reading, key, plan } = request;
  const parts: string[] = [];
  if (plan.quarters.from.length > 0) {
    parts.push(`SELECT found.* FROM ${stretches(parameters, plan.quarters)} CROSS JOIN LATERAL (
      SELECT ${key('quarter')} AS key, ${reading.ofRow} FROM ${source.quarters}
      WHERE ${own(scope)} AND quarter >= since AND quarter < before OFFSET 0) AS found`);
  }
  parts.push(...cutEvents(request));
  if (plan.last !== null) {
    const from = parameters.instant(plan.last.from);
    const end = parameters.instant(plan.end);
    // Of a quarter that has an event from the end on, no part says which of its events come before: then customers are
    // asked, each of which knows that of its own hour.
    const onlyIf = goesOn(request, plan.last);
    parts.push(
      `SELECT ${key('quarter')} AS key, ${reading.ofRow} FROM ${source.quarters}
        WHERE ${own(scope)} AND quarter >= ${from} AND quarter < ${end} AND NOT ${onlyIf}`,
    );
    if (plan.last.size === HOUR) parts.push(...lastHours(request, plan.last, { since: from, onlyIf }));
    else parts.push(events(request, `(SELECT ${from} AS since, ${end} AS before) AS stretch`, onlyIf));
  }
  return parts.join(' UNION ALL ');
}

/**
 * SQL for the month to attach (`2026-01`) where an hour of which a plan reads single events of a customer is not all there, since events of
 * it are in a month that was taken out; null where all of it is.
 */
export function monthOfCutHours({
  parameters,
  scope,
  plan,
}: Pick<RowsRequest, 'parameters' | 'scope' | 'plan'>): string {
  const hours = `hour >= ${BEGINNING.hour('since')} AND hour < before`;
  const parts: string[] = [];
  const hoursOf = (from: string, goesOnAt?: string): void => {
    const goesOn = goesOnAt === undefined ? '' : `AND last_timestamp >= ${goesOnAt}`;
    parts.push(`SELECT kept.* FROM ${from} CROSS JOIN LATERAL (SELECT hour, event_count, last_event_id FROM ${HOURS}
      WHERE ${own(scope)} AND ${hours} ${goesOn} AND hour < (SELECT at FROM complete) OFFSET 0) AS kept`);
  };
  if (plan.cut.from.length > 0) hoursOf(stretches(parameters, plan.cut));
  if (plan.last !== null) {
    const end = parameters.instant(plan.end);
    hoursOf(`(SELECT ${parameters.instant(plan.last.from)} AS since, ${end} AS before) AS stretch`, end);
  }
  if (parts.length === 0) return 'NULL::text';
  const organization = `= ${scope.organization}`;
  return `(WITH complete AS MATERIALIZED (SELECT ${completeFrom(parameters.instant(plan.start), organization)} AS at)
    SELECT ${monthToAttach('short.hour', organization, 'ARRAY[short.last_event_id]')} FROM (
      SELECT hour, last_event_id FROM (${parts.join(' UNION ALL ')}) AS cut
      WHERE event_count <> (SELECT count(*) FROM events
        WHERE ${inStream(scope, scope.customer ?? 'NULL')} AND "timestamp" >= hour AND "timestamp" < hour + interval '1 hour')
      ORDER BY hour LIMIT 1) AS short)`;
}

/** The distinct values of each customer, as `value_hash`. A value may come several times. */
export function valuesOfCustomers(request: Omit<RowsRequest, 'reading'>): string {
  const { source = PLAIN, scope } = request;
  const { last } = request.plan;
  const values = { ...request, reading: source.value };
  const parts = [...valueDays(values, source.customerValues, mineOrAll(scope)), ...cutEvents(values)];
  if (last !== null) parts.push(...lastValues(values, last));
  return parts.join(' UNION ALL ');
}

/** The distinct values of a whole meter, as `value_hash`. A value may come several times. */
export function valuesOfMeter(request: Omit<RowsRequest, 'reading'>): string {
  const { parameters, source = PLAIN, scope, key, plan } = request;
  const values = { ...request, reading: source.value };
  const table = source.meterValues;
  const parts = [...valueDays(values, table, own(scope)), ...cutEvents(values)];
  if (plan.last !== null) {
    const from = parameters.instant(plan.last.from);
    const onlyIf = goesOn(values, plan.last);
    parts.push(
      `SELECT ${key(from)} AS key, ${source.value.ofRow} FROM ${table} WHERE ${own(scope)} AND ${inQuarter(from)} AND NOT ${onlyIf}`,
      ...lastValues(values, plan.last, onlyIf),
    );
  }
  return parts.join(' UNION ALL ');
}

/** The quarters of a stretch within a day, as bits: as many ones as it has quarters, moved to the place of its first. */
export function quartersOf(since: string, before: string): string {
  return `~(~B'0'::bit(96) >> (extract(epoch FROM ${before} - ${since}) / 900)::integer)
            >> (extract(epoch FROM ${since} - ${BEGINNING.day(since)}) / 900)::integer`;
}

/**
 * The values that were there in whole quarters. The days of the window are read once, and each row is held against the stretches
 * of its day.
 */
function valueDays({ parameters, reading, key, plan }: RowsRequest, table: string, ofScope: string): string[] {
  const { from, to } = plan.quarters;
  if (from.length === 0) return [];
  const since = parameters.instant(from[0] ?? 0);
  const before = parameters.instant(to.at(-1) ?? 0);
  // The bucket is found once for each stretch and not for each row.
  const [ofStretch, ofRow] =
    plan.boundaries.length > 1 ? [key('since'), 'stretch.key'] : ['NULL::integer', key('first')];
  const days = `(SELECT ${BEGINNING.day('since')} AS day, min(since) AS first, array_agg(${ofStretch}) AS keys,
      array_agg(${quartersOf('since', 'before')}) AS masks
    FROM ${stretches(parameters, plan.quarters)} GROUP BY 1) AS days`;
  const rows = `(SELECT * FROM ${table} WHERE ${ofScope} AND day >= ${BEGINNING.day(since)} AND day < ${before}) AS kept`;
  return [
    `SELECT ${ofRow} AS key, ${reading.ofRow} FROM ${joined(rows, days, 'day')}
      CROSS JOIN LATERAL unnest(keys, masks) AS stretch (key, mask)
      WHERE meter_id IS NOT NULL AND quarters & stretch.mask <> B'0'::bit(96)`,
  ];
}

function inQuarter(quarter: string): string {
  return `day = ${BEGINNING.day(quarter)} AND quarters & quarter_bit(${quarter}) <> B'0'::bit(96)`;
}

/** Whether the meter has an event in the last stretch that is not in the window any more. */
function goesOn({ parameters, scope, plan }: RowsRequest, last: LastStretch): string {
  const from = parameters.instant(last.from);
  const end = parameters.instant(plan.end);
  return `EXISTS (SELECT FROM ${QUARTERS} WHERE ${own(scope)} AND quarter >= ${from} AND quarter < ${end} AND last_timestamp >= ${end})`;
}

/**
 * In a window of this length few customers are found sooner one by one than among all of their days. To walk past so many takes some
 * tenths of a second; a meter that has met more, at whatever time, may have few in the window.
 */
const LONG = 7 * DAY;
const WALKED_MAX = 10_000;

/** So many days of customers are read in about a second. Of more, a walk through the customers is not longer than they are. */
const DAYS_MAX = 1_000_000;

/** How far each way through the customers is followed. */
const LONGEST = { walkedMax: WALKED_MAX, daysMax: DAYS_MAX };

/**
 * The customers with a day in the window: from each to the next one by the index, and one day of each (PostgreSQL wiki, "Loose
 * indexscan"). A meter meets ever more customers of which most are gone: where the walk is long, the days of the window are read in
 * its place. A CTE that refers to itself walks only as far as it is read, and goes on from there.
 */
function customersOfLong(scope: Scope, inWindow: string, { walkedMax, daysMax }: typeof LONGEST): string {
  const next = (after: string) =>
    `SELECT customer_external_id AS customer FROM ${DAYS} WHERE ${own(scope)} ${after} ORDER BY customer_external_id LIMIT 1`;
  return `SELECT customer FROM (
      WITH RECURSIVE someone AS (
        (${next('')})
        UNION ALL
        SELECT (${next('AND customer_external_id > someone.customer')}) FROM someone WHERE someone.customer IS NOT NULL
      ), passed AS MATERIALIZED (
        SELECT count(*) AS count FROM (SELECT FROM someone LIMIT ${walkedMax + 1}) AS first
      ), of_days AS MATERIALIZED (
        SELECT customer_external_id AS customer FROM ${DAYS}
        WHERE (SELECT count FROM passed) > ${walkedMax} AND ${ofAll(scope)} AND ${inWindow} LIMIT ${daysMax + 1}
      ), shorter AS MATERIALIZED (
        SELECT (SELECT count FROM passed) > ${walkedMax} AND (SELECT count(*) FROM of_days) <= ${daysMax} AS is_by_day
      )
      SELECT customer FROM of_days WHERE (SELECT is_by_day FROM shorter)
      UNION ALL
      SELECT customer FROM (SELECT customer FROM someone WHERE customer IS NOT NULL OFFSET 0) AS someone
        CROSS JOIN LATERAL (SELECT FROM ${DAYS} WHERE ${own(ofSomeone(scope))} AND ${inWindow} ORDER BY day LIMIT 1) AS present
      WHERE NOT (SELECT is_by_day FROM shorter)
    ) AS walked`;
}

/**
 * The customers of a meter that have an event in a window. A day whose last event is in the window has one in it; a day
 * that goes on after the end is asked for a single event before it.
 */
export function customersIn(
  parameters: Parameters,
  scope: Scope,
  window: { start: Micros; end: Micros },
  longest = LONGEST,
): string {
  const start = parameters.instant(window.start);
  const end = parameters.instant(window.end);
  const inWindow = `day >= ${BEGINNING.day(start)} AND day < ${end} AND last_timestamp >= ${start} AND last_timestamp < ${end}`;
  const present =
    window.end - window.start >= LONG
      ? customersOfLong(scope, inWindow, longest)
      : `SELECT customer_external_id AS customer FROM ${DAYS} WHERE ${ofAll(scope)} AND ${inWindow}`;
  // The day that begins with the end has nothing in the window.
  if (window.end % DAY === 0) return `SELECT DISTINCT customer FROM (${present}) AS each`;
  return `
    ${present}
    UNION
    SELECT customer FROM (SELECT customer_external_id AS customer, day FROM ${DAYS}
        WHERE ${ofAll(scope)} AND day = ${BEGINNING.day(end)} AND last_timestamp >= ${end} OFFSET 0) AS kept
      CROSS JOIN LATERAL (SELECT FROM events WHERE ${inStream(scope, 'kept.customer')}
        AND "timestamp" >= greatest(${start}, kept.day) AND "timestamp" < ${end} ORDER BY "timestamp" LIMIT 1) AS before_end`;
}

/**
 * The hours of the last stretch that are over before the end, and the events of those that are not: of the customers whose
 * last event of that day is not before `since`.
 */
function lastHours(
  request: RowsRequest,
  last: LastStretch,
  { since, onlyIf }: { since: string; onlyIf?: string },
): string[] {
  const { parameters, source = PLAIN, scope, reading, key, plan } = request;
  const from = parameters.instant(last.from);
  const end = parameters.instant(plan.end);
  const mine = `${own(ofSomeone(scope))} AND hour >= ${from} AND hour < ${end}`;
  const isOver = `last_timestamp < ${end}`;
  // An hour of a customer is over for all groups or for none: those of one that goes on are read by the event.
  const isOverForAll = source === PLAIN ? isOver : `hour IN (SELECT hour FROM ${HOURS} WHERE ${mine} AND ${isOver})`;
  return [
    `SELECT found.* FROM (SELECT ${from} AS since) AS stretch CROSS JOIN LATERAL ${customersSince(scope, since, onlyIf)}
      CROSS JOIN LATERAL (
        SELECT ${key('hour')} AS key, ${reading.ofRow} FROM ${source.hours} WHERE ${mine} AND ${isOverForAll} OFFSET 0) AS found`,
    lastEvents(request, last, onlyIf),
  ];
}

/**
 * The same of the values of the last quarter: of each customer whose hour is over before the end those of the quarter, and
 * the events of the others.
 */
function lastValues(request: RowsRequest, last: LastStretch, onlyIf?: string): string[] {
  const { parameters, source = PLAIN, scope, reading, key, plan } = request;
  const from = parameters.instant(last.from);
  const end = parameters.instant(plan.end);
  return [
    `SELECT found.* FROM (SELECT ${from} AS since) AS stretch CROSS JOIN LATERAL ${customersSince(scope, from, onlyIf)}
      CROSS JOIN LATERAL (
        SELECT FROM ${HOURS} WHERE ${own(ofSomeone(scope))} AND hour = ${BEGINNING.hour(from)} AND last_timestamp < ${end} OFFSET 0
      ) AS over CROSS JOIN LATERAL (
        SELECT ${key(from)} AS key, ${reading.ofRow} FROM ${source.customerValues}
        WHERE ${own(ofSomeone(scope))} AND ${inQuarter(from)} OFFSET 0) AS found`,
    lastEvents(request, last, onlyIf),
  ];
}

/** The events of the last stretch, of the hours that go on after the end. */
function lastEvents(
  { parameters, scope, reading, key, plan }: RowsRequest,
  last: LastStretch,
  onlyIf?: string,
): string {
  const from = parameters.instant(last.from);
  const end = parameters.instant(plan.end);
  return `SELECT found.* FROM (SELECT ${from} AS since) AS stretch CROSS JOIN LATERAL ${customersSince(scope, end, onlyIf)}
    CROSS JOIN LATERAL (
      SELECT hour FROM ${HOURS} WHERE ${own(ofSomeone(scope))}
        AND hour >= ${BEGINNING.hour(from)} AND hour < ${end} AND last_timestamp >= ${end} OFFSET 0) AS cut
    CROSS JOIN LATERAL (
      SELECT ${key('"timestamp"')} AS key, ${reading.ofEvent} FROM events
      WHERE ${inStream(scope, 'customer')} AND "timestamp" >= greatest(cut.hour, ${from}) AND "timestamp" < ${end} OFFSET 0) AS found`;
}

function cutEvents(request: RowsRequest): string[] {
  const { cut } = request.plan;
  return cut.from.length === 0 ? [] : [events(request, stretches(request.parameters, cut))];
}

/** The single events of stretches that each lie within a day. */
function events({ scope, reading, key }: RowsRequest, from: string, onlyIf?: string): string {
  return `SELECT found.* FROM ${from} CROSS JOIN LATERAL ${customersSince(scope, 'since', onlyIf)} CROSS JOIN LATERAL (
    SELECT ${key('"timestamp"')} AS key, ${reading.ofEvent} FROM events
    WHERE ${inStream(scope, 'customer')} AND "timestamp" >= since AND "timestamp" < before OFFSET 0) AS found`;
}

function stretches(parameters: Parameters, { from, to }: Stretches): string {
  return `(SELECT ${asInstant('since')} AS since, ${asInstant('before')} AS before
    FROM ${parameters.instants(from, to)} AS stretch (since, before) OFFSET 0) AS stretch`;
}

/** The customers with an event at `since` or later on the day of the stretch: nobody else has one in what is left of it. */
function customersSince(scope: Scope, since: string, onlyIf = 'true'): string {
  return `(SELECT customer_external_id AS customer FROM ${DAYS}
    WHERE ${mineOrAll(scope)} AND day = ${BEGINNING.day('stretch.since')} AND last_timestamp >= ${since} AND ${onlyIf} OFFSET 0) AS someone`;
}

/**
 * Two tables that were computed, side by side. A full join is hashed or merged; any other is a loop in a loop where the planner
 * guesses that one of them is short, and it knows of neither how long it is.
 */
export function joined(left: string, right: string, column: string): string {
  return `(SELECT * FROM ${left} FULL JOIN ${right} USING (${column}) OFFSET 0) AS joined`;
}

/**
 * Whether a row of `events` is void: a correction has taken it out of the count. Each is looked up by itself, which OFFSET 0 holds
 * Postgres to: most events are not, and few are read one by one.
 */
export const IS_VOID = `EXISTS (SELECT FROM corrections
  WHERE corrections.organization_id = events.organization_id AND corrections.event_id = events.id OFFSET 0)`;

/** The events of one customer that count, by the index of streams. */
export function inStream(scope: Scope, customer: string): string {
  return `${everInStream(scope, customer)} AND NOT ${IS_VOID}`;
}

/**
 * The same with those that are void. Two streams may have one number, hence the other conditions; they are written so that the
 * primary key, which leads to all events of an organization, is no way to them.
 */
export function everInStream({ organization, meter }: Scope, customer: string): string {
  return `event_stream(meter_id, customer_external_id) = event_stream(${meter}, ${customer})
    AND (organization_id = ${organization}) IS TRUE AND meter_id = ${meter} AND customer_external_id = ${customer}`;
}

/** The rows of a rollup that are in a scope, by its primary key. */
export function own({ organization, meter, customer }: Scope): string {
  const mine = `organization_id = ${organization} AND meter_id = ${meter}`;
  return customer === undefined ? mine : `${mine} AND customer_external_id = ${customer}`;
}

/**
 * The rows of all customers of a meter, by the index that is made for it, which only a condition on the time in it makes short. No
 * index fits the other conditions as they are written, so there is nothing to choose, whatever Postgres believes to be there.
 */
export function ofAll({ organization, meter }: Scope): string {
  return `uuid_hash_extended(meter_id, 0) = uuid_hash_extended(${meter}, 0)
    AND (organization_id = ${organization}) IS TRUE AND (meter_id = ${meter}) IS TRUE`;
}

function mineOrAll(scope: Scope): string {
  return scope.customer === undefined ? ofAll(scope) : own(scope);
}

function ofSomeone(scope: Scope): Scope {
  return { ...scope, customer: 'someone.customer' };
}
