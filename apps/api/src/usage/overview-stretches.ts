import type { Stretch } from '@weir/db/usage/read-overview';
import type { Micros } from '@weir/shared/instant';
import type { monthsOf } from '@weir/shared/months';
import { firstInstant, localTime, QUARTER } from '@weir/shared/time-zone';

/**
 * This month so far, up to the end of the quarter of an hour that is under way, and the one before up to when the clocks showed the same
 * time of it: all of it where it had no such day.
 */
export function stretchesOf(
  timeZone: string,
  { now, before }: ReturnType<typeof monthsOf>,
  at: Micros,
): { now: Stretch; before: Stretch } {
  const end = Math.floor(at / QUARTER) * QUARTER + QUARTER;
  const shown = localTime(timeZone, end) - localTime(timeZone, now.start);
  const same = firstInstant(timeZone, localTime(timeZone, before.start) + shown);
  return { now: { start: now.start, end }, before: { start: before.start, end: Math.min(now.start, same) } };
}
