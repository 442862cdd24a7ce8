// Finds the part of its period that a due is in force for, by local dates: a customer can count them, and daylight saving cannot move
// them.

import type { Micros } from '@weir/shared/instant';
import { addDays, dateOf, datesLeftOut, daysBetween, firstInstantOfDate, type LocalDate } from './local-date.ts';
import { boundary, dateOfStep, periodAt, type Schedule } from './periods.ts';
import type { Days } from './rate.ts';

/** When a due is in force. What lies outside of its period is cut off. */
export interface InForce {
  start: Micros;
  end: Micros;
  /** True where it was cancelled: that date counts, if it had begun before. False where the plan was changed: that date is the new plan's. */
  endDateCounts: boolean;
}

/**
 * The dates that a due touches, of those of its whole period. The first period of a `calendar` schedule is a part of a
 * calendar one. Returns null where the due is in force for all of it, and in plans by the day, which are never prorated: of a date on
 * which the plan was changed nothing is the old one's.
 */
export function daysOf(schedule: Schedule, cycle: number, inForce: InForce): Days | null {
  const { timeZone, interval, alignment } = schedule;
  // A date that has begun is due: once, and to the plan that it ends with.
  if (interval === 'day') {
    const isLeft = !inForce.endDateCounts && inForce.end < boundary(schedule, cycle + 1);
    return isLeft ? { inForce: 0, inPeriod: 1 } : null;
  }
  const period = periodAt(schedule, cycle);
  const steps = cycle - schedule.firstCycle;
  const isWhole = alignment === 'anniversary' || steps > 0;
  // Nearly every due: no date has to be looked up.
  if (isWhole && inForce.start <= period.start && inForce.end >= period.end) return null;
  const periodFirst = dateOfStep(schedule, steps);
  const periodLast = addDays(dateOfStep(schedule, steps + 1), -1);
  const first = dateOf(timeZone, Math.max(inForce.start, period.start));
  const last = lastDate(timeZone, inForce);
  const days = {
    inForce: countDates(timeZone, first, last < periodLast ? last : periodLast),
    inPeriod: countDates(timeZone, periodFirst, periodLast),
  };
  return days.inForce === days.inPeriod ? null : days;
}

function lastDate(timeZone: string, { end, endDateCounts }: InForce): LocalDate {
  const date = dateOf(timeZone, end);
  // What ends in the first instant of a date does not touch it.
  return endDateCounts && end > firstInstantOfDate(timeZone, date) ? date : addDays(date, -1);
}

/** From one date to another, both included, without those that the zone left out. */
function countDates(timeZone: string, first: LocalDate, last: LocalDate): number {
  const days = daysBetween(first, last) + 1;
  return days <= 0 ? 0 : days - datesLeftOut(timeZone, first, last).length;
}

/** As a line shows it: `22/31`. */
export function formatDays({ inForce, inPeriod }: Days): string {
  return `${inForce}/${inPeriod}`;
}
