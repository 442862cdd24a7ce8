// The stretch of time in which usage counts towards a limit. It is counted as periods are, but with an interval of its own.

import type { Micros } from '@weir/shared/instant';
import { DAY, HOUR, offsetSpans } from '@weir/shared/time-zone';
import { addDays, dateOf, firstInstantOfDate } from './local-date.ts';
import { type Calendar, dateOfStep, type Interval, stepOfDate } from './periods.ts';

export interface EntitlementWindow {
  start: Micros;
  /** Null: it never ends. */
  end: Micros | null;
}

/**
 * The window that holds an instant. Windows are counted from the anchor in both directions, so there are some in a trial,
 * which ends on the anchor. `hour`: a whole hour of the local clock, cut where the clock is set; null: all time. None
 * begins before `since`, the start of the subscription. Throws where `at` is before that.
 */
export function entitlementWindow(
  calendar: Omit<Calendar, 'interval'>,
  reset: 'hour' | Interval | null,
  at: Micros,
  since: Micros,
): EntitlementWindow {
  if (at < since) throw new Error('an instant before the subscription is in no window');
  if (reset === null) return { start: since, end: null };
  const { start, end } =
    reset === 'hour' ? hourAt(calendar.timeZone, at) : stepAt({ ...calendar, interval: reset }, at);
  return { start: Math.max(start, since), end };
}

function hourAt(timeZone: string, at: Micros): { start: Micros; end: Micros } {
  for (const { from, to, offset } of offsetSpans(timeZone, at - DAY, at + DAY)) {
    if (at >= to) continue;
    const hour = Math.floor((at + offset) / HOUR) * HOUR - offset;
    return { start: Math.max(from, hour), end: Math.min(to, hour + HOUR) };
  }
  throw new Error('the last span has no end');
}

function stepAt(calendar: Calendar, at: Micros): { start: Micros; end: Micros } {
  const { timeZone, interval } = calendar;
  const date = dateOf(timeZone, at);
  const first = (date: string): Micros => firstInstantOfDate(timeZone, date);
  // A date that was left out begins with the next one: no need to count them.
  if (interval === 'day') return { start: first(date), end: first(addDays(date, 1)) };
  const steps = stepOfDate(calendar, date);
  return { start: first(dateOfStep(calendar, steps)), end: first(dateOfStep(calendar, steps + 1)) };
}
