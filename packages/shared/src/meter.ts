/** The ways to turn the events of a period into one number, in the order in which everybody lists them. */
export const AGGREGATION_TYPES = ['COUNT', 'SUM', 'MAX', 'MIN', 'AVG', 'LAST', 'UNIQUE_COUNT'] as const;
export type AggregationType = (typeof AGGREGATION_TYPES)[number];

/** An aggregation, as everybody who reads or bills usage has to know it. */
export interface Aggregation {
  /**
   * How the usage of a period comes of its events. A `total` is that of its parts, added up. A `mean` is a sum that is divided by the
   * number of events. An `extreme` is the quantity of one of them: none can be taken off it without looking at the others. `values`
   * are counted, each once, of the events' `metadata.user_id`.
   */
  kind: 'total' | 'mean' | 'extreme' | 'values';
  /** What a period without events is worth: nothing was counted, but there is no largest, smallest, mean or last quantity. */
  ofNothing: '0' | null;
}

/** Each once. A new one fails to compile, or fails a test, wherever more has to be known of it: see CONTRIBUTING.md. */
export const AGGREGATIONS = {
  COUNT: { kind: 'total', ofNothing: '0' },
  SUM: { kind: 'total', ofNothing: '0' },
  MAX: { kind: 'extreme', ofNothing: null },
  MIN: { kind: 'extreme', ofNothing: null },
  AVG: { kind: 'mean', ofNothing: null },
  // By event time, then by event id.
  LAST: { kind: 'extreme', ofNothing: null },
  UNIQUE_COUNT: { kind: 'values', ofNothing: '0' },
} as const satisfies Record<AggregationType, Aggregation>;

/** Whether events of such a meter need a value to be counted by. */
export function countsValues(aggregation: AggregationType): boolean {
  return AGGREGATIONS[aggregation].kind === 'values';
}

/** An archived meter takes no new events; what it has counted stays readable. */
export const METER_STATUSES = ['ACTIVE', 'ARCHIVED'] as const;
export type MeterStatus = (typeof METER_STATUSES)[number];
