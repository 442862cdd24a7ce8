// Months of the calendar: of UTC, as `2026-11`, and of a time zone.

import { Temporal } from 'temporal-polyfill';
import type { Micros } from './instant.ts';
import { firstInstant, localTime } from './time-zone.ts';

// The last month that was asked for: that of the next event is almost always the same.
const last = { from: 0, to: 0, month: '' };

/** The month of UTC of a time in milliseconds since 1970. */
export function utcMonthOf(epochMs: number): string {
  if (epochMs < last.from || epochMs >= last.to) {
    const time = new Date(epochMs);
    last.from = Date.UTC(time.getUTCFullYear(), time.getUTCMonth());
    last.to = Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1);
    last.month = time.toISOString().slice(0, 7);
  }
  return last.month;
}

/** The month after one of UTC. */
export function monthAfter(month: string): string {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return new Date(Date.UTC(year, number)).toISOString().slice(0, 7);
}

/** When a month of UTC begins, as ISO 8601. */
export function startOfMonth(month: string): string {
  return `${month}-01T00:00:00Z`;
}

/** A month of a zone: its name (`2026-11`), its first instant, and that of the next. */
export interface Month {
  name: string;
  start: Micros;
  end: Micros;
}

/** The month that the clocks of a time zone show at an instant. */
export function monthIn(timeZone: string, at: Micros): Month {
  const local = new Date(Math.floor(localTime(timeZone, at) / 1000));
  const [year, month] = [local.getUTCFullYear(), local.getUTCMonth()];
  const startOf = (number: number) => firstInstant(timeZone, Date.UTC(year, number) * 1000);
  return { name: local.toISOString().slice(0, 7), start: startOf(month), end: startOf(month + 1) };
}

/** A calendar month of a zone, with its days. */
interface MonthOfDays {
  start: Micros;
  /** The first instants of its days. */
  days: Micros[];
}

/** The calendar month of an instant in a zone, and the one before it. Throws on an unknown zone. */
export function monthsOf(timeZone: string, at: Micros): { now: MonthOfDays; before: MonthOfDays } {
  const { year, month } = Temporal.Instant.fromEpochMilliseconds(Math.floor(at / 1000)).toZonedDateTimeISO(timeZone);
  const first = Temporal.PlainDate.from({ year, month, day: 1 });
  const instantOf = (date: Temporal.PlainDate): Micros => date.toZonedDateTime(timeZone).epochMilliseconds * 1000;
  const monthFrom = (from: Temporal.PlainDate): MonthOfDays => {
    const days = Array.from({ length: from.daysInMonth }, (_, index) => instantOf(from.add({ days: index })));
    return { start: instantOf(from), days };
  };
  return { now: monthFrom(first), before: monthFrom(first.subtract({ months: 1 })) };
}
