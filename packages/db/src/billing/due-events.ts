import type { UsageEvent } from '@weir/shared/event';
import type { Queries } from '../page.ts';
import type { DueUsageQuestion } from './due-usage.ts';

/** Which part of the list. */
export interface DueEventsPage {
  /** The id of the last event of the page before. */
  cursor?: string | undefined;
  limit: number;
}

/**
 * The events that a due counts, by their time, then by id, at most `page.limit`. With `changesSince` only those that were recorded
 * after closing `from` (the line before) and before closing `before`.
 */
export async function listDueEvents(
  db: Queries,
  question: DueUsageQuestion,
  page: DueEventsPage,
  changesSince?: { from: number; before: number },
): Promise<UsageEvent[]> {
  throw new Error(`not built: ${String(db)} ${question.meterId} ${page.limit} ${changesSince?.from}`);
}
