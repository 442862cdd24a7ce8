// The usage of many dues as one statement. Sums are those of the rollups, without the late events, and with those that were voided
// later. A largest, smallest or last quantity cannot be taken off: where a late event is it, its day is read by the hour, and its
// hour by the event; one that was voided later stands beside them. A distinct value cannot either: a quarter of an hour with a late
// change is read by the event.
//
// What is late is looked up by an index for each row, and only of dues that have any. A join would be planned by a guess of
// how many there are: where that was wrong, 420 dues took a minute.

import type { Micros } from '@weir/shared/instant';
import { AGGREGATIONS, countsValues } from '@weir/shared/meter';
import { plainArray, textArray } from '../../array-text.ts';
import { caseOfSummed, EXTREMES, isLateInRow, isOf, readingOf, valueHash } from '../../aggregations.ts';
import { completeFrom } from '../../months-taken-out.ts';
import { BEGINNING, ROLLUPS, USAGE_COLUMNS } from '../../rollups.ts';
import { planDue, planDueValues, type ReadPlan, type Stretches } from '../../usage/plan-read.ts';
import {
  asInstant,
  everInStream,
  inStream,
  IS_VOID,
  own,
  Parameters,
  quartersOf,
  type Scope,
} from '../../usage/usage-rows.ts';
import type { DueUsageQuestion } from './due-question.ts';

export const HOURS = ROLLUPS.customerUsageHours.table;
const DAYS = ROLLUPS.customerUsageDays.table;
const VALUES = ROLLUPS.customerValueDays.table;

const IS_EXTREME = isOf('aggregation', 'extreme');

/** A row of `due`: one of the questions, with its number `n` from 1 on. */
export const DUE: Scope = {
  organization: 'due.organization_id',
  meter: 'due.meter_id',
  customer: 'due.customer_external_id',
};

/**
 * A statement with its values. It returns one text, `sums`: of each due with usage its number, its events and its usage. Where it may read
 * single events it also returns since when all of them are there, as `complete_from`.
 */
export interface SumsStatement {
  text: string;
  values: unknown[];
}

/** Parts of a WITH, in their order. All are MATERIALIZED, so that none changes the plan of another. */
export type Parts = [name: string, query: string][];

/** Reads every event of the dues. */
export function sumsFromEvents(questions: readonly DueUsageQuestion[]): SumsStatement {
  const parameters = new Parameters();
  const counted = `SELECT n, aggregation, found.* FROM due
    CROSS JOIN LATERAL (${eventsThen(`${OF_EVENT}, ${valueHash('due.aggregation')}`, 'due.since', 'due.before')} OFFSET 0) AS found`;
  const summed = `SELECT n, count(*) AS event_count, sum(quantity_sum) AS quantity_sum, ${EXTREMES},
    count(DISTINCT value_hash)::numeric AS uniques FROM (${counted}) AS counted WHERE NOT shows_late GROUP BY n`;
  const parts: Parts = [
    ['due', duesOf(parameters, questions)],
    ['summed', summed],
  ];
  const usage = caseOfSummed('aggregation', { extremes: true, uniques: true });
  return statement(parts, usage, { asksComplete: true, values: parameters.values });
}

/**
 * Reads days and hours, and events where these do not do. Parts that no question needs are left out: Postgres would plan them. With
 * `ofWhatIsThere` it does not return since when all events are there.
 */
