import { Temporal } from 'temporal-polyfill';
import type { Micros } from './instant.ts';

/** When the calendar month of an instant began in a zone, and when the one before it did. Throws on an unknown zone. */
export function monthsOf(timeZone: string, at: Micros): { start: Micros; before: Micros } {
  const { year, month } = Temporal.Instant.fromEpochMilliseconds(Math.floor(at / 1000)).toZonedDateTimeISO(timeZone);
  const first = Temporal.PlainDate.from({ year, month, day: 1 });
  const instantOf = (date: Temporal.PlainDate): Micros => date.toZonedDateTime(timeZone).epochMilliseconds * 1000;
  return { start: instantOf(first), before: instantOf(first.subtract({ months: 1 })) };
}
