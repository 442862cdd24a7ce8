// What the usage API answers, at the end and on the way.

import type { AggregationType } from '@weir/shared/meter';
import { Check } from './check.ts';
import { decimalOf, meanOf, unitsOf } from './exact.ts';
import type { CorrectionFact, Facts } from './history-facts.ts';
import type { StoredEvent, StoredState } from './stored-state.ts';

/** What the API says of one meter over a window that holds the whole run. */
export interface UsageReading {
  organization: number;
  meter: number;
  /** Undefined for all customers. */
  customer?: string;
  /** Undefined for all regions. */
  region?: string;
  total: string | null;
  count: number;
  buckets: UsageBucket[];
}

interface UsageBucket {
  /** The hour or the day: as much of a point in time as is the same in all of it, `2026-11-20T10` or `2026-11-20`. */
  period: string;
  usage: string | null;
  count: number;
}

/** The API answers exactly what the acknowledged events add up to, in all and in every bucket. */
export function usageEqualsAcknowledged(facts: Facts, acknowledged: StoredEvent[], readings: UsageReading[]): Check {
  const check = new Check(
    'usage',
    'The usage API tells, of each meter, of each of its customers and of each region, in all and by the hour or the day, what was sent in the events that were acknowledged, or taken without an answer.',
  );
  const events = groupBy(acknowledged, ({ region, ...event }) => {
    const { organization, meter } = event;
    return [
      nameOf({ organization, meter }),
      nameOf(event),
      ...(region === undefined ? [] : [nameOf({ organization, meter, region })]),
    ];
  });
  for (const reading of readings) {
    const { organization, meter, total, count, buckets } = reading;
    const name = nameOf(reading);
    const aggregation = facts.organizations[organization]?.meters[meter]?.aggregation ?? 'SUM';
    const counted = events.get(name) ?? [];
    const compare = (of: string, answered: Omit<UsageBucket, 'period'>, expected: StoredEvent[]) => {
      check.examine();
      const usage = usageOf(aggregation, expected);
      if (answered.count === expected.length && answered.usage === usage) return;
      check.violate(
        `${aggregation} of ${of} is answered ${answered.usage} of ${answered.count} events; it is ${usage} of ${expected.length}`,
      );
    };
    compare(name, { usage: total, count }, counted);
    const digits = buckets[0]?.period.length ?? 0;
    const byPeriod = groupBy(counted, ({ timestamp }) => [timestamp.slice(0, digits)]);
    for (const bucket of buckets) {
      compare(`${name} in ${bucket.period}`, bucket, byPeriod.get(bucket.period) ?? []);
      byPeriod.delete(bucket.period);
    }
    for (const [period, left] of byPeriod)
      check.violate(`${left.length} events of ${name} in ${period} are in no bucket`);
  }
  return check;
}

/** Of whom usage is told. */
function nameOf({ organization, meter, customer, region }: Omit<UsageReading, 'total' | 'count' | 'buckets'>): string {
  const part = region === undefined ? (customer ?? '') : `region ${region}`;
  return `${organization} ${meter} ${part}`.trimEnd();
}

function groupBy(
  events: readonly StoredEvent[],
  namesOf: (event: StoredEvent) => string[],
): Map<string, StoredEvent[]> {
  const groups = new Map<string, StoredEvent[]>();
  for (const event of events) {
    for (const name of namesOf(event)) {
      const group = groups.get(name);
      if (group === undefined) groups.set(name, [event]);
      else group.push(event);
    }
  }
  return groups;
}

/** What a meter reads of these events, in the judge's own arithmetic; null where it reads nothing. */
export function usageOf(aggregation: AggregationType, events: readonly StoredEvent[]): string | null {
  const quantities = events.map(({ quantity }) => unitsOf(quantity));
  const sum = quantities.reduce((total, quantity) => total + quantity, 0n);
  const isNothing = events.length === 0;
  switch (aggregation) {
    case 'COUNT':
      return String(events.length);
    case 'UNIQUE_COUNT':
      return String(new Set(events.map(({ userId }) => String(userId))).size);
    case 'SUM':
      return decimalOf(sum);
    case 'MAX':
      return isNothing ? null : decimalOf(quantities.reduce((a, b) => (a > b ? a : b)));
    case 'MIN':
      return isNothing ? null : decimalOf(quantities.reduce((a, b) => (a < b ? a : b)));
    case 'AVG':
      return isNothing ? null : decimalOf(meanOf(sum, BigInt(events.length)));
    case 'LAST':
      return isNothing ? null : decimalOf(unitsOf(events.reduce((a, b) => (isLater(a, b) ? a : b)).quantity));
  }
}

function isLater(a: StoredEvent, b: StoredEvent): boolean {
  return a.timestamp > b.timestamp || (a.timestamp === b.timestamp && a.id > b.id);
}

/** Whoever reads twice never sees less the second time, and never more than there is in the end. */
export function usageOnlyGrows(facts: Facts, state: StoredState): Check {
  const check = new Check(
    'usage grows',
    'A read of usage never counts fewer events than one that was answered before it was sent, but for those that were voided since, nor more than there are.',
  );
  const totals = new Map<string, number>();
  for (const { organization, meter } of [...state.events, ...state.amended]) {
    const name = `${organization} ${meter}`;
    totals.set(name, (totals.get(name) ?? 0) + 1);
  }
  const voided = new Map<string, CorrectionFact[]>();
  for (const { id, organization, meter } of state.events) {
    const correction = state.corrections.has(id) ? facts.corrections.get(id) : undefined;
    if (correction === undefined) continue;
    const name = `${organization} ${meter}`;
    const ofMeter = voided.get(name);
    if (ofMeter === undefined) voided.set(name, [correction]);
    else ofMeter.push(correction);
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
    const corrections = voided.get(name) ?? [];
    const voidedBefore = (at: number) => corrections.filter(({ madeAt = Infinity }) => madeAt < at).length;
    // With what was void by then: that is not taken off again.
    let seen = 0;
    let next = 0;
    for (const read of reads.toSorted((a, b) => a.sentAt - b.sentAt)) {
      check.examine();
      for (; next < answered.length && (answered[next]?.at ?? Infinity) < read.sentAt; next += 1) {
        const earlier = answered[next];
        if (earlier !== undefined) seen = Math.max(seen, earlier.count + voidedBefore(earlier.sentAt));
      }
      const voids = corrections.filter(({ sentAt }) => sentAt <= read.at).length;
      if (read.count < seen - voids)
        check.violate(
          `meter ${name} had ${seen} events, ${voids} of which were voided, and then ${read.count}, at ${read.sentAt} ms`,
        );
      if (read.count > total)
        check.violate(`meter ${name} had ${read.count} events at ${read.at} ms, and ${total} in the end`);
    }
  }
  return check;
}
