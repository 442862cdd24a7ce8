// Which stretch of time a query means, and the calendar periods in it. Nothing but a calendar: what is read of that time is
// planned in packages/db.

import { LIMITS } from './limits.ts';
import type { FieldError } from './errors.ts';
import { endMicrosInZone, isDate, microsInZone, problemOfDateOrInstant } from './date-or-instant.ts';
import { isoOf, type Micros } from './instant.ts';
import {
  DAY,
  firstInstant,
  firstInstantIn,
  HOUR,
  isTimeZone,
  localTime,
  offsetSpans,
  offsetText,
  type OffsetSpan,
} from './time-zone.ts';

/** The calendar periods by which usage can be read. A week is ISO's: it starts on Monday. */
export const GROUPINGS = ['hour', 'day', 'week', 'month'] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** How many days a window has where nothing is said. */
export const DEFAULT_DAYS = 30;

/** One calendar period. The first and last of a window count only what lies in the window. */
export interface Period {
  /** Its first instant; the window may begin later. */
  at: Micros;
  /** What the clocks of the zone show at its beginning, as if that were UTC. */
  local: Micros;
}

/** A half-open stretch of time in which usage is read. */
export interface Window {
  start: Micros;
  end: Micros;
  /** In order of time, without gaps; empty where nothing is grouped. */
  periods: Period[];
}

/** A query of usage. Times are as {@link parseInstant} takes them, or bare dates. */
export interface WindowQuery {
  /** Default: the midnight 30 calendar days before the end. A bare date is its first instant in the time zone. */
  start_date?: string | undefined;
  /** Default: now. A bare date is the last instant of that day, so that the day is in. */
  end_date?: string | undefined;
  timezone: string;
  /** Without it the window is one period and has no buckets. */
  group_by?: Grouping | undefined;
}

/** A window, or what is wrong with the query for it. */
export type PlannedWindow = Window | { problem: FieldError };

/** Periods that are found in one step. */
const STEP = 250;

/**
 * Finds the window and its buckets, or says what is wrong with the query; `now` is in milliseconds since 1970. In steps of a millisecond
 * or two, for who has something else to do between them.
 */
export function* planningWindow(query: WindowQuery, now: number): Generator<undefined, PlannedWindow, undefined> {
  const { timezone, group_by: grouping } = query;
  if (!isTimeZone(timezone)) {
    return refuse('timezone', 'must be a time zone of the IANA database, such as Europe/Berlin or UTC');
  }
  const end = query.end_date === undefined ? now * 1000 : parsePoint(query.end_date, timezone, endMicrosInZone);
  if (typeof end === 'string') return refuse('end_date', end);
  const start =
    query.start_date === undefined
      ? firstInstant(timezone, midnightOf(localTime(timezone, end)) - DEFAULT_DAYS * DAY)
      : parsePoint(query.start_date, timezone, microsInZone);
  if (typeof start === 'string') return refuse('start_date', start);
  if (start >= end) {
    return refuse(
      'start_date',
      `must be before the end, which is ${isoOf(end)}${query.end_date === undefined ? ' (now)' : ''}`,
    );
  }
  const periods: Period[] = [];
  const calendar = grouping === undefined ? [] : periodsOf(start, end, timezone, grouping);
  for (const period of calendar) {
    const before = periods.at(-1);
    // Gone are those that end before the window begins, and the days that a zone left out (30 December 2011 in Samoa).
    if (before !== undefined && period.at <= Math.max(before.at, start)) periods.pop();
    periods.push(period);
    if (periods.length > LIMITS.buckets) {
      return refuse(
        'group_by',
        `would make more than ${LIMITS.buckets} buckets: ask for a shorter window or longer periods`,
      );
    }
    if (periods.length % STEP === 0) yield;
  }
  return { start, end, periods };
}

function refuse(path: string, message: string): { problem: FieldError } {
  return { problem: { path, message } };
}

/** The instant that a given date or time means, or what is wrong with it. */
function parsePoint(text: string, timezone: string, micros: typeof microsInZone): Micros | string {
  if (!isDate(text) && !/^\d{4}-\d\d-\d\dT/i.test(text)) {
    return 'must be a date such as 2026-01-31, or a time with its offset such as 2026-01-31T09:30:00Z';
  }
  if (/ \d\d:?\d\d$/.test(text)) return 'has a space where its offset should begin: write + as %2B in a URL';
  return problemOfDateOrInstant(text) ?? micros(text, timezone);
}

/** How long a period is at most, but for days that a zone lived twice. */
const LENGTHS: Record<Grouping, Micros> = {
  hour: HOUR,
  day: DAY + HOUR,
  week: 7 * DAY + HOUR,
  month: 31 * DAY + HOUR,
};

/** The calendar periods that may share an instant with the window, in order; some at its start, or in a gap of the clock, do not. */
function* periodsOf(start: Micros, end: Micros, timezone: string, grouping: Grouping): Generator<Period> {
  const local = startOfPeriod(localTime(timezone, start), grouping);
  const spans = offsetSpans(timezone, local - 2 * DAY, end);
  if (grouping === 'hour') yield* hoursOf(spans, start, end);
  else yield* datesOf(spans, local, end, grouping);
}

/**
 * Every whole hour of the local clock begins one, and so does every change of the offset: where clocks are set by half
 * an hour, or a minute after midnight, the rest of the hour is a period of its own.
 */
function* hoursOf(spans: Iterable<OffsetSpan>, start: Micros, end: Micros): Generator<Period> {
  for (const { from, to, offset } of spans) {
    const until = Math.min(to, end);
    const first = Math.max(from, startOfHour(start + offset) - offset);
    for (let at = first; at < until; at = startOfHour(at + offset) + HOUR - offset) yield { at, local: at + offset };
  }
}

function* datesOf(spans: Iterable<OffsetSpan>, first: Micros, end: Micros, grouping: Grouping): Generator<Period> {
  let local = first;
  for (const span of spans) {
    for (;;) {
      const at = firstInstantIn(span, local);
      if (at === undefined) break;
      if (at >= end) return;
      yield { at, local };
      local = startOfPeriod(local + LENGTHS[grouping], grouping);
    }
  }
}

function startOfHour(local: Micros): Micros {
  return Math.floor(local / HOUR) * HOUR;
}

function midnightOf(local: Micros): Micros {
  return Math.floor(local / DAY) * DAY;
}

/** The local midnight at which the period of a local time begins. */
function startOfPeriod(local: Micros, grouping: Grouping): Micros {
  const midnight = midnightOf(local);
  if (grouping === 'week') return midnight - ((new Date(midnight / 1000).getUTCDay() + 6) % 7) * DAY;
  if (grouping === 'month') return midnight - (new Date(midnight / 1000).getUTCDate() - 1) * DAY;
  return midnight;
}

/** `2026-11`, `2026-W47`, `2026-11-20`, or an hour with its offset: `2026-11-01T01:00-04:00`. */
export function nameOf({ at, local }: Period, grouping: Grouping): string {
  if (grouping === 'hour') return isoOf(local).slice(0, 16) + offsetText(local - at);
  if (grouping === 'month') return isoOf(local).slice(0, 7);
  if (grouping === 'day') return isoOf(local).slice(0, 10);
  // A week belongs to the year that has its Thursday.
  const thursday = local + 3 * DAY;
  const year = new Date(thursday / 1000).getUTCFullYear();
  const week = Math.floor((thursday - Date.UTC(year, 0, 1) * 1000) / (7 * DAY)) + 1;
  return `${year}-W${String(week).padStart(2, '0')}`;
}
