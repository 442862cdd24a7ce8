// What dues are billed for: the usage of each in its own window, as it was at its own closing. One statement reads it for any
// number of them, so all of it is of one snapshot. due-rows.ts makes its SQL.

import type { DueUsage } from '@weir/billing/due';
import { divide, formatExact, parseExact, whole } from '@weir/rating/exact';
import { microsOfText } from '@weir/shared/instant';
import { AGGREGATIONS, type AggregationType } from '@weir/shared/meter';
import type { Queries } from '../../database.ts';
import { MonthTakenOut } from '../../months-taken-out.ts';
import { usageOf, type Usage } from '../../usage/read-usage.ts';
import type { WrittenSum } from '../../usage/written-sums.ts';
import { runsOf } from '../../runs.ts';
import type { DueUsageQuestion, UsageSource } from './due-question.ts';
import { sumsFromEvents, sumsFromRollups } from './due-rows.ts';
import { findTakenOut } from './due-taken-out.ts';

/** So many questions at once, where there may be any number: a statement of some hundredths of a second. */
export const QUESTIONS_AT_ONCE = 500;

/**
 * Reads the usage of dues, in the order of the questions, in one statement. At a closing it returns the same for ever, if the
 * transaction began after that closing had committed and the due ends at its `until` or before. Throws a MonthTakenOut where one of them
 * cannot be told.
 */
export async function readDueUsage(
  db: Queries,
  questions: readonly DueUsageQuestion[],
  from: UsageSource = 'rollups',
): Promise<DueUsage[]> {
  return (await readDueUsageToTell(db, questions, from)).map(told);
}

/** The same, with what cannot be told among the others, as why. */
export async function readDueUsageToTell(
  db: Queries,
  questions: readonly DueUsageQuestion[],
  from: UsageSource = 'rollups',
): Promise<(DueUsage | MonthTakenOut)[]> {
  const sums = await readSums(db, questions, from);
  return questions.map(({ aggregation }, index) => {
    const sum = sums[index] ?? NOTHING;
    return sum instanceof MonthTakenOut ? sum : dueUsageOf(aggregation, sum);
  });
}

/** Throws what cannot be told. */
export function told<Value>(value: Value | MonthTakenOut): Value {
  if (value instanceof MonthTakenOut) throw value;
  return value;
}

function dueUsageOf(aggregation: AggregationType, sums: WrittenSum): DueUsage {
  const { usage, event_count: eventCount } = usageOf(aggregation, sums);
  const counted = { quantity: usage ?? '0', eventCount };
  if (AGGREGATIONS[aggregation].kind !== 'mean' || sums.usage === null) return counted;
  return { ...counted, exact: formatExact(divide(parseExact(sums.usage), whole(BigInt(eventCount)))) };
}

/** The same as a reader of the meter sees it: null where it reads nothing. */
export async function readUsageOfDues(
  db: Queries,
  questions: readonly DueUsageQuestion[],
  from: UsageSource,
): Promise<Usage[]> {
  const sums = await readSums(db, questions, from);
  return questions.map(({ aggregation }, index) => usageOf(aggregation, told(sums[index] ?? NOTHING)));
}

async function readSums(
  db: Queries,
  questions: readonly DueUsageQuestion[],
  from: UsageSource,
): Promise<(WrittenSum | MonthTakenOut)[]> {
  if (questions.length === 0) return [];
  const { text, values } = from === 'rollups' ? sumsFromRollups(questions) : sumsFromEvents(questions);
  const runs = runsOf(db);
  const [row] = (await runs.query<SumsRow>(text, values)).rows;
  const completeFrom = row?.complete_from ?? null;
  const takenOut = await findTakenOut(runs, questions, from, completeFrom === null ? null : microsOfText(completeFrom));
  return sumsOf(questions, row?.sums ?? null, takenOut);
}

const NOTHING: WrittenSum = { event_count: null, usage: null };

/** What a statement of due-rows.ts returns. */
interface SumsRow {
  sums: string | null;
  complete_from?: string | null;
}

/** The usage that a statement of due-rows.ts returned as `sums` for these questions, in their order: of what is there. */
export function usageOfSums(questions: readonly DueUsageQuestion[], sums: string | null): DueUsage[] {
  const usage = sumsOf(questions, sums, new Map());
  return questions.map(({ aggregation }, index) => dueUsageOf(aggregation, told(usage[index] ?? NOTHING)));
}

function sumsOf(
  questions: readonly DueUsageQuestion[],
  text: string | null,
  takenOut: ReadonlyMap<number, MonthTakenOut>,
): (WrittenSum | MonthTakenOut)[] {
  const byNumber = new Map<number, string[]>();
  for (const sums of text?.split(',') ?? []) {
    const [number, ...rest] = sums.split(' ');
    byNumber.set(Number(number), rest);
  }
  return questions.map(({ aggregation }, index) => {
    const why = takenOut.get(index);
    if (why !== undefined) return why;
    const [event_count = null, usage = null] = byNumber.get(index + 1) ?? [];
    // To bill nothing for events whose usage was not read would be a wrong invoice.
    if (event_count !== null && usage === null) throw new Error(`a due has events and no ${aggregation} of them`);
    return { event_count, usage };
  });
}
