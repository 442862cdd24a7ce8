import { Temporal } from 'temporal-polyfill';
import type { Micros } from './instant.ts';

export const HOUR: Micros = 3_600_000_000;
export const DAY: Micros = 24 * HOUR;
export const DAY_MS = DAY / 1000;
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
 * How the clocks of a zone stand from one instant to another, one span after the other as they are asked for. Throws on an unknown
 * zone.
 */
export function* offsetSpans(timeZone: string, from: Micros, to: Micros): Generator<OffsetSpan, void, undefined> {
  let open: OffsetSpan | undefined;
  for (let stretch = Math.floor(from / STRETCH); stretch * STRETCH < to || open === undefined; stretch += 1) {
    for (const span of spansOf(timeZone, stretch)) {
      if (span.to <= from) continue;
      if (open === undefined) open = { ...span, from: -Infinity };
      else if (span.from >= to) break;
      else if (open.offset !== span.offset) {
        yield { ...open, to: span.from };
        open = span;
      }
    }
  }
  yield { ...open, to: Infinity };
}

/** Returns what the clocks of a zone show at an instant, as if that were UTC. Throws on an unknown zone. */
export function localTime(timeZone: string, at: Micros): Micros {
  for (const { offset } of offsetSpans(timeZone, at, at)) return at + offset;
  throw new Error('no clock shows a time');
}

/** What is kept of a zone at once: its clocks are set some times in it at most. */
const STRETCH = 365 * DAY;

/** Of all zones, some tens of years each; each takes about a hundred bytes. */
const STRETCHES_MAX = 20_000;

/** The time zone database takes up to 100 µs for a look, and counting the days of some years takes thousands of looks. */
const stretches = new Map<string, OffsetSpan[]>();

/** How the clocks of a zone stand throughout a stretch, from its beginning to its end. */
function spansOf(timeZone: string, stretch: number): OffsetSpan[] {
  const key = `${timeZone} ${stretch}`;
  const known = stretches.get(key);
  if (known !== undefined) return known;
  const [spans, end] = [[] as OffsetSpan[], (stretch + 1) * STRETCH];
  for (let from = stretch * STRETCH; from < end;) {
    const clock = Temporal.Instant.fromEpochMilliseconds(from / 1000).toZonedDateTimeISO(timeZone);
    const changed = clock.getTimeZoneTransition('next');
    const to = changed === null ? end : Math.min(end, changed.epochMilliseconds * 1000);
    spans.push({ from, to, offset: clock.offsetNanoseconds / 1000 });
    from = to;
  }
  if (stretches.size >= STRETCHES_MAX) stretches.clear();
  stretches.set(key, spans);
  return spans;
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
