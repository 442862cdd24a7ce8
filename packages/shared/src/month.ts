import { Temporal } from 'temporal-polyfill';
import type { Micros } from './instant.ts';

/** A calendar month in a zone. */
export interface Month {
  start: Micros;
  /** The first instants of its days. */
  days: Micros[];
}

/** The calendar month of an instant in a zone, and the one before it. Throws on an unknown zone. */
export function monthsOf(timeZone: string, at: Micros): { now: Month; before: Month } {
  const { year, month } = Temporal.Instant.fromEpochMilliseconds(Math.floor(at / 1000)).toZonedDateTimeISO(timeZone);
  const first = Temporal.PlainDate.from({ year, month, day: 1 });
  const instantOf = (date: Temporal.PlainDate): Micros => date.toZonedDateTime(timeZone).epochMilliseconds * 1000;
  const monthFrom = (from: Temporal.PlainDate): Month => {
    const days = Array.from({ length: from.daysInMonth }, (_, index) => instantOf(from.add({ days: index })));
    return { start: instantOf(from), days };
  };
  return { now: monthFrom(first), before: monthFrom(first.subtract({ months: 1 })) };
}
