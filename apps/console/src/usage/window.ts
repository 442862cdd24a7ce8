// Which days a look at usage covers, by the address of the page. Pure.

import { addDays, dateIn, daysBetween, isDay, isZone } from '../text/instants.ts';

export const BUCKETS = ['hour', 'day', 'week', 'month'] as const;
export type Bucket = (typeof BUCKETS)[number];

export const BUCKET_WORDS: Record<Bucket, string> = { hour: 'Hour', day: 'Day', week: 'Week', month: 'Month' };

/** Dates in `zone`, both counted in. */
export interface UsageWindow {
  from: string;
  to: string;
  zone: string;
  by: Bucket;
}

export interface Preset {
  value: string;
  label: string;
  dates: (today: string) => { from: string; to: string };
}

const last = (days: number) => (today: string) => ({ from: addDays(today, 1 - days), to: today });

export const PRESETS: Preset[] = [
  { value: 'today', label: 'Today', dates: last(1) },
  { value: '7', label: 'Last 7 days', dates: last(7) },
  { value: '30', label: 'Last 30 days', dates: last(30) },
  { value: '90', label: 'Last 90 days', dates: last(90) },
  { value: 'month', label: 'This month', dates: (today) => ({ from: firstOfMonth(today), to: today }) },
  {
    value: 'last-month',
    label: 'Last month',
    dates: (today) => {
      const end = addDays(firstOfMonth(today), -1);
      return { from: firstOfMonth(end), to: end };
    },
  },
  { value: 'year', label: 'This year', dates: (today) => ({ from: `${today.slice(0, 4)}-01-01`, to: today }) },
];

export function firstOfMonth(date: string): string {
  return `${date.slice(0, 8)}01`;
}

/** The last day of a month, `2026-11`. */
export function lastOfMonth(month: string): string {
  return addDays(firstOfMonth(addDays(`${month}-01`, 31)), -1);
}

interface Address {
  from?: string;
  to?: string;
  zone?: string;
  by?: string;
}

/** Returns the window of an address; what it leaves out, or names and is none, is the last 30 days, and this zone. */
export function windowOf({ from, to, zone: named, by }: Address, otherwise: string, now = new Date()): UsageWindow {
  const zone = named !== undefined && isZone(named) ? named : otherwise;
  const end = to !== undefined && isDay(to) ? to : dateIn(zone, now);
  const start = from !== undefined && isDay(from) ? from : addDays(end, -29);
  const bucket = BUCKETS.find((each) => each === by) ?? bucketFor(daysBetween(start, end));
  return { from: start, to: end, zone, by: bucket };
}

/** Some 20 to 100 points tell most. */
function bucketFor(days: number): Bucket {
  if (days <= 3) return 'hour';
  if (days <= 120) return 'day';
  return days <= 400 ? 'week' : 'month';
}

/** More periods than this a window does not have: a day of 25 hours, and weeks and months that it cuts. */
export function periodsAtMost({ from, to, by }: UsageWindow): number {
  const days = Math.max(daysBetween(from, to), 1);
  return { hour: 25 * days, day: days, week: Math.ceil(days / 7) + 1, month: Math.ceil(days / 28) + 1 }[by];
}

/** As the API takes it. */
export function windowQuery({ from, to, zone }: UsageWindow) {
  return { start_date: from, end_date: to, timezone: zone };
}

/** The same number of days right before. */
export function windowBefore(window: UsageWindow): UsageWindow {
  const days = daysBetween(window.from, window.to);
  return { ...window, from: addDays(window.from, -days), to: addDays(window.from, -1) };
}

/** The preset whose dates these are. */
export function presetOf({ from, to, zone }: UsageWindow, now = new Date()): string | undefined {
  const today = dateIn(zone, now);
  return PRESETS.find(({ dates }) => {
    const preset = dates(today);
    return preset.from === from && preset.to === to;
  })?.value;
}
