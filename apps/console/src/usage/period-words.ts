import { formatDays, formatMinute, formatMonth, formatOffset } from '../text/instants.ts';
import type { Bucket } from './window.ts';

interface Periods {
  grouped_data: readonly { period_start: string }[];
  period_start: string;
  period_end: string;
}

/** Returns which time each bucket is of. A week that the window cuts is told by the days of it that count. */
export function periodWords(
  { grouped_data: buckets, period_start: first, period_end: last }: Periods,
  zone: string,
  by: Bucket,
): string[] {
  const words = buckets.map(({ period_start: start }, index) => {
    if (by === 'hour') return formatMinute(start, zone);
    if (by === 'month') return formatMonth(start, zone);
    const from = Date.parse(start) < Date.parse(first) ? first : start;
    return formatDays(from, buckets[index + 1]?.period_start ?? last, zone);
  });
  // Where clocks go back an hour comes twice.
  return buckets.map(({ period_start: start }, index) => {
    const each = words[index] ?? '';
    const isTwice = by === 'hour' && (words[index - 1] === each || words[index + 1] === each);
    return isTwice ? `${each} ${formatOffset(start, zone)}` : each;
  });
}
