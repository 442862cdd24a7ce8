// What dues are billed for: the usage of each in its own window, as it was at its own closing. One statement reads it for any
// number of them, so all of it is of one snapshot. due-rows.ts makes its SQL.

import type { Micros } from '@weir/shared/instant';
import type { AggregationType } from '@weir/shared/meter';
import { CompiledQuery } from 'kysely';
import type { Queries } from '../page.ts';
import { usageOf, type Usage } from '../usage/read-usage.ts';
import { sumsFromEvents, sumsFromRollups } from './due-rows.ts';

/** Whose usage to read, and of when. */
export interface DueUsageQuestion {
  organizationId: string;
  meterId: string;
  customerExternalId: string;
  /** That of the meter. */
  aggregation: AggregationType;
  /** The first instant that counts. */
  start: Micros;
  /** The first that does not count any more. */
  end: Micros;
  /** What was recorded before this closing; null: all that is recorded. */
  closing: number | null;
}

/** What a due is billed for. */
export interface DueUsage {
  /** What the meter reads, as a plain decimal; `0` where it reads nothing. */
  quantity: string;
  eventCount: number;
}

/** What usage is read from. Both give the same; events take a time that grows with their number. */
export type UsageSource = 'rollups' | 'events';

/**
 * Reads the usage of dues, in the order of the questions, in one statement. At a closing it returns the same for ever, if the
 * transaction began after that closing had committed and the due ends at its `until` or before.
 */
export async function readDueUsage(
  db: Queries,
  questions: readonly DueUsageQuestion[],
  from: UsageSource = 'rollups',
): Promise<DueUsage[]> {
  const all = await readUsageOfDues(db, questions, from);
  return all.map(({ usage, event_count }) => ({ quantity: usage ?? '0', eventCount: event_count }));
}

/** The same as a reader of the meter sees it: null where it reads nothing. */
export async function readUsageOfDues(
  db: Queries,
  questions: readonly DueUsageQuestion[],
  from: UsageSource,
): Promise<Usage[]> {
  if (questions.length === 0) return [];
  const { text, values } = from === 'rollups' ? sumsFromRollups(questions) : sumsFromEvents(questions);
  const { rows } = await db.executeQuery<{ sums: string | null }>(CompiledQuery.raw(text, values));
  return usageOfSums(questions, rows[0]?.sums ?? null);
}

/** What a statement of due-rows.ts returned for these questions, in their order. */
export function usageOfSums(questions: readonly DueUsageQuestion[], text: string | null): Usage[] {
  const byNumber = new Map<number, string[]>();
  for (const sums of text?.split(',') ?? []) {
    const [number, ...rest] = sums.split(' ');
    byNumber.set(Number(number), rest);
  }
  return questions.map(({ aggregation }, index) => {
    const [event_count = null, usage = null] = byNumber.get(index + 1) ?? [];
    return usageOf(aggregation, { event_count, usage });
  });
}
