import type { Micros } from '@weir/shared/instant';
import type { AggregationType } from '@weir/shared/meter';

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

/** The source of usage. Both give the same; events take a time that grows with their number. */
export type UsageSource = 'rollups' | 'events';
