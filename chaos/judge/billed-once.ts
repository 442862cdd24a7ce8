// That billing skips nothing and does nothing twice: boundaries, invoices, their numbers, and the feed.

import { listsBy, type BillingState, type StoredPeriod, type StoredSubscription } from './billing-state.ts';
import { Check } from './check.ts';
import type { Facts } from './history-facts.ts';

const DAY_MS = 86_400_000;

/** One invoice for each subscription and cycle, and nothing left to do when the time of billing has stopped. */
export function invoicesAreMadeOnce({ invoices, subscriptions }: BillingState): Check {
  const check = new Check(
    'one invoice',
    'A subscription has one invoice for each cycle, numbered in the order of the cycles, and nothing that is due is left.',
  );
  for (const { id, isDue } of subscriptions) if (isDue) check.violate(`subscription ${id} is past its boundary`);
  for (const { id, isDue } of invoices) if (isDue) check.violate(`invoice ${id} is a draft past its grace`);
  for (const [subscription, own] of listsBy(invoices, (invoice) => invoice.subscription)) {
    let [cycle, number] = [-1, ''];
    for (const invoice of own
      .filter((each) => each.cycle !== null)
      .toSorted((a, b) => (a.cycle ?? 0) - (b.cycle ?? 0))) {
      check.examine();
      if (invoice.cycle === cycle) check.violate(`subscription ${subscription} has two invoices of cycle ${cycle}`);
      if (invoice.number !== null && numberOf(invoice.number) < numberOf(number))
        check.violate(`${invoice.number} of subscription ${subscription} comes after ${number}`);
      cycle = invoice.cycle ?? 0;
      number = invoice.number ?? number;
    }
  }
  return check;
}

/** `INV-2021-000042` is 202100000042. */
function numberOf(number: string): number {
  const [, year = '0', count = '0'] = /-(\d{4})-(\d+)$/.exec(number) ?? [];
  return Number(year) * 1e8 + Number(count);
}

/** The numbers of an organization and year have no gap, and none is there twice. */
export function numbersHaveNoGap({ invoices }: BillingState): Check {
  const check = new Check(
    'invoice numbers',
    'Every invoice that is finalized has a number, no draft has one, and those of an organization and year count from 1 without a gap.',
  );
  for (const { id, status, number } of invoices)
    if ((status === 'DRAFT') !== (number === null))
      check.violate(`invoice ${id} is ${status} with the number ${number}`);
  const yearOf = (organization: number, number: string) =>
    `${organization} ${number.slice(0, number.lastIndexOf('-'))}`;
  const numbered = listsBy(invoices, ({ organization, number }) =>
    number === null ? undefined : yearOf(organization, number),
  );
  for (const [year, own] of numbered) {
    let last = 0;
    for (const number of own.map((invoice) => numberOf(invoice.number ?? '') % 1e8).toSorted((a, b) => a - b)) {
      check.examine();
      if (number !== last + 1) check.violate(`after number ${last} of ${year} comes ${number}`);
      last = number;
    }
  }
  return check;
}

/** Periods tile the time, and end at midnights of their zone. */
export function periodsTile({ subscriptions, periods }: BillingState): Check {
  const check = new Check(
    'periods',
    'The periods of a subscription follow each other from its start, and each ends at a midnight of its zone, a day or a week of dates later, or where it was cancelled.',
  );
  const own = listsBy(periods, ({ subscription }) => subscription);
  for (const subscription of subscriptions) {
    const { id, cycle, billedFrom } = subscription;
    let [end, next] = [billedFrom, 0];
    for (const period of (own.get(id) ?? []).toSorted((a, b) => a.cycle - b.cycle)) {
      check.examine();
      if (period.cycle !== next)
        check.violate(`cycle ${period.cycle} of subscription ${id} comes where ${next} is to be`);
      if (period.start !== end)
        check.violate(`cycle ${period.cycle} of subscription ${id} begins at ${period.start}, not ${end}`);
      if (!endsRightly(subscription, period))
        check.violate(`cycle ${period.cycle} of subscription ${id}, from ${period.start}, ends at ${period.end}`);
      [end, next] = [period.end, period.cycle + 1];
    }
    if ((cycle ?? -1) !== next - 1) check.violate(`subscription ${id} is in cycle ${cycle} and has ${next} periods`);
  }
  return check;
}

function endsRightly({ timeZone, endedAt }: StoredSubscription, { start, end }: StoredPeriod): boolean {
  if (end === endedAt) return end >= start;
  const [from, to] = [localTime(start, timeZone), localTime(end, timeZone)];
  const days = Math.round((Date.parse(`${to.date}T00:00:00Z`) - Date.parse(`${from.date}T00:00:00Z`)) / DAY_MS);
  return to.time === '00:00:00' && days >= 1 && days <= 7;
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

/** The feed counts without a gap, and whoever followed it was shown what stands there now. */
export function feedHasNoGap({ feed }: BillingState, { billing }: Facts): Check {
  const check = new Check(
    'feed',
    'The feed of an organization counts from 1 without a gap, and every page that was read held the next events, as they stand there now.',
  );
  const types = new Map<string, string>();
  const last = new Map<number, number>();
  for (const { organization, sequence, type } of feed.toSorted((a, b) => a.sequence - b.sequence)) {
    check.examine();
    const before = last.get(organization) ?? 0;
    if (sequence !== before + 1)
      check.violate(`after event ${before} of organization ${organization} comes ${sequence}`);
    last.set(organization, sequence);
    types.set(`${organization} ${sequence}`, type);
  }
  for (const { operation, organization, subject, status, body, at } of billing) {
    if (operation !== 'feed' || status !== 200) continue;
    let before = Number(subject);
    for (const { sequence, type } of body as { sequence: number; type: string }[]) {
      check.examine();
      if (sequence !== before + 1)
        check.violate(`organization ${organization} read event ${sequence} after ${before}, at ${at} ms`);
      if (types.get(`${organization} ${sequence}`) !== type)
        check.violate(
          `event ${sequence} of organization ${organization} was ${type} at ${at} ms, and is ${types.get(`${organization} ${sequence}`)}`,
        );
      before = sequence;
    }
  }
  return check;
}
