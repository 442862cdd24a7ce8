import type { Window } from '@weir/shared/window';
import type { Queries } from '../../database.ts';
import { usageOf, type MeterUsage } from '../../usage/read-usage.ts';
import type { DueUsageQuestion } from './due-question.ts';
import { readUsageOfDues } from './due-usage.ts';

/**
 * The usage of a due, in all and in each bucket of a window, as it was at its closing. The window is planned over the due's own
 * start and end. Of COUNT and SUM the buckets add up to the total: it is one statement, and an event lies in one bucket.
 */
export async function readDueBuckets(
  db: Queries,
  question: DueUsageQuestion,
  { start, end, periods }: Window,
): Promise<MeterUsage> {
  // Each bucket is asked for as a due of its own.
  const buckets = periods.map(({ at }, index) => ({
    ...question,
    start: Math.max(at, start),
    end: periods[index + 1]?.at ?? end,
  }));
  const [total = nothing(question), ...ofBuckets] = await readUsageOfDues(
    db,
    [{ ...question, start, end }, ...buckets],
    'rollups',
  );
  return {
    total,
    uniqueCustomers: total.event_count === 0 ? 0 : 1,
    ofBucket: (index) => ofBuckets[index] ?? nothing(question),
  };
}

function nothing({ aggregation }: DueUsageQuestion): MeterUsage['total'] {
  return usageOf(aggregation, { event_count: null, usage: null });
}
