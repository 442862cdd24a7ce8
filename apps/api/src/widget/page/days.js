// Windows of time, and days as people write them. Days are those of a time zone; which instants they are is Weir's to know.

/** A window of more days than this is shown by the week, and of more than that by the month. */
const DAYS_MAX = 100;
const WEEKS_MAX_DAYS = 400;

const DAY_MS = 86_400_000;

/** The date in a time zone, as ISO 8601 writes it. */
function dateIn(timezone, instant) {
  const parts = new Intl.DateTimeFormat('en', {
    timeZone: timezone,
    calendar: 'iso8601',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  }).formatToParts(instant);
  const part = (name) => parts.find(({ type }) => type === name).value;
  return `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}`;
}

/** The question for the last so many days, with today as the last of them. */
export function lastDays(days, timezone, now) {
  const today = dateIn(timezone, now);
  const first = new Date(Date.parse(`${today}T00:00:00Z`) - (days - 1) * DAY_MS);
  return { timezone, start_date: first.toISOString().slice(0, 10), end_date: today, group_by: 'day' };
}

/** The question for a billing period as far as it has come. Its days are those of the zone that it is billed in. */
export function periodSoFar({ period_start: start, period_end: end, time_zone: timezone }, now) {
  const last = new Date(Math.min(Date.parse(end), Math.max(now.getTime(), Date.parse(start) + 1))).toISOString();
  const days = (Date.parse(last) - Date.parse(start)) / DAY_MS;
  const grouping = days <= DAYS_MAX ? 'day' : days <= WEEKS_MAX_DAYS ? 'week' : 'month';
  return { timezone, start_date: start, end_date: last, group_by: grouping };
}

/** How the buckets of a chart are written, by the instant at which they begin. */
export function bucketFormats(locale, { timezone, group_by: grouping }) {
  const format = (options) => {
    const made = new Intl.DateTimeFormat(locale, { ...options, timeZone: timezone });
    return (instant) => made.format(new Date(instant));
  };
  return grouping === 'month'
    ? { long: format({ year: 'numeric', month: 'long' }), short: format({ month: 'short' }) }
    : { long: format({ dateStyle: 'medium' }), short: format({ day: 'numeric', month: 'short' }) };
}

/** A date, which is the same in every zone. */
export function dateOf(date, locale) {
  return dayOf(`${date}T00:00:00Z`, 'UTC', locale);
}

/** The day and the time of an instant. */
export function timeOf(instant, timezone, locale) {
  const options = { dateStyle: 'medium', timeStyle: 'medium', timeZone: timezone };
  return new Intl.DateTimeFormat(locale, options).format(new Date(instant));
}

/** The day of an instant. */
export function dayOf(instant, timezone, locale) {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: timezone }).format(new Date(instant));
}
