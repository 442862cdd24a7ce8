// What alerts are held against, by the events of the history: usage of a customer in a period. Only meters of which usage never falls by
// another event are watched, so what counts for good is the least that whoever looked later has read.

import type { AggregationType } from '@weir/shared/meter';
import { ZONES } from '../clients/made-billing.ts';
import type { AlertFact } from '../history.ts';
import type { SentUsage } from './billed-usage.ts';
import { monthOf } from './billing-schedule.ts';
import { dueName, dueOf, listsBy, type BillingState, type StoredDue } from './billing-state.ts';
import type { Facts } from './history-facts.ts';
import type { StoredEvent } from './stored-state.ts';

const HOUR_MS = 3_600_000;

/** An event that comes late for a period crosses it for so long. */
const AFTER_END_MS = 24 * HOUR_MS;

/** Less than that: while the time of billing is being stopped, some seconds of the clock may pass. */
const STOPPING_MS = 12 * HOUR_MS;

export interface KnownAlert extends AlertFact {
  organization: number;
  /** When it was answered; 0: before the first event. */
  madeAt: number;
  /** That of the meter; of an amount, that of the one whose units cost 1. */
  aggregation: AggregationType;
  counted: number;
}

/** Usage of which an alert has told when it had reached a threshold. */
export interface WatchedUsage {
  alert: KnownAlert;
  customer: string;
  /** Null: a month of the calendar. */
  subscription: string | null;
  start: string;
  /** All that count for good, and were there in time. */
  events: StoredEvent[];
}

/** The alerts that the history tells of. */
export function knownAlerts({ organizations, billing }: Facts): KnownAlert[] {
  const known = (organization: number, madeAt: number, alert: AlertFact): KnownAlert => {
    const { meters = [] } = organizations[organization] ?? {};
    const counted = alert.meter ?? meters.findIndex(({ aggregation }) => aggregation === 'SUM');
    return { ...alert, organization, madeAt, counted, aggregation: meters[counted]?.aggregation ?? 'SUM' };
  };
  const first = organizations.flatMap(({ index, alerts }) => alerts.map((alert) => known(index, 0, alert)));
  const later = billing.filter(({ subject, status }) => status === 201 && subject.startsWith('alert '));
  return [
    ...first,
    ...later.map(({ organization, at, body }) => {
      const { meters = [], customers = [] } = organizations[organization] ?? {};
      const { id, meter_id, customer_id, thresholds } = body as Record<'id' | 'meter_id' | 'customer_id', string> &
        Pick<AlertFact, 'thresholds'>;
      const meter = meter_id === null ? null : meters.findIndex((each) => each.id === meter_id);
      const customer = customers.find((each) => each.id === customer_id)?.externalId ?? null;
      return known(organization, at, { id, meter, customer, thresholds });
    }),
  ];
}

/** The instant at which the time of billing was stopped, in milliseconds since 1970. */
const stopOf = ({ billingTime }: Facts): number => billingTime.at(-1)?.instant ?? 0;

/** What the time of billing was at a time of the run. */
function instantAt({ billingTime }: Facts, at: number): number {
  const [begin, end] = [billingTime[0], billingTime.at(-1)];
  if (begin === undefined || end === undefined || end.at === begin.at) return 0;
  return begin.instant + ((at - begin.at) * (end.instant - begin.instant)) / (end.at - begin.at);
}

/** All that is sure to have been looked at. */
export function watchedUsage(state: BillingState, facts: Facts, sent: SentUsage): WatchedUsage[] {
  const dues = state.dues.filter(({ meter }) => meter !== -1);
  const periodOf = new Map(state.periods.map((period) => [`${period.subscription} ${period.cycle}`, period]));
  const closings = closingsInTime(state, dues);
  return knownAlerts(facts).flatMap((alert) => {
    const { plans = [] } = facts.organizations[alert.organization] ?? {};
    const own = dues.filter((due) => due.organization === alert.organization && due.meter === alert.counted);
    const inPeriods = own.flatMap((due): WatchedUsage[] => {
      const { customer, subscription } = due;
      const period = periodOf.get(`${subscription} ${due.cycle}`);
      if (period === undefined || (alert.customer !== null && alert.customer !== customer)) return [];
      // Of other plans only Weir says what usage comes to.
      if (alert.meter === null && period.plan !== plans.at(-1)) return [];
      // What was over when it was made is not told of. It was made a moment before it was answered.
      if (alert.madeAt > 0 && Date.parse(period.end) <= instantAt(facts, alert.madeAt)) return [];
      const isWatched = Date.parse(period.end) + STOPPING_MS > stopOf(facts);
      // What was there before the alert is looked at once that was made, which may be late for this period.
      const closing = alert.madeAt === 0 ? closings.get(dueName(due)) : undefined;
      if (!isWatched && closing === undefined) return [];
      const events = sent
        .eventsOf(due)
        .filter((event) => sent.isCounted(event, null) && (isWatched || sent.isCounted(event, closing ?? 0)));
      return [{ alert, customer, subscription, start: period.start, events }];
    });
    return alert.meter === null ? inPeriods : [...inPeriods, ...inMonths(facts, sent, alert)];
  });
}

/** By due, the last of the closings that were over while its period was looked at: what counts there was recorded in time. */
function closingsInTime({ lines, invoices }: BillingState, dues: readonly StoredDue[]): Map<string, number> {
  const finalizedAt = new Map(invoices.map((invoice) => [invoice.id, invoice.finalizedAt]));
  const linesOf = listsBy(lines, dueOf);
  return new Map(
    dues.flatMap((due) => {
      const until = Date.parse(due.end) + AFTER_END_MS;
      const inTime = (linesOf.get(dueName(due)) ?? []).flatMap(({ invoice, closing }) => {
        const at = finalizedAt.get(invoice) ?? null;
        return closing !== null && at !== null && Date.parse(at) <= until ? [closing] : [];
      });
      return inTime.length === 0 ? [] : [[dueName(due), Math.max(...inTime)] as const];
    }),
  );
}

/** Of customers without a record, who have no subscription: usage of the month that is open in the end. */
function inMonths(facts: Facts, sent: SentUsage, alert: KnownAlert): WatchedUsage[] {
  if (alert.customer !== null) return [];
  const { organization, counted: meter } = alert;
  const known = new Set(facts.organizations[organization]?.customers.map(({ externalId }) => externalId));
  const month = monthOf(stopOf(facts), ZONES[0]);
  return sent.customersOf(organization, meter).flatMap((customer) => {
    if (known.has(customer)) return [];
    const events = sent
      .eventsOf({ organization, meter, customer, ...month })
      .filter((event) => sent.isCounted(event, null));
    return [{ alert, customer, subscription: null, start: month.start, events }];
  });
}
