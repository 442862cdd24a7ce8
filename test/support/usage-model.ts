// What a reader of usage is promised, written down as naively as possible: every event is looked at by itself, and its
// period is found with Temporal. It shares no code with Weir, but the names.

import type { AggregationType } from '@weir/shared/meter';
import { Temporal } from 'temporal-polyfill';

export const GROUPINGS = ['hour', 'day', 'week', 'month'] as const;
export type Grouping = (typeof GROUPINGS)[number];

export interface ModelEvent {
  id: string;
  meterId: string;
  customer: string;
  quantity: string;
  /** Microseconds since 1970. */
  at: bigint;
  /** Who is counted, whatever way it is spelt in JSON. */
  user: string;
  /** What usage is grouped by, by key; null where there is nothing to group by. */
  values?: Record<string, string | null>;
}

export interface Period {
  period: string;
  start: bigint;
  end: bigint;
}

const HOUR = 3_600_000_000n;

function clockAt(at: bigint, timezone: string): Temporal.ZonedDateTime {
  return new Temporal.ZonedDateTime(at * 1000n, timezone);
}

function microsOf(clock: Temporal.ZonedDateTime | Temporal.Instant): bigint {
  return clock.epochNanoseconds / 1000n;
}

export function isoOf(at: bigint): string {
  const digits = at % 1000n === 0n ? 3 : 6;
  return Temporal.Instant.fromEpochNanoseconds(at * 1000n).toString({ fractionalSecondDigits: digits });
}

/** The date that the clocks of a zone show. */
export function dateOf(at: bigint, timezone: string): string {
  return clockAt(at, timezone).toPlainDate().toString();
}

/** The instant that a parameter means: a bare date is the start of that day (or of the next one) in the time zone. */
export function instantOf(text: string, timezone: string, isEnd: boolean): bigint {
  if (text.includes('T')) return microsOf(Temporal.Instant.from(text));
  return startOf(Temporal.PlainDate.from(text).add({ days: isEnd ? 1 : 0 }), timezone);
}

function startOf(date: Temporal.PlainDate, timezone: string): bigint {
  return microsOf(date.toZonedDateTime(timezone));
}

const known = new Map<string, Period>();

/** The calendar period that an instant lies in. */
export function periodOf(at: bigint, timezone: string, grouping: Grouping): Period {
  const key = `${at} ${timezone} ${grouping}`;
  const period = known.get(key) ?? findPeriod(at, timezone, grouping);
  known.set(key, period);
  return period;
}

function findPeriod(at: bigint, timezone: string, grouping: Grouping): Period {
  const clock = clockAt(at, timezone);
  if (grouping === 'hour') return hourOf(at, clock);
  const date = clock.toPlainDate();
  let first = date;
  if (grouping === 'week') first = date.subtract({ days: date.dayOfWeek - 1 });
  if (grouping === 'month') first = date.with({ day: 1 });
  const length = { day: { days: 1 }, week: { weeks: 1 }, month: { months: 1 } }[grouping];
  // Clocks that go back over midnight show the evening again, after the next day has begun: that day goes on.
  while (startOf(first.add(length), timezone) <= at) first = first.add(length);
  const period = {
    day: first.toString(),
    week: `${first.yearOfWeek}-W${String(first.weekOfYear).padStart(2, '0')}`,
    month: first.toPlainYearMonth().toString(),
  }[grouping];
  return { period, start: startOf(first, timezone), end: startOf(first.add(length), timezone) };
}

/** From one full hour of the clock, or from where it was set, to the next of either. */
function hourOf(at: bigint, clock: Temporal.ZonedDateTime): Period {
  const sinceFull =
    BigInt(clock.minute * 60 + clock.second) * 1_000_000n + BigInt(clock.millisecond * 1000 + clock.microsecond);
  const full = at - sinceFull;
  const lastSet = clock.add({ nanoseconds: 1 }).getTimeZoneTransition('previous');
  const nextSet = clock.getTimeZoneTransition('next');
  const start = lastSet === null || microsOf(lastSet) < full ? full : microsOf(lastSet);
  const end = nextSet === null || microsOf(nextSet) > full + HOUR ? full + HOUR : microsOf(nextSet);
  const local = clockAt(start, clock.timeZoneId).toPlainDateTime().toString({ smallestUnit: 'minute' });
  return { period: local + (clock.offset === '+00:00' ? 'Z' : clock.offset), start, end };
}

