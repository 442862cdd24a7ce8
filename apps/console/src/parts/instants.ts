// Times come from the API in UTC and are shown in a zone. 24 hours, and the day before the month's name: nobody has to guess.

/** The zone of the person who looks. */
export const LOCAL_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** All zones there are, the reader's and UTC first. */
export function timeZones(): string[] {
  return [...new Set([LOCAL_ZONE, 'UTC', ...Intl.supportedValuesOf('timeZone')])];
}

/** `23 Nov 2026, 14:05:09`. */
export function formatInstant(instant: string, zone = LOCAL_ZONE): string {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium', timeZone: zone }).format(
    new Date(instant),
  );
}

/** `23 Nov 2026`. */
export function formatDate(instant: string, zone = LOCAL_ZONE): string {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: zone }).format(new Date(instant));
}

/** `23 Nov 2026`, of a date `2026-11-23`, which is the same in every zone. */
export function formatDay(date: string): string {
  return formatDate(`${date}T00:00:00Z`, 'UTC');
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
