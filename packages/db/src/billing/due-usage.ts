import type { Micros } from '@weir/shared/instant';
import type { AggregationType } from '@weir/shared/meter';
import type { Queries } from '../page.ts';

/** Whose usage to read, and of when. */
export interface DueUsageQuestion {
  organizationId: string;
  meterId: string;
  customerExternalId: string;
  aggregation: AggregationType;
  /** Half-open, to the microsecond. */
  start: Micros;
  end: Micros;
  /** Usage at this closing; null: all that is recorded. */
  closing: number | null;
}

/** What a due is billed for. */
export interface DueUsage {
  /** A plain decimal; `0` where the meter reads nothing. */
  quantity: string;
  eventCount: number;
}

/** What usage is read from. */
export type UsageSource = 'rollups' | 'events';

/** Reads the usage of any number of dues in one statement: one snapshot, that of the caller's transaction. In the order of the questions. */
export async function readDueUsage(
  db: Queries,
  questions: readonly DueUsageQuestion[],
  from: UsageSource = 'rollups',
): Promise<DueUsage[]> {
  throw new Error(`not built: ${String(db)} ${questions.length} ${from}`);
}