/** Every period that shares an instant with a window. */
export function periodsOf(start: bigint, end: bigint, timezone: string, grouping: Grouping): Period[] {
  const periods: Period[] = [];
  for (let at = start; at < end; at = periods.at(-1)?.end ?? end) periods.push(periodOf(at, timezone, grouping));
  return periods;
}

// Decimals are whole numbers of 10^-30.
const PLACES = 30;

function scaled(decimal: string): bigint {
  const [whole = '', fraction = ''] = decimal.split('.');
  return BigInt(whole + fraction.padEnd(PLACES, '0'));
}

function plain(value: bigint): string {
  const digits = value.toString().padStart(PLACES + 1, '0');
  return `${digits.slice(0, -PLACES)}.${digits.slice(-PLACES)}`.replace(/\.?0+$/, '');
}

function byTimeThenId(a: ModelEvent, b: ModelEvent): number {
  if (a.at !== b.at) return a.at < b.at ? -1 : 1;
  return a.id < b.id ? -1 : 1;
}

/** What events are worth under an aggregation. */
export function usageOf(aggregation: AggregationType, events: ModelEvent[]): string | null {
  const quantities = events.map((event) => scaled(event.quantity));
  const sum = quantities.reduce((a, b) => a + b, 0n);
  const isNothing = events.length === 0;
  switch (aggregation) {
    case 'COUNT':
      return String(events.length);
    case 'SUM':
      return plain(sum);
    case 'UNIQUE_COUNT':
      return String(new Set(events.map((event) => event.user)).size);
    case 'MAX':
      return isNothing ? null : plain(quantities.reduce((a, b) => (a > b ? a : b)));
    case 'MIN':
      return isNothing ? null : plain(quantities.reduce((a, b) => (a < b ? a : b)));
    case 'LAST':
      return isNothing ? null : plain(scaled(events.toSorted(byTimeThenId).at(-1)?.quantity ?? ''));
    case 'AVG':
      return isNothing ? null : mean(sum, BigInt(events.length));
  }
}

/** Twelve places, half away from zero; no quantity here has more places than that. */
function mean(sum: bigint, count: bigint): string {
  const unit = 10n ** BigInt(PLACES - 12);
  return plain(((2n * sum + count * unit) / (2n * count * unit)) * unit);
}

export function groupBy<Key>(events: ModelEvent[], keyOf: (event: ModelEvent) => Key): Map<Key, ModelEvent[]> {
  const groups = new Map<Key, ModelEvent[]>();
  for (const event of events) {
    const group = groups.get(keyOf(event));
    if (group === undefined) groups.set(keyOf(event), [event]);
    else group.push(event);
  }
  return groups;
}

/** The customers of events, largest usage first, then by name. */
export function rankingOf(
  aggregation: AggregationType,
  events: ModelEvent[],
): { customer: string; events: ModelEvent[] }[] {
  return rankedBy(aggregation, events, (event) => event.customer).map(({ of, events: own }) => {
    return { customer: of, events: own };
  });
}

/** The groups of events, largest usage first, then by name; what has no name comes last. */
export function rankedBy<Name extends string | null>(
  aggregation: AggregationType,
  events: ModelEvent[],
  nameOf: (event: ModelEvent) => Name,
): { of: Name; events: ModelEvent[] }[] {
  // Averages are compared before they are rounded.
  const valueOf = (own: ModelEvent[]): bigint => {
    const value = scaled(usageOf(aggregation === 'AVG' ? 'SUM' : aggregation, own) ?? '0');
    return aggregation === 'AVG' ? (value * 10n ** 20n) / BigInt(own.length) : value;
  };
  return [...groupBy(events, nameOf)]
    .map(([name, own]) => ({ of: name, events: own }))
    .sort((a, b) => {
      const [left, right] = [valueOf(a.events), valueOf(b.events)];
      if (left !== right) return left > right ? -1 : 1;
      if (a.of === null || b.of === null) return a.of === null ? 1 : -1;
      return a.of < b.of ? -1 : 1;
    });
}
