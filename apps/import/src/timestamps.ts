import { Temporal } from 'temporal-polyfill';

export interface TimestampFormat {
  /** Where clocks without an offset are read: `UTC` or an IANA name. */
  timezone: string;
  /** The unit of a bare number, since 1970; without it, a number is no timestamp. */
  unit?: 's' | 'ms' | undefined;
}

const isoPattern =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::(\d{2}(?:[.,]\d+)?))?)?(?: ?(Z|UTC|[+-]\d{2}(?::?\d{2})?))?$/i;

/**
 * The timestamp as ISO 8601 with an offset and all its digits, undefined when it cannot be read. A date alone is its
 * first moment. Of a local time that comes twice when clocks go back, the first is taken; one that clocks skip is none.
 */
export function parseTimestamp(text: string, { timezone, unit }: TimestampFormat): string | undefined {
  if (unit) return fromEpoch(text, unit);
  const match = isoPattern.exec(text);
  if (!match) return undefined;
  const [, date, minutes = '00:00', seconds = '00', zone] = match;
  const local = `${date}T${minutes}:${seconds.replace(',', '.')}`;
  const offset = zone === undefined ? offsetAt(local.slice(0, 19), timezone) : normalizeOffset(zone);
  return offset === undefined ? undefined : `${local}${offset}`;
}

/** Whether the name is one that clocks can be read in. */
export function isTimezone(name: string): boolean {
  try {
    Temporal.Now.zonedDateTimeISO(name);
    return true;
  } catch {
    return false;
  }
}

function normalizeOffset(zone: string): string {
  if (/^(?:z|utc)$/i.test(zone)) return 'Z';
  return `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '') || '00'}`;
}

function offsetAt(local: string, timezone: string): string | undefined {
  if (timezone === 'UTC') return 'Z';
  try {
    const clock = Temporal.PlainDateTime.from(local);
    const instant = clock.toZonedDateTime(timezone, { disambiguation: 'earlier' });
    return instant.toPlainDateTime().equals(clock) ? instant.offset : undefined;
  } catch {
    return undefined;
  }
}

/** Works on the digits, since a double does not hold microseconds since 1970 exactly. */
function fromEpoch(text: string, unit: 's' | 'ms'): string | undefined {
  const match = /^(\d{1,14})(?:\.(\d+))?$/.exec(text);
  if (!match) return undefined;
  const whole = unit === 's' ? match[1]! : match[1]!.slice(0, -3) || '0';
  const fraction = `${unit === 's' ? '' : match[1]!.slice(-3).padStart(3, '0')}${match[2] ?? ''}`;
  const seconds = new Date(Number(whole) * 1000);
  if (Number.isNaN(seconds.getTime())) return undefined;
  return seconds.toISOString().replace('.000Z', fraction === '' ? 'Z' : `.${fraction}Z`);
}
