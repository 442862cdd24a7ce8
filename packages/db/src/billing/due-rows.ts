// The usage of many dues as one statement. Sums are those of the rollups, without the late events. A largest, smallest or last
// quantity cannot be taken off: where a late event is it, its day is read by the hour, and its hour by the event. A distinct
// value cannot either: a quarter of an hour with a late event is read by the event.

import type { Micros } from '@weir/shared/instant';
import type { AggregationType } from '@weir/shared/meter';
import { plainArray, textArray } from '../array-text.ts';
import { BEGINNING, ROLLUPS } from '../rollups.ts';
import { planDue, planDueValues, type ReadPlan, type Stretches } from '../usage/plan-read.ts';
import { asInstant, inStream, own, Parameters, quartersOf, type Scope } from '../usage/usage-rows.ts';
import type { DueUsageQuestion } from './due-usage.ts';

const HOURS = ROLLUPS.customerUsageHours.table;
const DAYS = ROLLUPS.customerUsageDays.table;
const VALUES = ROLLUPS.customerValueDays.table;

const EXTREMES: readonly AggregationType[] = ['MAX', 'MIN', 'LAST'];

/** A row of the CTE `due`. */
const DUE: Scope = {
  organization: 'due.organization_id',
  meter: 'due.meter_id',
  customer: 'due.customer_external_id',
};

const USAGE = 'event_count, quantity_sum, quantity_min, quantity_max, last_timestamp, last_event_id, last_quantity';
const OF_EVENT = `1 AS event_count, quantity AS quantity_sum, quantity AS quantity_min, quantity AS quantity_max,
  "timestamp" AS last_timestamp, id AS last_event_id, quantity AS last_quantity`;

/** A statement with its values. It returns one text, `sums`: of each due with usage its number, its events and its usage. */
export interface SumsStatement {
  text: string;
  values: unknown[];
}

/** Parts of a WITH, in their order. All are MATERIALIZED: one that is read twice is made once, and none changes the plan of another. */
type Parts = [name: string, query: string][];

function statement(parts: Parts, usage: string, values: unknown[]): SumsStatement {
  const named = parts.map(([name, query]) => `${name} AS MATERIALIZED (${query})`).join(',\n');
  const sums = `SELECT n, event_count, trim_scale(${usage}) AS usage FROM due JOIN summed USING (n) WHERE event_count > 0`;
  const text = `WITH ${named}\nSELECT string_agg(concat_ws(' ', n, event_count, usage), ',') AS sums FROM (${sums}) AS sums`;
  return { text, values };
}

/** The questions as `due`, numbered from 1, and as `late` the events that are not in what they ask for. */
export function duesAndLate(parameters: Parameters, questions: readonly DueUsageQuestion[]): Parts {
  const column = (of: (question: DueUsageQuestion) => string | number | null, type: string): string =>
    parameters.add(plainArray(questions.map(of)), `${type}[]`);
  const columns = [
    column(({ organizationId }) => organizationId, 'uuid'),
    column(({ meterId }) => meterId, 'uuid'),
    parameters.add(textArray(questions.map(({ customerExternalId }) => customerExternalId)), 'text[]'),
    column(({ aggregation }) => aggregation, 'text'),
    column(({ start }) => start, 'bigint'),
    column(({ end }) => end, 'bigint'),
    column(({ closing }) => closing, 'bigint'),
  ];
  const due = `SELECT n, organization_id, meter_id, customer_external_id, aggregation,
      ${asInstant('since')} AS since, ${asInstant('before')} AS before, closing
    FROM unnest(${columns.join(', ')}) WITH ORDINALITY
      AS t (organization_id, meter_id, customer_external_id, aggregation, since, before, closing, n)`;
  const late = `SELECT n, aggregation, found.* FROM due CROSS JOIN LATERAL (
      SELECT "timestamp", event_id, quantity FROM late_events
      WHERE ${own(DUE)} AND "timestamp" >= due.since AND "timestamp" < due.before
        AND late_events.closing >= due.closing OFFSET 0) AS found`;
  return [
    ['due', due],
    ['late', late],
  ];
}