export function sumsFromRollups(
  questions: readonly DueUsageQuestion[],
  { ofWhatIsThere = false }: { ofWhatIsThere?: boolean } = {},
): SumsStatement {
  const parameters = new Parameters();
  const extremes = questions.some(({ aggregation }) => AGGREGATIONS[aggregation].kind === 'extreme');
  const uniques = questions.some(({ aggregation }) => countsValues(aggregation));
  const plans = questions.map(({ start, end }) => planDue(start, end));
  // Rows are needed one by one only where one of them may stand for all.
  const read = extremes ? rowsOf : sumsOf;
  const parts = wholeRows(parameters, plans, read);
  if (plans.some(isCut)) {
    const cut = `${stretchesOf(parameters, plans, (plan) => plan.cut)} ${IF_ANYTHING}`;
    parts.push(['pieces', read(cut, eventsIn('stretch.since', 'stretch.before'))]);
  }
  const rows = parts.map(([name]) => name);
  const counted = rows.map((name) => `SELECT n, event_count, quantity_sum FROM ${name}`);
  if (areClosed(questions)) {
    counted.push(`SELECT n, found.* FROM due CROSS JOIN LATERAL (
      SELECT sum(${SIGN}), sum(${SIGN} * quantity) FROM ${late('due.since', 'due.before')}) AS found WHERE has_late`);
  }
  const sums = `SELECT n, sum(event_count) AS event_count, sum(quantity_sum) AS quantity_sum
    FROM (${counted.join(' UNION ALL ')}) AS counted GROUP BY n`;
  const summed = `SELECT * FROM (${sums}) AS sums
    ${extremes ? 'LEFT JOIN extremes USING (n)' : ''} ${uniques ? 'LEFT JOIN uniques USING (n)' : ''}`;
  parts.unshift(['due', duesOf(parameters, questions)]);
  if (extremes) parts.push(...(areClosed(questions) ? extremesWithoutLate(rows) : [extremesOf(rows)]));
  if (uniques) parts.push(['uniques', uniqueValues(parameters, questions)]);
  parts.push(['summed', summed]);
  const readsEvents = plans.some(isCut) || (areClosed(questions) && (extremes || uniques));
  const usage = caseOfSummed('aggregation', { extremes, uniques });
  return statement(parts, usage, { asksComplete: readsEvents && !ofWhatIsThere, values: parameters.values });
}

/** The rows of whole days and hours of some dues, as `days` and `hours`. */
function wholeRows(parameters: Parameters, plans: readonly ReadPlan[], read: typeof rowsOf): Parts {
  const [since, before] = ['stretch.since', 'stretch.before'];
  return [
    [
      'days',
      read(
        stretchesOf(parameters, plans, ({ days }) => days),
        daysIn(since, before),
      ),
    ],
    [
      'hours',
      read(
        stretchesOf(parameters, plans, ({ hours }) => hours),
        hoursIn(since, before),
      ),
    ],
  ];
}

function isCut({ cut }: ReadPlan): boolean {
  return cut.from.length > 0;
}

/** Whether something may be late for a question. */
function areClosed(questions: readonly DueUsageQuestion[]): boolean {
  return questions.some(({ closing }) => closing !== null);
}

function statement(
  parts: Parts,
  usage: string,
  { asksComplete, values }: { asksComplete: boolean; values: unknown[] },
): SumsStatement {
  const sums = `SELECT n, event_count, trim_scale(${usage}) AS usage FROM due JOIN summed USING (n) WHERE event_count > 0`;
  const complete = asksComplete ? `, ${COMPLETE_FROM} AS complete_from` : '';
  const text = `WITH ${named(parts)}
    SELECT string_agg(concat_ws(' ', n, event_count, usage), ',') AS sums${complete} FROM (${sums}) AS sums`;
  return { text, values };
}

export function named(parts: Parts): string {
  return parts.map(([name, query]) => `${name} AS MATERIALIZED (${query})`).join(',\n');
}

const COMPLETE_FROM = completeFrom('(SELECT min(since) FROM due)', '= ANY (ARRAY(SELECT organization_id FROM due))');

export function duesOf(parameters: Parameters, questions: readonly DueUsageQuestion[]): string {
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
  const hasLate = areClosed(questions) ? `EXISTS (SELECT FROM ${late('due.since', 'due.before')})` : 'false';
  return `SELECT due.*, ${hasLate} AS has_late FROM (
      SELECT n, organization_id, meter_id, customer_external_id, aggregation,
        ${asInstant('since')} AS since, ${asInstant('before')} AS before, closing
      FROM unnest(${columns.join(', ')}) WITH ORDINALITY
        AS t (organization_id, meter_id, customer_external_id, aggregation, since, before, closing, n) OFFSET 0
    ) AS due`;
}

/** What a late change adds to usage at its closing, which the rollups have without it. */
const SIGN = 'CASE WHEN voids IS NULL THEN -1 ELSE 1 END';

/** The late changes of a due from one time to another, as a table: late events, and those that were voided later. */
export function late(since: string, before: string): string {
  return `(SELECT "timestamp", event_id, quantity, voids FROM late_events WHERE ${own(DUE)} AND "timestamp" >= ${since}
    AND "timestamp" < ${before} AND late_events.closing >= due.closing OFFSET 0) AS late`;
}

