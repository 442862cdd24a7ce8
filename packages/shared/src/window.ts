import type { FieldError } from './errors.ts';
import { type Instant, instantOf, parseInstant } from './instant.ts';
import {
  customerLevels,
  floorTo,
  meterLevels,
  sumLevels,
  valueLevels,
  type CustomerLevels,
  type LastStretch,
  type MeterLevels,
  type ValueLevels,
  type Stretches,
  type SumLevels,
} from './levels.ts';
import {
  DAY,
  firstInstant,
  firstInstantIn,
  HOUR,
  isTimeZone,
  localTime,
  type Micros,
  type OffsetSpan,
  offsetSpans,
  offsetText,
} from './time-zone.ts';

/** The calendar periods by which usage can be read. A week is ISO's: it starts on Monday. */
export const GROUPINGS = ['hour', 'day', 'week', 'month'] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** Buckets that one answer may have: by the hour, more than a year. */
export const BUCKETS_MAX = 10_000;

// Where instants are still safe integers, and all calendars agree on what a year is.
const YEAR_MIN = 1970;
const YEAR_MAX = 2199;
const DEFAULT_DAYS = 30;

/** One calendar period. The first and last of a window count only what lies in the window. */
export interface Bucket {
  /** `2026-11`, `2026-W47`, `2026-11-20`, or an hour with its offset: `2026-11-01T01:00-04:00`. */
  period: string;
  /** The first instant of the calendar period, ISO 8601 UTC; the window may begin later. */
  period_start: string;
}

/** A half-open stretch of time in which usage is read, and from where. All times are ISO 8601 UTC, to the microsecond. */
export interface Window {
  start: string;
  end: string;
  /** In order of time, without gaps; empty where nothing is grouped. */
  buckets: Bucket[];
  /** Where in the window each bucket begins: the start of the window, then the start of every bucket but the first. */
  boundaries: string[];
  /** Where to read customers by bucket: nothing in it goes over a boundary. */
  byBucket: CustomerLevels;
  /** Where to read sums of customers by bucket, with days that go over a boundary; null where that is `byBucket`. */
  sumsByBucket: SumLevels | null;
  /** Where to read customers when buckets do not matter. */
  inAll: CustomerLevels;
  /** Where to read the whole meter by bucket. */
  ofMeter: MeterLevels;
  /** Where to read the distinct values of the whole meter by bucket, and when buckets do not matter. */
  valuesByBucket: ValueLevels;
  valuesInAll: ValueLevels;
}

/** What a reader of usage asks for. Times are as {@link parseInstant} takes them, or bare dates. */
export interface WindowQuery {
  /** Default: 30 calendar days before the end. A bare date is its first instant in the time zone. */
  start_date?: string | undefined;
  /** Default: now. A bare date is the last instant of that day, so that the day is in. */
  end_date?: string | undefined;
  timezone: string;
  /** Without it the window is one period and has no buckets. */
  group_by?: Grouping | undefined;
}

