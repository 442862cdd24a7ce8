import { formatDays, formatMinute, formatMonth } from '../text/instants.ts';
import type { MeterUsage } from './meters.ts';
import type { Bucket } from './window.ts';

/** Returns which time each bucket is of. A week that the window cuts is told by the days of it that count. */
export function periodWords(
  { grouped_data: buckets, period_start: first, period_end: last }: MeterUsage,
  zone: string,
  by: Bucket,
): string[] {
  return buckets.map(({ period_start: start }, index) => {
    if (by === 'hour') return formatMinute(start, zone);
    if (by === 'month') return formatMonth(start, zone);
    const from = Date.parse(start) < Date.parse(first) ? first : start;
    return formatDays(from, buckets[index + 1]?.period_start ?? last, zone);
  });
}