/** Events that are none of `late`: `n` is that of their due, `id` their own. */
function withoutLate(events: string): string {
  return `SELECT * FROM (${events}) AS e WHERE NOT EXISTS (SELECT FROM late WHERE (late.n, late.event_id) = (e.n, e.last_event_id))`;
}

/** Reads every event of the dues. */
export function sumsFromEvents(questions: readonly DueUsageQuestion[]): SumsStatement {
  const parameters = new Parameters();
  const parts = duesAndLate(parameters, questions);
  const events = `SELECT n, aggregation, found.* FROM due CROSS JOIN LATERAL (
      SELECT ${OF_EVENT}, CASE due.aggregation WHEN 'UNIQUE_COUNT' THEN unique_value_hash(metadata) END AS value_hash FROM events
      WHERE ${inStream(DUE, 'due.customer_external_id')} AND "timestamp" >= due.since AND "timestamp" < due.before OFFSET 0) AS found`;
  const summed = `SELECT n, count(*) AS event_count, sum(quantity_sum) AS quantity_sum, ${extremes('true')},
      count(DISTINCT value_hash)::numeric AS uniques
    FROM (${withoutLate(events)}) AS counted GROUP BY n`;
  parts.push(['summed', summed]);
  return statement(parts, usageOf({ extremes: true, uniques: true }), parameters.values);
}

/** Reads days and hours, and events where these do not do. */
export function sumsFromRollups(questions: readonly DueUsageQuestion[]): SumsStatement {
  const parameters = new Parameters();
  const hasExtremes = questions.some(({ aggregation }) => EXTREMES.includes(aggregation));
  const hasUniques = questions.some(({ aggregation }) => aggregation === 'UNIQUE_COUNT');
  const plans = questions.map(({ start, end }) => planDue(start, end));
  const parts: Parts = [
    ...duesAndLate(parameters, questions),
    [
      'days',
      rowsOfRollup(
        DAYS,
        'day',
        stretchesOf(parameters, plans, ({ days }) => days),
      ),
    ],
    [
      'hours',
      rowsOfRollup(
        HOURS,
        'hour',
        stretchesOf(parameters, plans, ({ hours }) => hours),
      ),
    ],
    [
      'pieces',
      cutEvents(
        stretchesOf(parameters, plans, ({ cut }) => cut),
        OF_EVENT,
      ),
    ],
  ];
  if (hasExtremes) parts.push(...extremeParts());
  if (hasUniques) parts.push(...uniqueParts(parameters, questions));
  const all = ['days', 'hours', 'pieces'].map((name) => `SELECT n, event_count, quantity_sum FROM ${name}`);
  const summed = `SELECT n, event_count, quantity_sum
      ${hasExtremes ? ', quantity_max, quantity_min, last_quantity' : ''} ${hasUniques ? ', uniques' : ''}
    FROM (SELECT n, sum(event_count) AS event_count, sum(quantity_sum) AS quantity_sum FROM (
        ${all.join(' UNION ALL ')} UNION ALL SELECT n, -1, -quantity FROM late
      ) AS counted GROUP BY n) AS counted
      ${hasExtremes ? 'LEFT JOIN extremes USING (n)' : ''} ${hasUniques ? 'LEFT JOIN uniques USING (n)' : ''}`;
  parts.push(['summed', summed]);
  return statement(parts, usageOf({ extremes: hasExtremes, uniques: hasUniques }), parameters.values);
}

