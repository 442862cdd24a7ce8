// Boundaries and shares of periods, found with Temporal.

import { Temporal } from 'temporal-polyfill';
import type { ModelDays } from './prices.ts';

export type ModelInterval = 'day' | 'week' | 'month' | 'year';

export interface ModelSchedule {
  zone: string;
  interval: ModelInterval;
  alignment: 'anniversary' | 'calendar';
  /** Milliseconds since 1970: where period 0 begins. */
  start: number;
}

export interface ModelPeriod {
  start: number;
  end: number;
}

const LENGTHS = { day: { days: 1 }, week: { weeks: 1 }, month: { months: 1 }, year: { years: 1 } };

/** The date that the clocks of a zone show. */
function dateAt(zone: string, at: number): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone).toPlainDate();
}

function instantOf(zone: string, date: Temporal.PlainDate): number {
  return date.toZonedDateTime(zone).epochMilliseconds;
}

/** A date of a zone so many days after that of an instant, and the first instant of it. */
export function dateAfter(zone: string, at: number, days: number): { date: string; at: number } {
  const date = dateAt(zone, at).add({ days });
  return { date: date.toString(), at: instantOf(zone, date) };
}

function anchorOf({ zone, interval, alignment, start }: ModelSchedule): Temporal.PlainDate {
  const date = dateAt(zone, start);
  if (alignment === 'anniversary') return date;
  switch (interval) {
    case 'day':
      return date;
    case 'week':
      return date.subtract({ days: date.dayOfWeek - 1 });
    case 'month':
      return date.with({ day: 1 });
    case 'year':
      return date.with({ month: 1, day: 1 });
  }
}

/** The first date of a period; the one after it begins with the date of the next. */
function firstDate(schedule: ModelSchedule, cycle: number): Temporal.PlainDate {
  const length = LENGTHS[schedule.interval];
  const many = Object.fromEntries(Object.entries(length).map(([unit, one]) => [unit, one * cycle]));
  return cycle === 0 ? anchorOf(schedule) : anchorOf(schedule).add(many);
}

export function periodAt(schedule: ModelSchedule, cycle: number): ModelPeriod {
  const { zone, start } = schedule;
  return {
    start: cycle === 0 ? start : instantOf(zone, firstDate(schedule, cycle)),
    end: instantOf(zone, firstDate(schedule, cycle + 1)),
  };
}

/**
 * The dates that a part of a period touches, of those of the whole one; that of its end only where it counts, and has begun. Null where
 * it is whole. Plans by the day have no parts: a date is the last plan's.
 */
export function daysIn(
  schedule: ModelSchedule,
  cycle: number,
  { start, end, countsLast }: { start: number; end: number; countsLast: boolean },
): ModelDays | null {
  const { zone, interval } = schedule;
  const isCut = end < periodAt(schedule, cycle).end;
  if (interval === 'day') return isCut && !countsLast ? { inForce: 0, inPeriod: 1 } : null;
  const first = firstDate(schedule, cycle);
  const next = firstDate(schedule, cycle + 1);
  const last = countsLast ? dateAt(zone, end - 1).add({ days: 1 }) : dateAt(zone, end);
  const inForce = dateAt(zone, start).until(isCut ? last : next).days;
  const days = { inForce: Math.max(0, inForce), inPeriod: first.until(next).days };
  return days.inForce === days.inPeriod ? null : days;
}
