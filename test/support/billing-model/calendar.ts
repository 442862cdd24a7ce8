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

/** The dates that a period touches up to `end`, of those of the whole one. Null where it is whole, and of plans by the day. */
export function daysAt(schedule: ModelSchedule, cycle: number, end: number): ModelDays | null {
  const { zone, interval, alignment, start } = schedule;
  if (interval === 'day') return null;
  const first = firstDate(schedule, cycle);
  const next = firstDate(schedule, cycle + 1);
  const from = cycle === 0 && alignment === 'calendar' ? dateAt(zone, start) : first;
  const period = periodAt(schedule, cycle);
  // The date of the end counts if any of it has passed.
  const until = end >= period.end ? next : dateAt(zone, end - 1).add({ days: 1 });
  const days = { inForce: Math.max(0, from.until(until).days), inPeriod: first.until(next).days };
  return days.inForce === days.inPeriod ? null : days;
}
