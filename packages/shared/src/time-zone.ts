import { Temporal } from 'temporal-polyfill';

/** Microseconds since 1970, or between two instants. Every instant up to the year 2255 is a safe integer. */
export type Micros = number;

export const HOUR: Micros = 3_600_000_000;
export const DAY: Micros = 24 * HOUR;

/** A stretch of time throughout which the clocks of a zone are ahead of UTC by the same amount. */
export interface OffsetSpan {
  /** When the clocks were set to this offset; -Infinity where that was before what was asked for. */
  from: Micros;
  to: Micros;
  offset: Micros;
}

/** Whether a text names a time zone of the IANA database. An offset such as `+05:30` does not: it knows no daylight saving. */
export function isTimeZone(text: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(text)) return false;
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * How the clocks of a zone stand from one instant to another. Whoever has these spans needs no further look into the
 * time zone database, which costs 10 µs and more each time: arithmetic does the rest. Throws on an unknown zone.
 */
export function offsetSpans(timeZone: string, from: Micros, to: Micros): OffsetSpan[] {
  let clock = Temporal.Instant.fromEpochMilliseconds(Math.floor(from / 1000)).toZonedDateTimeISO(timeZone);
  let span: OffsetSpan = { from: -Infinity, to: Infinity, offset: clock.offsetNanoseconds / 1000 };
  const spans = [span];
  for (;;) {
    const changed = clock.getTimeZoneTransition('next');
    if (changed === null || changed.epochMilliseconds * 1000 >= to) return spans;
    clock = changed;
    span.to = clock.epochMilliseconds * 1000;
    span = { from: span.to, to: Infinity, offset: clock.offsetNanoseconds / 1000 };
    spans.push(span);
  }
}

/** What the clocks of a zone show at an instant, as if that were UTC. */
export function localTime(timeZone: string, at: Micros): Micros {
  const [span] = offsetSpans(timeZone, at, at);
  return at + (span?.offset ?? 0);
}

/**
 * The first instant at which the clocks show a local time or a later one: of an hour that comes twice the first, and
 * of one that is skipped the end of the gap.
 */
export function firstInstant(spans: OffsetSpan[], local: Micros): Micros {
  const span = spans.find(({ to, offset }) => to + offset > local);
  if (span === undefined) throw new Error('the last span has no end');
  return Math.max(span.from, local - span.offset);
}

/** The same for a local time of a zone whose spans are not at hand. */
export function firstInstantIn(timeZone: string, local: Micros): Micros {
  // No clock is two days away from UTC, nor set forward by as much.
  return firstInstant(offsetSpans(timeZone, local - 2 * DAY, local + 2 * DAY), local);
}

/** An offset as ISO 8601 writes it: `Z`, `+05:30`, and with seconds where a zone has them (Monrovia, until 1972). */
export function offsetText(offset: Micros): string {
  if (offset === 0) return 'Z';
  const clock = new Date(Math.abs(offset) / 1000).toISOString();
  return (offset < 0 ? '-' : '+') + (offset % 60_000_000 === 0 ? clock.slice(11, 16) : clock.slice(11, 19));
}
