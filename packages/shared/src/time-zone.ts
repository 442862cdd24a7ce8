import { Temporal } from 'temporal-polyfill';
import type { Micros } from './instant.ts';

export const HOUR: Micros = 3_600_000_000;
export const DAY: Micros = 24 * HOUR;
/** Every zone in use begins its days and hours with one. */
export const QUARTER: Micros = HOUR / 4;

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
 * How the clocks of a zone stand from one instant to another, one span after the other as they are asked for. Whoever has these
 * needs no further look into the time zone database, which costs up to 100 µs each time: arithmetic does the rest. Throws on an
 * unknown zone.
 */
export function* offsetSpans(timeZone: string, from: Micros, to: Micros): Generator<OffsetSpan, void, undefined> {
  let clock = Temporal.Instant.fromEpochMilliseconds(Math.floor(from / 1000)).toZonedDateTimeISO(timeZone);
  let since = -Infinity;
  for (;;) {
    const offset = clock.offsetNanoseconds / 1000;
    const changed = clock.getTimeZoneTransition('next');
    const at = changed === null ? Infinity : changed.epochMilliseconds * 1000;
    if (changed === null || at >= to) return yield { from: since, to: Infinity, offset };
    yield { from: since, to: at, offset };
    [clock, since] = [changed, at];
  }
}

/** Returns what the clocks of a zone show at an instant, as if that were UTC. */
export function localTime(timeZone: string, at: Micros): Micros {
  const clock = Temporal.Instant.fromEpochMilliseconds(Math.floor(at / 1000)).toZonedDateTimeISO(timeZone);
  return at + clock.offsetNanoseconds / 1000;
}

/**
 * The first instant at which the clocks of a zone show a local time or a later one: of an hour that comes twice the first, and
 * of one that is skipped the end of the gap.
 */
export function firstInstant(timeZone: string, local: Micros): Micros {
  // No clock is two days away from UTC, nor set forward by as much.
  for (const span of offsetSpans(timeZone, local - 2 * DAY, local + 2 * DAY)) {
    const at = firstInstantIn(span, local);
    if (at !== undefined) return at;
  }
  throw new Error('the last span has no end');
}

/** The same in one span; undefined where it shows nothing but earlier times. */
export function firstInstantIn({ from, to, offset }: OffsetSpan, local: Micros): Micros | undefined {
  return to + offset > local ? Math.max(from, local - offset) : undefined;
}

/** An offset as ISO 8601 writes it: `Z`, `+05:30`, and with seconds where a zone has them (Monrovia, until 1972). */
export function offsetText(offset: Micros): string {
  if (offset === 0) return 'Z';
  const seconds = Math.abs(offset) / 1_000_000;
  const parts = [seconds / 3600, (seconds / 60) % 60, ...(seconds % 60 === 0 ? [] : [seconds % 60])];
  return (offset < 0 ? '-' : '+') + parts.map((part) => String(Math.floor(part)).padStart(2, '0')).join(':');
}