/** An average leaves Postgres as its sum. */
function usageOf(read: { extremes: boolean; uniques: boolean }): string {
  const extreme = `WHEN 'MAX' THEN quantity_max WHEN 'MIN' THEN quantity_min WHEN 'LAST' THEN last_quantity`;
  return `CASE aggregation WHEN 'COUNT' THEN event_count ${read.extremes ? extreme : ''}
    ${read.uniques ? `WHEN 'UNIQUE_COUNT' THEN coalesce(uniques, 0)` : ''} ELSE quantity_sum END`;
}

function extremes(condition: string): string {
  return `max(quantity_max) AS quantity_max, min(quantity_min) AS quantity_min,
    (array_agg(last_quantity ORDER BY last_timestamp DESC, last_event_id DESC)
      FILTER (WHERE aggregation = 'LAST' AND ${condition}))[1] AS last_quantity`;
}

/** The stretches of all plans as a table `stretch`, each beside its due. */
function stretchesOf(
  parameters: Parameters,
  plans: readonly (ReadPlan | undefined)[],
  which: (plan: ReadPlan) => Stretches,
): string {
  const [numbers, from, to]: [number[], Micros[], Micros[]] = [[], [], []];
  for (const [index, plan] of plans.entries()) {
    if (plan === undefined) continue;
    const stretches = which(plan);
    for (const since of stretches.from) {
      numbers.push(index + 1);
      from.push(since);
    }
    to.push(...stretches.to);
  }
  return `(SELECT n, ${asInstant('since')} AS since, ${asInstant('before')} AS before
    FROM ${parameters.instants(numbers, from, to)} AS t (n, since, before) OFFSET 0) AS stretch JOIN due USING (n)`;
}

function rowsOfRollup(table: string, grain: 'day' | 'hour', stretches: string): string {
  return `SELECT n, due.aggregation, found.* FROM ${stretches} CROSS JOIN LATERAL (
    SELECT ${grain} AS at, ${USAGE} FROM ${table}
    WHERE ${own(DUE)} AND ${grain} >= stretch.since AND ${grain} < stretch.before OFFSET 0) AS found`;
}

/** The events of stretches that are not whole hours: of each only if an hour in it has any, since that is quicker to know. */
function cutEvents(stretches: string, reading: string): string {
  return `SELECT n, due.aggregation, found.* FROM ${stretches} CROSS JOIN LATERAL (
      SELECT FROM ${HOURS} WHERE ${own(DUE)} AND hour >= ${BEGINNING.hour('stretch.since')} AND hour < stretch.before
        AND last_timestamp >= stretch.since LIMIT 1) AS anything
    CROSS JOIN LATERAL (SELECT ${reading} FROM events WHERE ${inStream(DUE, 'due.customer_external_id')}
        AND "timestamp" >= stretch.since AND "timestamp" < stretch.before OFFSET 0) AS found`;
}

/** Whether a late event is what a row says of its events. */
const SHOWS = `CASE aggregation WHEN 'MAX' THEN late.quantity = quantity_max WHEN 'MIN' THEN late.quantity = quantity_min
  WHEN 'LAST' THEN event_id = last_event_id ELSE false END`;

/** The rows that show a late event, by their first instant. */
function showingLate(rows: string, grain: 'day' | 'hour'): string {
  return `SELECT DISTINCT n, at FROM late JOIN ${rows} AS r USING (n, aggregation)
    WHERE at = ${BEGINNING[grain]('late."timestamp"')} AND ${SHOWS}`;
}

