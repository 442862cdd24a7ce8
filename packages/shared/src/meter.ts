/** The ways to turn the events of a period into one number. `LAST` is by event time, then by event id. */
export const AGGREGATION_TYPES = ['COUNT', 'SUM', 'MAX', 'MIN', 'AVG', 'LAST', 'UNIQUE_COUNT'] as const;
export type AggregationType = (typeof AGGREGATION_TYPES)[number];

/** An archived meter takes no new events; what it has counted stays readable. */
export const METER_STATUSES = ['ACTIVE', 'ARCHIVED'] as const;
export type MeterStatus = (typeof METER_STATUSES)[number];

/** What a period without events is worth: nothing was counted, but there is no largest, smallest, mean or last value. */
export function usageOfNothing(aggregation: AggregationType): '0' | null {
  return aggregation === 'COUNT' || aggregation === 'SUM' || aggregation === 'UNIQUE_COUNT' ? '0' : null;
}
