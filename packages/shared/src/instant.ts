/** A point in time to the microsecond, which is what Postgres holds. */
export interface Instant {
  /** ISO 8601 UTC, with 3 digits after the second where those suffice and 6 where not: `2026-01-31T23:59:59.000Z`. */
  text: string;
  /** Whole milliseconds since 1970, rounded down. */
  epochMs: number;
}

const ISO = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?(?:[Zz]|([+-])(\d\d)(?::?(\d\d))?)$/;
const WITHOUT_OFFSET = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/;

/**
 * Reads an ISO 8601 date and time with an offset. Digits past the microsecond are cut, never rounded, so an event never
 * moves into the next period. Answers the instant, or says in a sentence what is wrong.
 */
export function parseInstant(text: string): Instant | { problem: string } {
  const match = ISO.exec(text);
  if (match === null) {
    return WITHOUT_OFFSET.test(text)
      ? { problem: 'must say its offset from UTC: end it in Z or in an offset such as +02:00' }
      : { problem: 'must be ISO 8601 with an offset, such as 2026-01-31T09:30:00Z or 2026-01-31T09:30:00.25+02:00' };
  }
  const [, year, month, day, hour, minute, second = '00', fraction = '', sign, offsetHour = '00', offsetMinute = '00'] =
    match;
  const micros = fraction.slice(0, 6).padEnd(6, '0');
  const local = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
  const there =
    Number(hour) < 24 &&
    Number(minute) < 60 &&
    Number(second) < 60 &&
    Number(offsetHour) < 24 &&
    Number(offsetMinute) < 60;
  // Date.UTC takes 30 February for 2 March, and the years 0 to 99 for 1900 to 1999: what comes back must be what was written.
  if (!there || !new Date(local).toISOString().startsWith(`${year}-${month}-${day}T`)) {
    return { problem: 'is not a date and time of the calendar' };
  }
  const offsetMs = (Number(offsetHour) * 60 + Number(offsetMinute)) * 60_000 * (sign === '-' ? -1 : 1);
  const epochMs = local - offsetMs + Number(micros.slice(0, 3));
  return instantOf(epochMs, micros.slice(3));
}

/** The instant at a whole millisecond, with the three digits of its microseconds where it has them. */
export function instantOf(epochMs: number, microDigits = '000'): Instant {
  const iso = new Date(epochMs).toISOString();
  return { epochMs, text: microDigits === '000' ? iso : `${iso.slice(0, -1)}${microDigits}Z` };
}