/** Finds the window and its buckets, or says what is wrong with the query. `now` is in milliseconds since 1970. */
export function planWindow(query: WindowQuery, now: number): PlannedWindow {
  const steps = planningWindow(query, now);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** A window, or what is wrong with the query for it. */
export type PlannedWindow = Window | { problem: FieldError };

/** Buckets that are made in one step. */
const STEP = 500;

/** The same in steps of about a millisecond, for who has something else to do between them: a large window takes some 20 ms. */
export function* planningWindow(query: WindowQuery, now: number): Generator<undefined, PlannedWindow, undefined> {
  const { timezone, group_by: grouping } = query;
  if (!isTimeZone(timezone)) {
    return refuse('timezone', 'must be a time zone of the IANA database, such as Europe/Berlin or UTC');
  }
  const end = query.end_date === undefined ? now * 1000 : parsePoint(query.end_date, timezone, DAY);
  if (typeof end === 'string') return refuse('end_date', end);
  const start =
    query.start_date === undefined
      ? firstInstantIn(timezone, localTime(timezone, end) - DEFAULT_DAYS * DAY)
      : parsePoint(query.start_date, timezone, 0);
  if (typeof start === 'string') return refuse('start_date', start);
  if (start >= end) {
    return refuse(
      'start_date',
      `must be before the end, which is ${iso(end)}${query.end_date === undefined ? ' (now)' : ''}`,
    );
  }
  const periods = grouping === undefined ? [] : findPeriods(start, end, timezone, grouping);
  if (periods === undefined || periods.length > BUCKETS_MAX) {
    return refuse(
      'group_by',
      `would make more than ${BUCKETS_MAX} buckets: ask for a shorter window or longer periods`,
    );
  }
  yield;
  const buckets: Bucket[] = [];
  for (const { at, label } of periods) {
    buckets.push({ period: label(), period_start: iso(at) });
    if (buckets.length % STEP === 0) yield;
  }
  const points = [start, ...periods.slice(1).map(({ at }) => at), end];
  yield;
  const byBucket = textOfLevels(customerLevels(points));
  yield;
  const sumsByBucket = textOfSumLevels(sumLevels(points));
  yield;
  const { quarters, cut, last } = meterLevels(points);
  const ofMeter = { quarters: textOf(quarters), cut: textOf(cut), last: textOfLast(last) };
  yield;
  const valuesByBucket = textOfValueLevels(valueLevels(points));
  yield;
  const inAll = textOfLevels(customerLevels([start, end]));
  const valuesInAll = textOfValueLevels(valueLevels([start, end]));
  const boundaries = [iso(start), ...buckets.slice(1).map(({ period_start }) => period_start)];
  return {
    start: iso(start),
    end: iso(end),
    buckets,
    boundaries,
    byBucket,
    sumsByBucket,
    inAll,
    ofMeter,
    valuesByBucket,
    valuesInAll,
  };
}

function refuse(path: string, message: string): { problem: FieldError } {
  return { problem: { path, message } };
}

/** The instant that a given date or time means, or what is wrong with it. A bare date means its midnight plus `add`. */
function parsePoint(text: string, timezone: string, add: Micros): Micros | string {
  const isDate = /^\d{4}-\d\d-\d\d$/.test(text);
  if (!isDate && !/^\d{4}-\d\d-\d\dT/i.test(text)) {
    return 'must be a date such as 2026-01-31, or a time with its offset such as 2026-01-31T09:30:00Z';
  }
  if (/ \d\d:?\d\d$/.test(text)) return 'has a space where its offset should begin: write + as %2B in a URL';
  const instant = parseInstant(isDate ? `${text}T00:00Z` : text);
  if ('problem' in instant) return isDate ? 'is not a date of the calendar' : instant.problem;
  const year = Number(text.slice(0, 4));
  if (year < YEAR_MIN || year > YEAR_MAX) return `must be in the years ${YEAR_MIN} to ${YEAR_MAX}`;
  return isDate ? firstInstantIn(timezone, microsOf(instant) + add) : microsOf(instant);
}

interface Period {
  /** The first instant of the calendar period. */
  at: Micros;
  label: () => string;
}

/** How long a period is at most, but for days that a zone lived twice. */
const LENGTHS: Record<Grouping, Micros> = {
  hour: HOUR,
  day: DAY + HOUR,
  week: 7 * DAY + HOUR,
  month: 31 * DAY + HOUR,
};

/** The calendar periods that share an instant with the window, in order; undefined where they are far too many. */
function findPeriods(start: Micros, end: Micros, timezone: string, grouping: Grouping): Period[] | undefined {
  if ((end - start) / LENGTHS[grouping] > BUCKETS_MAX) return undefined;
  const local = localTime(timezone, start);
  const spans = offsetSpans(timezone, startOfPeriod(local, grouping) - 2 * DAY, end);
  const periods = grouping === 'hour' ? hoursOf(spans, start, end) : datesOf(spans, local, end, grouping);
  // Gone are those that end before the window begins, and the days that a zone left out (30 December 2011 in Samoa).
  return periods.filter(({ at }, index) => (periods[index + 1]?.at ?? end) > Math.max(at, start));
}

/**
 * Every whole hour of the local clock begins one, and so does every change of the offset: where clocks are set by half
 * an hour, or a minute after midnight, the rest of the hour is a bucket of its own.
 */
function hoursOf(spans: OffsetSpan[], start: Micros, end: Micros): Period[] {
  const periods: Period[] = [];
  for (const { from, to, offset } of spans) {
    const suffix = offsetText(offset);
    const until = Math.min(to, end);
    const first = Math.max(from, floorTo(start + offset, HOUR) - offset);
    for (let at = first; at < until; at = floorTo(at + offset, HOUR) + HOUR - offset) {
      periods.push({ at, label: () => iso(at + offset).slice(0, 16) + suffix });
    }
  }
  return periods;
}

function datesOf(spans: OffsetSpan[], localStart: Micros, end: Micros, grouping: Grouping): Period[] {
  const periods: Period[] = [];
  for (let local = startOfPeriod(localStart, grouping); ; local = startOfPeriod(local + LENGTHS[grouping], grouping)) {
    const at = firstInstant(spans, local);
    if (at >= end) return periods;
    periods.push({ at, label: () => labelOf(local, grouping) });
  }
}

/** The local midnight at which the period of a local time begins. */
function startOfPeriod(local: Micros, grouping: Grouping): Micros {
  const midnight = Math.floor(local / DAY) * DAY;
  const date = new Date(midnight / 1000);
  if (grouping === 'week') return midnight - ((date.getUTCDay() + 6) % 7) * DAY;
  if (grouping === 'month') return midnight - (date.getUTCDate() - 1) * DAY;
  return midnight;
}

function labelOf(local: Micros, grouping: Grouping): string {
  if (grouping === 'month') return iso(local).slice(0, 7);
  if (grouping === 'day') return iso(local).slice(0, 10);
  // A week belongs to the year that has its Thursday.
  const thursday = local + 3 * DAY;
  const year = new Date(thursday / 1000).getUTCFullYear();
  const week = Math.floor((thursday - Date.UTC(year, 0, 1) * 1000) / (7 * DAY)) + 1;
  return `${year}-W${String(week).padStart(2, '0')}`;
}

function textOfLevels(levels: CustomerLevels<Micros>): CustomerLevels {
  const { days, hours, cut, last } = levels;
  return { days: textOf(days), hours: textOf(hours), cut: textOf(cut), last: textOfLast(last) };
}

function textOfSumLevels(levels: SumLevels<Micros> | null): SumLevels | null {
  if (levels === null) return null;
  const { hours, cut } = levels.moved;
  return { counted: textOfLevels(levels.counted), moved: { hours: textOf(hours), cut: textOf(cut) } };
}

function textOfValueLevels({ days, partsOfDays, quarters, cut, last }: ValueLevels<Micros>): ValueLevels {
  return {
    days: textOf(days),
    partsOfDays: textOf(partsOfDays),
    quarters: textOf(quarters),
    cut: textOf(cut),
    last: last === null ? null : iso(last),
  };
}

function textOf({ from, to }: Stretches<Micros>): Stretches {
  return { from: from.map(iso), to: to.map(iso) };
}

function textOfLast(last: LastStretch<Micros> | null): LastStretch | null {
  return last === null ? null : { ...last, from: iso(last.from), day: iso(last.day) };
}

function microsOf({ epochMs, text }: Instant): Micros {
  return epochMs * 1000 + Number(text.slice(23, -1));
}

function iso(at: Micros): string {
  if (at % 1000 === 0) return new Date(at / 1000).toISOString();
  return instantOf(Math.floor(at / 1000), String(((at % 1000) + 1000) % 1000).padStart(3, '0')).text;
}
