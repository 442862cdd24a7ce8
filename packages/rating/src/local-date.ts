// Calendar dates of a zone, as texts `YYYY-MM-DD`, and the instants at which they begin.
//
// A date begins at its midnight, where that is skipped at the end of the gap, and where it comes twice at the first. From
// then until the next one begins it is *the* date, even if the clocks are set back over midnight and show the date before
// for a while. So dates follow each other as instants do. A date that a zone left out (30 December 2011 in Samoa) begins
// with the next one: no instant has it.

import { DAY, DAY_MS, firstInstant, localTime, offsetSpans } from '@weir/shared/time-zone';
import type { Micros } from '@weir/shared/instant';

/** A date of the calendar: `2026-01-31`. Texts compare as dates do. */
export type LocalDate = string;

export function addDays(date: LocalDate, days: number): LocalDate {
  return dateAt(epochDay(date) + days);
}

/** The same day so many months later; the last of the month where that is shorter. */
export function addMonths(date: LocalDate, months: number): LocalDate {
  const month = monthNumber(date) + months;
  const first = firstOfMonth(month);
  const daysInMonth = epochDay(firstOfMonth(month + 1)) - epochDay(first);
  return addDays(first, Math.min(Number(date.slice(8)), daysInMonth) - 1);
}

/** From one date to another; below zero where the second is earlier. */
export function daysBetween(from: LocalDate, to: LocalDate): number {
  return epochDay(to) - epochDay(from);
}

/** The same in months of the calendar, whatever the days are: from 31 January to 1 February it is 1. */
export function monthsBetween(from: LocalDate, to: LocalDate): number {
  return monthNumber(to) - monthNumber(from);
}

/** Days since Monday: 0 to 6. */
export function weekday(date: LocalDate): number {
  // 1 January 1970 was a Thursday.
  return (((epochDay(date) + 3) % 7) + 7) % 7;
}

/** The date that an instant has in a zone: the latest that has begun. Throws on an unknown zone. */
export function dateOf(timeZone: string, at: Micros): LocalDate {
  let date = dateAt(Math.floor(localTime(timeZone, at) / DAY));
  for (;;) {
    const next = addDays(date, 1);
    if (firstInstantOfDate(timeZone, next) > at) return date;
    date = next;
  }
}

/** When a date begins in a zone. Throws on an unknown zone, and on what is no date. */
export function firstInstantOfDate(timeZone: string, date: LocalDate): Micros {
  return firstInstant(timeZone, epochDay(date) * DAY);
}

/** The dates that a zone left out, of those from one to another, both included; in order. */
export function datesLeftOut(timeZone: string, first: LocalDate, last: LocalDate): LocalDate[] {
  const left: LocalDate[] = [];
  const [from, to] = [epochDay(first) * DAY, (epochDay(last) + 1) * DAY];
  let shown: Micros | undefined;
  // No clock is two days away from UTC.
  for (const span of offsetSpans(timeZone, from - 2 * DAY, to + 2 * DAY)) {
    if (shown !== undefined) {
      const resumed = span.from + span.offset;
      for (let day = Math.ceil(shown / DAY); (day + 1) * DAY <= resumed; day++) {
        if (day * DAY >= from && day * DAY < to) left.push(dateAt(day));
      }
    }
    shown = span.to + span.offset;
  }
  return left;
}

/** Days since 1970. Throws on what is no date of the calendar. */
function epochDay(date: LocalDate): number {
  const ms = Date.parse(`${date}T00:00:00Z`);
  if (Number.isNaN(ms) || !new Date(ms).toISOString().startsWith(`${date}T`)) {
    throw new Error(`not a date: ${date.slice(0, 40)}`);
  }
  return ms / DAY_MS;
}

function dateAt(epochDays: number): LocalDate {
  return new Date(epochDays * DAY_MS).toISOString().slice(0, 10);
}

/** Months since the year 0. */
function monthNumber(date: LocalDate): number {
  return Number(date.slice(0, 4)) * 12 + Number(date.slice(5, 7)) - 1;
}

function firstOfMonth(month: number): LocalDate {
  const year = Math.floor(month / 12);
  return `${String(year).padStart(4, '0')}-${String(month - year * 12 + 1).padStart(2, '0')}-01`;
}
