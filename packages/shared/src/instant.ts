/** Microseconds since 1970, or between two instants. Every instant up to the year 2255 is a safe integer. */
export type Micros = number;

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
 * moves into the next period. Returns the instant, or says in a sentence what is wrong.
 */
export function parseInstant(text: string): Instant | { problem: string } {
  const epochMsOfText = readMilliseconds(text);
  if (epochMsOfText !== undefined) return { text, epochMs: epochMsOfText };
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

const DIGITS_AT = [0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18, 20, 21, 22];

/** Milliseconds since 1970 of a time in the form in which JavaScript writes it, as most clients do; undefined for any other. */
function readMilliseconds(text: string): number | undefined {
  if (text.length !== 24 || text[4] !== '-' || text[7] !== '-' || text[10] !== 'T') return undefined;
  if (text[13] !== ':' || text[16] !== ':' || text[19] !== '.' || text[23] !== 'Z') return undefined;
  for (const at of DIGITS_AT) if (!isDigit(text.charCodeAt(at))) return undefined;
  const [month, day] = [twoDigits(text, 5), twoDigits(text, 8)];
  const [hour, minute, second] = [twoDigits(text, 11), twoDigits(text, 14), twoDigits(text, 17)];
  // Every month has 28 days. Beyond that, and for what is no time at all, the calendar is asked.
  if (month < 1 || month > 12 || day < 1 || day > 28 || hour > 23 || minute > 59 || second > 59) return undefined;
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2);
  // Date.UTC takes the years 0 to 99 for 1900 to 1999.
  if (year < 100) return undefined;
  return Date.UTC(year, month - 1, day, hour, minute, second, twoDigits(text, 20) * 10 + digit(text.charCodeAt(22)));
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function digit(code: number): number {
  return code - 0x30;
}

function twoDigits(text: string, at: number): number {
  return digit(text.charCodeAt(at)) * 10 + digit(text.charCodeAt(at + 1));
}

/** ISO 8601 UTC, as {@link Instant} has it. */
export function isoOf(at: Micros): string {
  if (at % 1000 === 0) return new Date(at / 1000).toISOString();
  return instantOf(Math.floor(at / 1000), String(((at % 1000) + 1000) % 1000).padStart(3, '0')).text;
}

/** The instant as a number. */
export function microsOf({ epochMs, text }: Instant): Micros {
  return epochMs * 1000 + Number(text.slice(23, -1));
}

/** The number of an instant that is known to be one, as what Postgres gives. Throws on any other text. */
export function microsOfText(text: string): Micros {
  const instant = parseInstant(text);
  if ('problem' in instant) throw new Error(`not an instant: ${text}`);
  return microsOf(instant);
}

/** The instant at a whole millisecond, with the three digits of its microseconds where it has them. */
export function instantOf(epochMs: number, microDigits = '000'): Instant {
  const iso = new Date(epochMs).toISOString();
  return { epochMs, text: microDigits === '000' ? iso : `${iso.slice(0, -1)}${microDigits}Z` };
}
