// Which dues cannot be told: single events are to be read of hours of which others are in a month that was taken out of the database. It
// is asked only of dues that begin before the end of such a month. An hour's row and its events change in one transaction, and here both
// are read by one statement: they differ only where events are gone from the table.

import type { Micros } from '@weir/shared/instant';
import { AGGREGATIONS, countsValues } from '@weir/shared/meter';
import { HOUR } from '@weir/shared/time-zone';
import { isOf } from '../../aggregations.ts';
import { MonthTakenOut, monthToAttach } from '../../months-taken-out.ts';
import { BEGINNING } from '../../rollups.ts';
import type { Runs } from '../../runs.ts';
import { planDue } from '../../usage/plan-read.ts';
import { asInstant, inStream, own, Parameters } from '../../usage/usage-rows.ts';
import type { DueUsageQuestion, UsageSource } from './due-question.ts';
import { DUE, duesOf, HOURS, hoursOfLate, late, named, stretchesOf, type Parts } from './due-rows.ts';

/**
 * Returns why usage cannot be told, by the index of its question. `completeFrom`: from then on no event is in a month that was taken out,
 * as a statement of due-rows.ts has said before in the same transaction; null: none is.
 */
export async function findTakenOut(
  runs: Runs,
  questions: readonly DueUsageQuestion[],
  from: UsageSource,
  completeFrom: Micros | null,
): Promise<Map<number, MonthTakenOut>> {
  const found = new Map<number, MonthTakenOut>();
  if (completeFrom === null) return found;
  const indices = [...questions.keys()].filter((index) => (questions[index]?.start ?? 0) < completeFrom + HOUR);
  const asked = indices.flatMap((index) => questions[index] ?? []);
  if (asked.length === 0) return found;
  const { text, values } = statementOf(asked, from, completeFrom);
  const { rows } = await runs.query<{ n: string; hour: string; month: string }>(text, values);
  for (const { n, hour, month } of rows) {
    const index = indices[Number(n) - 1];
    if (index !== undefined)
      found.set(index, new MonthTakenOut(`Usage of the hour ${hour} (UTC) cannot be told`, month));
  }
  return found;
}

function statementOf(questions: readonly DueUsageQuestion[], from: UsageSource, completeFrom: Micros) {
  const parameters = new Parameters();
  const { parts, read, readsVoided } = from === 'events' ? allHours() : cutAndLate(parameters, questions);
  parts.unshift(['due', duesOf(parameters, questions)]);
  const before = asInstant(parameters.add(completeFrom, 'bigint'));
  // What was voided later is in no row any more: whether it is there is asked by its id.
  const short = `SELECT n, at, last_event_id AS id, organization_id FROM (${read.join(' UNION ')}) AS read JOIN due USING (n)
      CROSS JOIN LATERAL (SELECT event_count, last_event_id FROM ${HOURS} WHERE ${own(DUE)} AND hour = read.at OFFSET 0) AS kept
    WHERE at < ${before} AND event_count <> (SELECT count(*) FROM events
      WHERE ${inStream(DUE, 'due.customer_external_id')} AND "timestamp" >= read.at AND "timestamp" < read.at + interval '1 hour')
    UNION ALL
    SELECT n, ${BEGINNING.hour('gone."timestamp"')} AS at, gone.voids, organization_id FROM due
      CROSS JOIN LATERAL (SELECT "timestamp", voids FROM ${late('due.since', 'due.before')} WHERE voids IS NOT NULL OFFSET 0) AS gone
    WHERE has_late AND ${readsVoided} AND gone."timestamp" < ${before}
      AND NOT EXISTS (SELECT FROM events WHERE events.organization_id = due.organization_id AND events.id = gone.voids)`;
  parts.push(['short', short]);
  const text = `WITH ${named(parts)}
    SELECT n, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI') AS hour,
      ${monthToAttach('first.at', '= first.organization_id', 'ARRAY[first.id]')} AS month
    FROM (SELECT DISTINCT ON (n) * FROM short ORDER BY n, at, id) AS first`;
  return { text, values: parameters.values };
}

interface Hours {
  parts: Parts;
  /** What selects the hours, as `n` and `at`, of which events are read. */
  read: string[];
  /** Whether events are read that were voided later, as SQL. */
  readsVoided: string;
}

function allHours(): Hours {
  const read = `SELECT n, hour AS at FROM due CROSS JOIN LATERAL (
    SELECT hour FROM ${HOURS} WHERE ${own(DUE)} AND hour >= ${BEGINNING.hour('due.since')} AND hour < due.before OFFSET 0) AS found`;
  return { parts: [], read: [read], readsVoided: 'true' };
}

/** The hours that dues cut, those of which a late event is the extreme, and those of values with a late change. */
function cutAndLate(parameters: Parameters, questions: readonly DueUsageQuestion[]): Hours {
  const plans = questions.map(({ start, end }) => planDue(start, end));
  const cut = `SELECT n, hour AS at FROM ${stretchesOf(parameters, plans, (plan) => plan.cut)} CROSS JOIN LATERAL (
    SELECT hour FROM ${HOURS} WHERE ${own(DUE)} AND hour >= ${BEGINNING.hour('stretch.since')} AND hour < stretch.before
      AND last_timestamp >= stretch.since OFFSET 0) AS found`;
  const isValues = isOf('due.aggregation', 'values');
  const hours: Hours = { parts: [], read: [cut], readsVoided: isValues };
  const closed = questions.filter(({ closing }) => closing !== null);
  if (closed.some(({ aggregation }) => AGGREGATIONS[aggregation].kind === 'extreme')) {
    hours.parts.push(...hoursOfLate(parameters, plans));
    hours.read.push('SELECT n, at FROM all_hours WHERE shows_late');
  }
  if (closed.some(({ aggregation }) => countsValues(aggregation))) {
    hours.read.push(`SELECT n, ${BEGINNING.hour('late."timestamp"')} AS at FROM due
      CROSS JOIN LATERAL ${late('due.since', 'due.before')} WHERE has_late AND ${isValues}`);
  }
  return hours;
}
