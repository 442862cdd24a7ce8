import type { Window } from '@weir/shared/window';
import type { Queries } from '../page.ts';
import type { MeterUsage } from '../usage/read-usage.ts';
import type { DueUsageQuestion } from './due-usage.ts';

/** The usage of a due by bucket; the window is planned over the due's own start and end. */
export async function readDueBuckets(db: Queries, question: DueUsageQuestion, window: Window): Promise<MeterUsage> {
  throw new Error(`not built: ${String(db)} ${question.meterId} ${window.start}`);
}
