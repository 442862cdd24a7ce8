// Times come from the API in UTC and are shown in a zone. 24 hours, and the day before the month's name: nobody has to guess.

/** The zone of the person who looks. */
export const LOCAL_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** All zones there are, the reader's and UTC first; and one that stands somewhere, which a browser may list by another of its names. */
export function timeZones(own: string | null): string[] {
  return [...new Set([LOCAL_ZONE, 'UTC', ...(own === null ? [] : [own]), ...Intl.supportedValuesOf('timeZone')])];
}

/** Whether this browser knows a zone of this name. */
export function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).format() !== '';
  } catch {
    return false;
  }
}

/** `23 Nov 2026, 14:05:09`. */
export function formatInstant(instant: string, zone = LOCAL_ZONE): string {
  return format(instant, zone, { dateStyle: 'medium', timeStyle: 'medium' });
}

/** `23 Nov 2026, 14:05`, for what is of whole minutes. */
export function formatMinute(instant: string, zone = LOCAL_ZONE): string {
  return format(instant, zone, { dateStyle: 'medium', timeStyle: 'short' });
}

/** `GMT+2`: which of two hours of one name it is. */
export function formatOffset(instant: string, zone: string): string {
  const parts = new Intl.DateTimeFormat('en-GB', { timeZone: zone, timeZoneName: 'shortOffset' }).formatToParts(
    new Date(instant),
  );
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
}

/** `23 Nov 2026`. */
export function formatDate(instant: string, zone = LOCAL_ZONE): string {
  return format(instant, zone, { dateStyle: 'medium' });
}

/** `Nov 2026`. */
export function formatMonth(instant: string, zone = LOCAL_ZONE): string {
  return format(instant, zone, { month: 'short', year: 'numeric' });
}

/** `23 Nov 2026`, of a date `2026-11-23`, which is the same in every zone. */
export function formatDay(date: string): string {
  return formatDate(`${date}T00:00:00Z`, 'UTC');
}

/** The days from one instant to before another, both counted: `1 Nov 2026 – 30 Nov 2026`. One day is told once, also where no time is between. */
export function formatDays(start: string, end: string, zone = LOCAL_ZONE): string {
  const first = formatDate(start, zone);
  const last = start === end ? first : formatDate(lastInstantBefore(end), zone);
  return first === last ? first : `${first} – ${last}`;
}

/** The last day that ends, or is cut, at an instant: `30 Nov 2026` of the midnight that December begins with. */
export function formatLastDay(end: string, zone = LOCAL_ZONE): string {
  return formatDate(lastInstantBefore(end), zone);
}

function lastInstantBefore(end: string): string {
  return new Date(Date.parse(end) - 1).toISOString();
}

/** Returns the label of a mark of an axis: the hour, the day or the month, by how far the marks are apart. */
export function formatMark(instant: string, stepSeconds: number, zone: string): string {
  if (stepSeconds >= 28 * 86_400) return formatMonth(instant, zone);
  const time = format(instant, zone, { hour: '2-digit', minute: '2-digit' });
  const isDay = stepSeconds >= 86_400 || time === '00:00';
  return isDay ? format(instant, zone, { day: 'numeric', month: 'short' }) : time;
}

function format(instant: string, timeZone: string, options: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat('en-GB', { ...options, timeZone }).format(new Date(instant));
}

/** The first instant of a date, `2026-11-23`, in a zone; where its midnight is skipped, that of the clock after it. */
export function startOfDay(date: string, zone: string): string {
  const midnight = Date.parse(`${date}T00:00:00Z`);
  // The offset may change on that day: the one that is right holds at the instant that it leads to.
  const before = midnight - offsetMs(midnight - 86_400_000, zone);
  const after = midnight - offsetMs(midnight + 86_400_000, zone);
  const found = [Math.min(before, after), Math.max(before, after)].find((at) => at + offsetMs(at, zone) === midnight);
  return new Date(found ?? Math.max(before, after)).toISOString();
}

/** By how much the clocks of a zone are ahead of UTC at an instant. */
function offsetMs(at: number, timeZone: string): number {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  }).formatToParts(at);
  const part = (type: string): string => parts.find((each) => each.type === type)?.value ?? '00';
  const date = `${part('year')}-${part('month')}-${part('day')}`;
  return Date.parse(`${date}T${part('hour')}:${part('minute')}:${part('second')}Z`) - Math.floor(at / 1_000) * 1_000;
}

const STEPS: [limitSeconds: number, seconds: number, unit: Intl.RelativeTimeFormatUnit][] = [
  [60, 1, 'second'],
  [3_600, 60, 'minute'],
  [86_400, 3_600, 'hour'],
  [30 * 86_400, 86_400, 'day'],
];

/** `5 minutes ago`; a date where it is more than a month. */
export function formatAgo(instant: string, now = Date.now()): string {
  const seconds = (Date.parse(instant) - now) / 1_000;
  const step = STEPS.find(([limit]) => Math.abs(seconds) < limit);
  if (step === undefined) return formatDate(instant);
  return new Intl.RelativeTimeFormat('en', { numeric: 'auto' }).format(Math.round(seconds / step[1]), step[2]);
}

/** The date, `2026-11-23`, that an instant has in a zone. */
export function dateIn(zone: string, instant: Date): string {
  const parts = new Intl.DateTimeFormat('en-CA', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' });
  return parts.format(instant);
}

/** Whether a text is a date of the calendar. */
export function isDay(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && readDay(text) === text;
}

const MONTHS = 'january february march april may june july august september october november december'.split(' ');

/**
 * Returns the date, `2026-11-23`, that a person has written: `23 Nov 2026`, `Nov 23, 2026`, `2026-11-23` or `23.11.2026`. Undefined for
 * what is no day, and for `11/12/2026`, which is two of them.
 */
export function readDay(text: string): string | undefined {
  const plain = text.trim().toLowerCase();
  const [, year, month, day] = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(plain) ?? [];
  if (year !== undefined) return dayOf(year, month, day);
  const [, dottedDay, dottedMonth, dottedYear] = /^(\d{1,2})\. ?(\d{1,2})\. ?(\d{4})$/.exec(plain) ?? [];
  if (dottedYear !== undefined) return dayOf(dottedYear, dottedMonth, dottedDay);
  const named = /^(?:(\d{1,2})\.? ([a-z]{3,})|([a-z]{3,})\.? (\d{1,2}))\.?,? (\d{4})$/.exec(plain);
  if (named === null) return undefined;
  const [, before, nameAfter, nameBefore, after, namedYear] = named;
  const name = nameAfter ?? nameBefore ?? '';
  const index = MONTHS.findIndex((each) => each.startsWith(name));
  return index === -1 ? undefined : dayOf(namedYear, String(index + 1), before ?? after);
}

/** Undefined where the calendar has no such day. */
function dayOf(year = '', month = '', day = ''): string | undefined {
  const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  const at = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(date) ? date : undefined;
}

/** The date that is so many days after another one. */
export function addDays(date: string, days: number): string {
  const moved = new Date(`${date}T00:00:00Z`);
  moved.setUTCDate(moved.getUTCDate() + days);
  return moved.toISOString().slice(0, 10);
}

/** How many days lie between two dates, both counted. */
export function daysBetween(first: string, last: string): number {
  return Math.round((Date.parse(last) - Date.parse(first)) / 86_400_000) + 1;
}
