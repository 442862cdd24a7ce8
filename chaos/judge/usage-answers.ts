// What the usage API answers, at the end and on the way.

import { Check } from './check.ts';
import { decimalOf, meanOf, unitsOf } from './exact.ts';
import type { Facts } from './history-facts.ts';
import type { State, StoredEvent } from './stored-state.ts';

/** What the API says of one meter over the window that holds the whole run. */
export interface UsageReading {
  organization: number;
  meter: number;
  /** Undefined for all customers. */
  customer?: string;
  total: string | null;
  count: number;
}

/** The API answers exactly what the events add up to. */
export function usageEqualsEvents(facts: Facts, state: State, readings: UsageReading[]): Check {
  const check = new Check(
    'usage',
    'The usage API answers for each meter, in all and by customer, what the raw events add up to.',
  );
  const events = new Map<string, StoredEvent[]>();
  for (const event of state.events) {
    for (const name of [
      `${event.organization} ${event.meter}`,
      `${event.organization} ${event.meter} ${event.customer}`,
    ]) {
      const list = events.get(name);
      if (list === undefined) events.set(name, [event]);
      else list.push(event);
    }
  }
  for (const { organization, meter, customer, total, count } of readings) {
    check.examine();
    const name = customer === undefined ? `${organization} ${meter}` : `${organization} ${meter} ${customer}`;
    const counted = events.get(name) ?? [];
    const aggregation = facts.organizations[organization]?.meters[meter]?.aggregation ?? 'SUM';
    const expected = usageOf(aggregation, counted);
    if (count === counted.length && total === expected) continue;
    check.violate(
      `${aggregation} of ${name} is answered ${total} of ${count} events; it is ${expected} of ${counted.length}`,
    );
  }
  return check;
}

function usageOf(aggregation: string, events: StoredEvent[]): string | null {
  if (aggregation === 'COUNT') return String(events.length);
  if (aggregation === 'UNIQUE_COUNT') return String(new Set(events.map(({ userId }) => String(userId))).size);
  const quantities = events.map(({ quantity }) => unitsOf(quantity));
  const sum = quantities.reduce((total, quantity) => total + quantity, 0n);
  if (aggregation === 'SUM') return decimalOf(sum);
  if (events.length === 0) return null;
  switch (aggregation) {
    case 'MAX':
      return decimalOf(quantities.reduce((a, b) => (a > b ? a : b)));
    case 'MIN':
      return decimalOf(quantities.reduce((a, b) => (a < b ? a : b)));
    case 'AVG':
      return decimalOf(meanOf(sum, BigInt(events.length)));
    case 'LAST':
      return decimalOf(unitsOf(events.reduce((a, b) => (isLater(a, b) ? a : b)).quantity));
    default:
      throw new Error(`the judge does not know the aggregation ${aggregation}`);
  }
}

function isLater(a: StoredEvent, b: StoredEvent): boolean {
  return a.timestamp > b.timestamp || (a.timestamp === b.timestamp && a.id > b.id);
}

/** Whoever reads twice never sees less the second time, and never more than there is in the end. */
export function usageOnlyGrows(facts: Facts, state: State): Check {
  const check = new Check(
    'usage grows',
    'A read of usage never counts fewer events than one that was answered before it was sent, nor more than there are.',
  );
  const totals = new Map<string, number>();
  for (const { organization, meter } of state.events) {
    const name = `${organization} ${meter}`;
    totals.set(name, (totals.get(name) ?? 0) + 1);
  }
  const byMeter = new Map<string, { sentAt: number; at: number; count: number }[]>();
  for (const { organization, subject, sentAt, at, status, body } of facts.usage) {
    if (status !== 200) continue;
    const count = Number((body as { event_count: unknown }).event_count);
    const name = `${organization} ${subject}`;
    byMeter.set(name, [...(byMeter.get(name) ?? []), { sentAt, at, count }]);
  }
  for (const [name, reads] of byMeter) {
    const total = totals.get(name) ?? 0;
    const answered = reads.toSorted((a, b) => a.at - b.at);
    let seen = 0;
    let next = 0;
    for (const read of reads.toSorted((a, b) => a.sentAt - b.sentAt)) {
      check.examine();
      for (; next < answered.length && (answered[next]?.at ?? Infinity) < read.sentAt; next += 1) {
        seen = Math.max(seen, answered[next]?.count ?? 0);
      }
      if (read.count < seen)
        check.violate(`meter ${name} had ${seen} events and then ${read.count}, at ${read.sentAt} ms`);
      if (read.count > total)
        check.violate(`meter ${name} had ${read.count} events at ${read.at} ms, and ${total} in the end`);
    }
  }
  return check;
}