function extremeParts(): Parts {
  const columns = `n, aggregation, ${USAGE}`;
  const showing = (rows: string, late: string): string =>
    `SELECT ${columns} FROM ${rows} AS r WHERE NOT EXISTS (SELECT FROM ${late} AS l WHERE (l.n, l.at) = (r.n, r.at))`;
  const eventsOfHours = `SELECT n, due.aggregation, found.* FROM late_hours JOIN due USING (n) CROSS JOIN LATERAL (
      SELECT ${OF_EVENT} FROM events WHERE ${inStream(DUE, 'due.customer_external_id')}
        AND "timestamp" >= late_hours.at AND "timestamp" < late_hours.at + interval '1 hour' OFFSET 0) AS found`;
  const isExtreme = `aggregation IN (${EXTREMES.map((name) => `'${name}'`).join(', ')})`;
  return [
    ['late_days', showingLate('days', 'day')],
    [
      'all_hours',
      `SELECT * FROM hours UNION ALL
       SELECT n, due.aggregation, found.* FROM late_days JOIN due USING (n) CROSS JOIN LATERAL (
         SELECT hour AS at, ${USAGE} FROM ${HOURS}
         WHERE ${own(DUE)} AND hour >= late_days.at AND hour < late_days.at + interval '24 hours' OFFSET 0) AS found`,
    ],
    ['late_hours', showingLate('all_hours', 'hour')],
    [
      'extremes',
      `SELECT n, ${extremes('true')} FROM (
         ${showing('days', 'late_days')} UNION ALL ${showing('all_hours', 'late_hours')}
         UNION ALL ${withoutLate(`SELECT ${columns} FROM pieces UNION ALL ${eventsOfHours}`)}
       ) AS shown WHERE ${isExtreme} GROUP BY n`,
    ],
  ];
}

const VALUE_OF_EVENT = 'id AS last_event_id, unique_value_hash(metadata) AS value_hash';

function uniqueParts(parameters: Parameters, questions: readonly DueUsageQuestion[]): Parts {
  const plans = questions.map(({ aggregation, start, end }) =>
    aggregation === 'UNIQUE_COUNT' ? planDueValues(start, end) : undefined,
  );
  // A bit is as good as its quarter, unless that has a late event.
  const values = (stretches: string, mask: string): string =>
    `SELECT n, found.value_hash FROM ${stretches} CROSS JOIN LATERAL (
       SELECT day, value_hash, quarters FROM ${VALUES}
       WHERE ${own(DUE)} AND day >= ${BEGINNING.day('stretch.since')} AND day < stretch.before OFFSET 0) AS found
     LEFT JOIN late_masks USING (n, day)
     WHERE quarters & (${mask}) & coalesce(~late_masks.mask, ~B'0'::bit(96)) <> B'0'::bit(96)`;
  const lateQuarters = `SELECT n, due.aggregation, found.* FROM late_quarters JOIN due USING (n) CROSS JOIN LATERAL (
      SELECT ${VALUE_OF_EVENT} FROM events WHERE ${inStream(DUE, 'due.customer_external_id')}
        AND "timestamp" >= greatest(late_quarters.at, due.since)
        AND "timestamp" < least(late_quarters.at + interval '15 minutes', due.before) OFFSET 0) AS found`;
  const pieces = cutEvents(
    stretchesOf(parameters, plans, ({ cut }) => cut),
    VALUE_OF_EVENT,
  );
  return [
    [
      'late_quarters',
      `SELECT DISTINCT n, ${BEGINNING.quarter('"timestamp"')} AS at FROM late WHERE aggregation = 'UNIQUE_COUNT'`,
    ],
    [
      'late_masks',
      `SELECT n, ${BEGINNING.day('at')} AS day, bit_or(quarter_bit(at)) AS mask FROM late_quarters GROUP BY 1, 2`,
    ],
    [
      'uniques',
      `SELECT n, count(DISTINCT value_hash)::numeric AS uniques FROM (
         ${values(
           stretchesOf(parameters, plans, ({ days }) => days),
           `~B'0'::bit(96)`,
         )}
         UNION ALL
         ${values(
           stretchesOf(parameters, plans, ({ quarters }) => quarters),
           quartersOf('stretch.since', 'stretch.before'),
         )}
         UNION ALL
         SELECT n, value_hash FROM (${withoutLate(`${pieces} UNION ALL ${lateQuarters}`)}) AS events
       ) AS each GROUP BY n`,
    ],
  ];
}
