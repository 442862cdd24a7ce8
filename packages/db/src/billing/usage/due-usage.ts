// What dues are billed for: the usage of each in its own window, as it was at its own closing. One statement reads it for any
// number of them, so all of it is of one snapshot. due-rows.ts makes its SQL.

import type { DueUsage } from '@weir/billing/due';
import { divide, formatExact, parseExact, whole } from '@weir/rating/exact';
import { AGGREGATIONS, type AggregationType } from '@weir/shared/meter';
import { CompiledQuery } from 'kysely';
import type { Queries } from '../../database.ts';
import { usageOf, type Usage } from '../../usage/read-usage.ts';
import type { WrittenSum } from '../../usage/written-sums.ts';
import type { DueUsageQuestion } from './due-question.ts';
import { sumsFromEvents, sumsFromRollups } from './due-rows.ts';

/** The source of usage. Both give the same; events take a time that grows with their number. */
export type UsageSource = 'rollups' | 'events';

/** So many questions at once, where there may be any number: a statement of some hundredths of a second. */
export const QUESTIONS_AT_ONCE = 500;

/**
 * Reads the usage of dues, in the order of the questions, in one statement. At a closing it returns the same for ever, if the
 * transaction began after that closing had committed and the due ends at its `until` or before.
 */
export async function readDueUsage(
  db: Queries,
  questions: readonly DueUsageQuestion[],
  from: UsageSource = 'rollups',
): Promise<DueUsage[]> {
  const sums = await readSums(db, questions, from);
  return questions.map(({ aggregation }, index) => dueUsageOf(aggregation, sums[index] ?? NOTHING));
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
  return questions.map(({ aggregation }, index) => usageOf(aggregation, sums[index] ?? NOTHING));
}

async function readSums(db: Queries, questions: readonly DueUsageQuestion[], from: UsageSource): Promise<WrittenSum[]> {
  if (questions.length === 0) return [];
  const { text, values } = from === 'rollups' ? sumsFromRollups(questions) : sumsFromEvents(questions);
  const { rows } = await db.executeQuery<{ sums: string | null }>(CompiledQuery.raw(text, values));
  return sumsOf(questions, rows[0]?.sums ?? null);
}

const NOTHING: WrittenSum = { event_count: null, usage: null };

/** What a statement of due-rows.ts returned for these questions, in their order. */
export function usageOfSums(questions: readonly DueUsageQuestion[], text: string | null): Usage[] {
  const sums = sumsOf(questions, text);
  return questions.map(({ aggregation }, index) => usageOf(aggregation, sums[index] ?? NOTHING));
}

function sumsOf(questions: readonly DueUsageQuestion[], text: string | null): WrittenSum[] {
  const byNumber = new Map<number, string[]>();
  for (const sums of text?.split(',') ?? []) {
    const [number, ...rest] = sums.split(' ');
    byNumber.set(Number(number), rest);
  }
  return questions.map(({ aggregation }, index) => {
    const [event_count = null, usage = null] = byNumber.get(index + 1) ?? [];
    // To bill nothing for events whose usage was not read would be a wrong invoice.
    if (event_count !== null && usage === null) throw new Error(`a due has events and no ${aggregation} of them`);
    return { event_count, usage };
  });
}