/** The stretches of all plans as a table `stretch`, each beside its due. */
export function stretchesOf(
  parameters: Parameters,
  plans: readonly (ReadPlan | undefined)[],
  which: (plan: ReadPlan) => Stretches,
): string {
  const [numbers, from, to]: [number[], Micros[], Micros[]] = [[], [], []];
  for (const [index, plan] of plans.entries()) {
    if (plan === undefined) continue;
    const stretches = which(plan);
    for (const [at, since] of stretches.from.entries()) {
      numbers.push(index + 1);
      from.push(since);
      to.push(stretches.to[at] ?? since);
    }
  }
  return `(SELECT n, ${asInstant('since')} AS since, ${asInstant('before')} AS before
    FROM ${parameters.instants(numbers, from, to)} AS t (n, since, before) OFFSET 0) AS stretch JOIN due USING (n)`;
}

/** What is found for each of some dues adds up to. */
function sumsOf(dues: string, rows: string): string {
  return `SELECT n, found.* FROM ${dues} CROSS JOIN LATERAL (
    SELECT sum(event_count) AS event_count, sum(quantity_sum) AS quantity_sum FROM (${rows}) AS each OFFSET 0) AS found`;
}

/** Rows that are found for each of some dues. */
function rowsOf(dues: string, rows: string): string {
  return `SELECT n, due.aggregation, found.* FROM ${dues} CROSS JOIN LATERAL (${rows} OFFSET 0) AS found`;
}

// Days, hours and events have the same columns. `shows_late` says that a late event is what a row says of its events.

const USAGE = readingOf(USAGE_COLUMNS);

function daysIn(since: string, before: string): string {
  return rollupIn(DAYS, 'day', '24 hours', since, before);
}

function hoursIn(since: string, before: string): string {
  return rollupIn(HOURS, 'hour', '1 hour', since, before);
}

function rollupIn(table: string, grain: 'day' | 'hour', length: string, since: string, before: string): string {
  const shown = `EXISTS (SELECT FROM ${late(grain, `${grain} + interval '${length}'`)} WHERE voids IS NULL AND ${isLateInRow('due.aggregation')})`;
  return `SELECT ${grain} AS at, ${USAGE.ofRow}, CASE WHEN due.has_late AND due.${IS_EXTREME} THEN ${shown} ELSE false END AS shows_late
    FROM ${table} WHERE ${own(DUE)} AND ${grain} >= ${since} AND ${grain} < ${before}`;
}

const OF_EVENT = `"timestamp" AS at, ${USAGE.ofEvent}`;

/** The late changes of the time of a single event. */
const LATE_AT = late('events."timestamp"', `events."timestamp" + interval '1 microsecond'`);
const IS_LATE = `EXISTS (SELECT FROM ${LATE_AT} WHERE event_id = id)`;

/** The events that rollups have as well: those that are void are not among them. */
function eventsIn(since: string, before: string): string {
  return `SELECT ${OF_EVENT}, CASE WHEN due.has_late THEN ${IS_LATE} ELSE false END AS shows_late FROM events
    WHERE ${inStream(DUE, 'due.customer_external_id')} AND "timestamp" >= ${since} AND "timestamp" < ${before}`;
}

/** All events: but for those that show something late they are what the due counts, as one that was voided later was not void then. */
function eventsThen(reading: string, since: string, before: string): string {
  const wasVoid = `${IS_VOID} AND NOT (due.has_late AND EXISTS (SELECT FROM ${LATE_AT} WHERE voids = id))`;
  return `SELECT ${reading}, CASE WHEN due.has_late AND ${IS_LATE} THEN true ELSE ${wasVoid} END AS shows_late FROM events
    WHERE ${everInStream(DUE, 'due.customer_external_id')} AND "timestamp" >= ${since} AND "timestamp" < ${before}`;
}

/** The events that a due counts and rollups do not: they were voided later, and were not late for it. */
const VOIDED_LATER = `${rowsOf(
  'due',
  `SELECT ${OF_EVENT}, false AS shows_late FROM (
    SELECT "timestamp", quantity, voids AS id FROM ${late('due.since', 'due.before')} WHERE voids IS NOT NULL) AS events
  WHERE NOT ${IS_LATE}`,
)} WHERE due.has_late AND due.${IS_EXTREME}`;

/** Of a stretch without an hour that has any event in it, no event is looked for: the index of events is one for each month. */
const IF_ANYTHING = `CROSS JOIN LATERAL (SELECT FROM ${HOURS} WHERE ${own(DUE)}
  AND hour >= ${BEGINNING.hour('stretch.since')} AND hour < stretch.before AND last_timestamp >= stretch.since LIMIT 1) AS anything`;

