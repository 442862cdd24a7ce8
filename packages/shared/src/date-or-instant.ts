import { isoOf, microsOf, parseInstant, type Micros } from './instant.ts';
import { YEARS } from './limits.ts';
import { DAY, firstInstant } from './time-zone.ts';

/** Whether a text has the form of a date, `2026-11-24`. There may be no such date. */
export function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text);
}

/** Of a date, the instant at which it begins in UTC. */
function parse(text: string): ReturnType<typeof parseInstant> {
  return parseInstant(isDate(text) ? `${text}T00:00Z` : text);
}

/** Returns why a text is no date and no ISO 8601 time with its offset of the years of {@link YEARS}; undefined where it is one. */
export function problemOfDateOrInstant(text: string): string | undefined {
  const instant = parse(text);
  if ('problem' in instant)
    return isDate(text) ? 'is not a date of the calendar' : `${instant.problem}; or a date, such as 2026-01-31`;
  const year = Number(text.slice(0, 4));
  return year < YEARS.min || year > YEARS.max ? `must be in the years ${YEARS.min} to ${YEARS.max}` : undefined;
}

/** The same of what is to be a date, such as `2026-11-24`. */
export function problemOfDate(text: string): string | undefined {
  return isDate(text) ? problemOfDateOrInstant(text) : 'must be a date such as 2026-11-24';
}

/** The instant that such a text means: of a date its first instant in the time zone. Throws where it is neither. */
export function microsInZone(text: string, timeZone: string): Micros {
  const instant = parse(text);
  if ('problem' in instant) throw new Error(`neither a date nor an instant: ${text}`);
  return isDate(text) ? firstInstant(timeZone, microsOf(instant)) : microsOf(instant);
}

/** The same where it is an end: of a date the first instant of the next one, so that the day is in. */
export function endMicrosInZone(text: string, timeZone: string): Micros {
  const at = microsInZone(text, 'UTC');
  return isDate(text) ? firstInstant(timeZone, at + DAY) : at;
}

/** {@link microsInZone} as ISO 8601 UTC. */
export function instantInZone(text: string, timeZone: string): string {
  return isoOf(microsInZone(text, timeZone));
}

/** {@link endMicrosInZone} as ISO 8601 UTC. */
export function endInZone(text: string, timeZone: string): string {
  return isoOf(endMicrosInZone(text, timeZone));
}
