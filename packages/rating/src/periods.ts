// When the periods of a subscription begin and end. A boundary is always counted from the anchor and never from the boundary
// before: 31 January, 28 February, 31 March. proration.ts says what part of a period counts.

import type { Micros } from '@weir/shared/instant';
import {
  addDays,
  addMonths,
  dateOf,
  datesLeftOut,
  daysBetween,
  firstInstantOfDate,
  type LocalDate,
  monthsBetween,
  weekday,
} from './local-date.ts';

export const INTERVALS = ['day', 'week', 'month', 'year'] as const;
export type Interval = (typeof INTERVALS)[number];

/** The anchor that dates are counted from, and how. */
export interface Calendar {
  timeZone: string;
  interval: Interval;
  /** `calendar`: from the Monday, the first of the month or the 1 January before the anchor, or on it. */
  alignment: 'anniversary' | 'calendar';
  /** The local date of the start, as {@link dateOf} has it. */
  anchor: LocalDate;
}

export interface Schedule extends Calendar {
  /** Where period `firstCycle` begins, exactly; on the anchor's date, at any time of it. */
  firstInstant: Micros;
  firstCycle: number;
}

/**
 * The beginning of period `cycle`, which is the end of the one before. Boundary `firstCycle` is `firstInstant` itself, later
 * ones are the first instants of their dates, and each is later than the one before it. Throws on an earlier cycle.
 */
export function boundary(schedule: Schedule, cycle: number): Micros {
  const steps = cycle - schedule.firstCycle;
  if (!Number.isInteger(steps) || steps < 0) throw new Error(`no period ${cycle} before ${schedule.firstCycle}`);
  if (steps === 0) return schedule.firstInstant;
  return firstInstantOfDate(schedule.timeZone, dateOfStep(schedule, steps));
}

/** Half-open: an instant at a boundary belongs to the period that begins there. */
export function periodAt(schedule: Schedule, cycle: number): { start: Micros; end: Micros } {
  return { start: boundary(schedule, cycle), end: boundary(schedule, cycle + 1) };
}

/** The cycle of the period that holds an instant. Throws where that is before the first one. */
export function cycleAt(schedule: Schedule, at: Micros): number {
  if (at < schedule.firstInstant) throw new Error('an instant before the first period has no cycle');
  return schedule.firstCycle + stepOfDate(schedule, dateOf(schedule.timeZone, at));
}

/**
 * The date so many steps from where counting begins; below 0 before that. Days that the zone left out are no steps: nobody
 * lived them, and a period without an instant could not be billed.
 */
export function dateOfStep({ timeZone, interval, alignment, anchor }: Calendar, steps: number): LocalDate {
  const from = alignment === 'calendar' ? floorDate(interval, anchor) : anchor;
  switch (interval) {
    case 'day':
      return dayOfStep(timeZone, from, steps);
    case 'week':
      return addDays(from, 7 * steps);
    case 'month':
      return addMonths(from, steps);
    case 'year':
      return addMonths(from, 12 * steps);
  }
}

/** The step that a date belongs to: the last one that is not after it. */
export function stepOfDate(calendar: Calendar, date: LocalDate): number {
  const { timeZone, interval, alignment, anchor } = calendar;
  const from = alignment === 'calendar' ? floorDate(interval, anchor) : anchor;
  switch (interval) {
    case 'day':
      return daysBetween(from, date) - leftOutBetween(timeZone, from, date);
    case 'week':
      return Math.floor(daysBetween(from, date) / 7);
    case 'month':
      return lastStep(calendar, date, monthsBetween(from, date));
    case 'year':
      return lastStep(calendar, date, Number(date.slice(0, 4)) - Number(from.slice(0, 4)));
  }
}

/** In its own month or year a step may come later than the date. */
function lastStep(calendar: Calendar, date: LocalDate, steps: number): number {
  return dateOfStep(calendar, steps) > date ? steps - 1 : steps;
}

/** The Monday, the first of the month or the 1 January before a date, or on it. */
function floorDate(interval: Interval, date: LocalDate): LocalDate {
  switch (interval) {
    case 'day':
      return date;
    case 'week':
      return addDays(date, -weekday(date));
    case 'month':
      return `${date.slice(0, 7)}-01`;
    case 'year':
      return `${date.slice(0, 4)}-01-01`;
  }
}

function dayOfStep(timeZone: string, from: LocalDate, steps: number): LocalDate {
  let date = addDays(from, steps);
  for (;;) {
    const missing = steps - (daysBetween(from, date) - leftOutBetween(timeZone, from, date));
    if (missing === 0) return date;
    date = addDays(date, missing);
  }
}

/** How many dates the zone left out on the way; below 0 where the way leads back. */
function leftOutBetween(timeZone: string, from: LocalDate, to: LocalDate): number {
  return from <= to ? datesLeftOut(timeZone, from, to).length : -datesLeftOut(timeZone, to, from).length;
}