function extremesOf(rows: readonly string[]): Parts[number] {
  const shown = rows.map((name) => `SELECT * FROM ${name} WHERE NOT shows_late AND ${IS_EXTREME}`);
  return ['extremes', `SELECT n, ${EXTREMES} FROM (${shown.join(' UNION ALL ')}) AS shown GROUP BY n`];
}

/** The same with finer rows in the place of those that show something late, and with what rollups do not have any more. */
function extremesWithoutLate(rows: readonly string[]): Parts {
  return [
    ...ALL_HOURS,
    ['events_of_hours', finer('all_hours', '1 hour', eventsIn)],
    ['voided_later', VOIDED_LATER],
    extremesOf([...rows.filter((name) => name !== 'hours'), 'all_hours', 'events_of_hours', 'voided_later']),
  ];
}

/** Finer rows of those that show something late. */
function finer(coarse: string, length: string, found: (since: string, before: string) => string): string {
  return `${rowsOf(`${coarse} AS stretch JOIN due USING (n)`, found('stretch.at', `stretch.at + interval '${length}'`))}
     WHERE stretch.shows_late`;
}

/** The hours of dues, also those of days that show something late. */
const ALL_HOURS: Parts = [
  ['hours_of_days', finer('days', '24 hours', hoursIn)],
  ['all_hours', 'SELECT * FROM hours UNION ALL SELECT * FROM hours_of_days'],
];

/** Parts of which the last one is `all_hours`: of those that show something late, events are read. */
export function hoursOfLate(parameters: Parameters, plans: readonly ReadPlan[]): Parts {
  return [...wholeRows(parameters, plans, rowsOf), ...ALL_HOURS];
}

/**
 * A bit of a value is as good as its quarter of an hour, but where that has a late change. Where nothing can be late, whole days need
 * no look at the bits: they are one stretch, however long it is.
 */
function uniqueValues(parameters: Parameters, questions: readonly DueUsageQuestion[]): string {
  const plans = questions.map(({ aggregation, start, end, closing }) =>
    countsValues(aggregation) ? planDueValues(start, end, closing === null) : undefined,
  );
  const values = (dues: string, found: string): string =>
    `SELECT n, found.value_hash FROM ${dues} CROSS JOIN LATERAL (${found} OFFSET 0) AS found`;
  const eventValues = (since: string, before: string): string =>
    eventsThen('unique_value_hash(metadata) AS value_hash', since, before);
  const parts = [
    values(
      `${stretchesOf(parameters, plans, ({ quarters }) => quarters)} CROSS JOIN LATERAL (
         SELECT ${quartersOf('stretch.since', 'stretch.before')} AS wanted, CASE WHEN due.has_late
           THEN (SELECT bit_or(quarter_bit("timestamp")) FROM ${late('stretch.since', 'stretch.before')}) END AS touched OFFSET 0) AS masks`,
      `SELECT value_hash FROM ${VALUES} WHERE ${own(DUE)} AND day = ${BEGINNING.day('stretch.since')}
         AND quarters & wanted & coalesce(~touched, wanted) <> B'0'::bit(96)`,
    ),
  ];
  if (plans.some((plan) => plan !== undefined && plan.days.from.length > 0)) {
    parts.push(
      values(
        stretchesOf(parameters, plans, ({ days }) => days),
        `SELECT value_hash FROM ${VALUES} WHERE ${own(DUE)} AND day >= stretch.since AND day < stretch.before`,
      ),
    );
  }
  if (areClosed(questions)) {
    const quarters = `due CROSS JOIN LATERAL (
      SELECT DISTINCT ${BEGINNING.quarter('"timestamp"')} AS at FROM ${late('due.since', 'due.before')}) AS quarter`;
    const found = eventValues(
      'greatest(quarter.at, due.since)',
      `least(quarter.at + interval '15 minutes', due.before)`,
    );
    const isWanted = `due.has_late AND ${isOf('due.aggregation', 'values')} AND NOT shows_late`;
    parts.push(`${values(quarters, found)} WHERE ${isWanted}`);
  }
  if (plans.some((plan) => plan !== undefined && isCut(plan))) {
    const cut = `${stretchesOf(parameters, plans, (plan) => plan.cut)} ${IF_ANYTHING}`;
    parts.push(`${values(cut, eventValues('stretch.since', 'stretch.before'))} WHERE NOT shows_late`);
  }
  return `SELECT n, count(DISTINCT value_hash)::numeric AS uniques FROM (${parts.join(' UNION ALL ')}) AS each GROUP BY n`;
}
