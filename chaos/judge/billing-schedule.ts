// When billing does what it does, by the judge's own calendar. That periods follow each other, and that each boundary has its one
// invoice, is asked of `npm run reconcile`.

import type { BillingState, StoredPeriod, StoredSubscription } from './billing-state.ts';
import { Check } from './check.ts';
import { microsOf } from './exact.ts';

const DAY_MS = 86_400_000;

/** Nothing is left to do when the time of billing has stopped. */
export function nothingIsDue({ invoices, subscriptions }: BillingState): Check {
  const check = new Check('billed in time', 'No boundary of a subscription and no grace of a draft is past.');
  check.examine(subscriptions.length + invoices.length);
  for (const { id, isDue } of subscriptions) if (isDue) check.violate(`subscription ${id} is past its boundary`);
  for (const { id, isDue } of invoices) if (isDue) check.violate(`invoice ${id} is a draft past its grace`);
  return check;
}

/** Periods end at midnights of their zone. */
export function periodsEndAtMidnights({ subscriptions, periods }: BillingState): Check {
  const check = new Check(
    'periods',
    'Each period ends at a midnight of its zone, a day or a week of dates after its start, or where it was cancelled or changed.',
  );
  const subscriptionOf = new Map(subscriptions.map((subscription) => [subscription.id, subscription]));
  const planOf = new Map(
    periods.map(({ subscription, cycle, start, plan }) => [`${subscription} ${cycle} ${start}`, plan]),
  );
  for (const period of periods) {
    check.examine();
    const { subscription: id, cycle, start, end } = period;
    const subscription = subscriptionOf.get(id);
    // A change of plan ends a period at any instant, and the one of the other plan begins there.
    const next = planOf.get(`${id} ${cycle + 1} ${end}`);
    const isChanged = next !== undefined && next !== period.plan && end >= start;
    if (subscription === undefined || (!isChanged && !endsRightly(subscription, period)))
      check.violate(`cycle ${cycle} of subscription ${id}, from ${start}, ends at ${end}`);
  }
  return check;
}

function endsRightly({ timeZone, endedAt }: StoredSubscription, { start, end }: StoredPeriod): boolean {
  if (end === endedAt) return end >= start;
  const [from, to] = [localTime(start, timeZone), localTime(end, timeZone)];
  const days = Math.round((Date.parse(`${to.date}T00:00:00Z`) - Date.parse(`${from.date}T00:00:00Z`)) / DAY_MS);
  return to.time === '00:00:00' && days >= 1 && days <= 7;
}

/** The month of the calendar that an instant falls into, as the clocks of a zone have it. */
export function monthOf(epochMs: number, timeZone: string): { start: string; end: string } {
  const [year = 0, month = 0] = localTime(new Date(epochMs).toISOString(), timeZone).date.split('-').map(Number);
  return { start: firstOf(year, month, timeZone), end: firstOf(year, month + 1, timeZone) };
}

const HOUR_MS = 3_600_000;

/** When a month begins, in a zone whose clocks differ by whole hours. */
function firstOf(year: number, month: number, timeZone: string): string {
  const midnight = Date.UTC(year, month - 1, 1);
  const date = new Date(midnight).toISOString().slice(0, 10);
  for (let hours = -14; hours <= 14; hours += 1) {
    const instant = new Date(midnight + hours * HOUR_MS).toISOString();
    const local = localTime(instant, timeZone);
    if (local.date === date && local.time === '00:00:00') return microsOf(instant);
  }
  throw new RangeError(`${date} has no midnight in ${timeZone}`);
}

const FORMATS = new Map<string, Intl.DateTimeFormat>();

/** Date and time of an instant in a zone. */
function localTime(instant: string, timeZone: string): { date: string; time: string } {
  const format =
    FORMATS.get(timeZone) ??
    new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium', hourCycle: 'h23' });
  FORMATS.set(timeZone, format);
  const [date = '', time = ''] = format.format(new Date(instant)).split(' ');
  return { date, time };
}
