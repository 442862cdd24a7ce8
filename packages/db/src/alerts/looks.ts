// What alerts are held against, of usage that has changed: usage of meters and amounts in periods of customers, and what these come to.

import { amountText } from '@weir/billing/amounts';
import { parseExact, type Exact } from '@weir/rating/exact';
import { microsOfText } from '@weir/shared/instant';
import type { AggregationType } from '@weir/shared/meter';
import { sql } from 'kysely';
import { readUsageAmounts } from '../billing/invoices/upcoming.ts';
import { QUESTIONS_AT_ONCE, readDueUsageToTell } from '../billing/usage/due-usage.ts';
import type { Queries } from '../database.ts';
import { MonthTakenOut } from '../months-taken-out.ts';
import { holdErased } from '../moves/usage-moves.ts';
import type { TakenUsage, TouchedCustomer } from './touched-usage.ts';
import { findWatchedPeriods, type WatchedPeriod, type WatchedPeriods } from './watched-periods.ts';

export interface Threshold {
  text: string;
  exact: Exact;
}

export interface ActiveAlert {
  id: string;
  name: string;
  meter_id: string | null;
  aggregation: AggregationType | null;
  customer_external_id: string | null;
  /** The lowest first. */
  thresholds: Threshold[];
}

/** Usage or an amount in a period of a customer, which alerts are held against. */
export interface Look {
  customer: string;
  period: WatchedPeriod;
  /** Null: an amount. */
  meter: { id: string; aggregation: AggregationType } | null;
  /** That of the lowest threshold first. */
  alerts: readonly ActiveAlert[];
}

/** What a look has come to. */
export interface Reading {
  look: Look;
  /** A plain decimal, as it is told. */
  value: string;
  /** As it is compared: a decimal, or `n/d`. */
  exact: string;
}

/**
 * Finds what there is to look at of customers that were taken: theirs one after the other, and of each the months and then the subscriptions
 * in the order of their ids. Usage that is just being erased is under two ids: it is read once it is all under one.
 */
export async function findLooks(
  db: Queries,
  organizationId: string,
  { customers, since }: TakenUsage,
): Promise<Look[]> {
  const alerts = await listActive(db, organizationId);
  if (alerts.length === 0) return [];
  const erased = await holdErased(db, organizationId, [...customers.keys()]);
  const watched = [...customers].flatMap(([customer, touched]): Watched[] => {
    const own = alerts.filter(({ customer_external_id: one }) => one === null || one === customer);
    return erased.has(customer) || own.length === 0
      ? []
      : [{ customer, touched, alerts: own, meters: metersOf(own, touched) }];
  });
  const periods = await findWatchedPeriods(db, organizationId, {
    customers: watched.map(({ customer }) => customer),
    usage: watched.flatMap(({ customer, meters }) => [...meters.keys()].map((meterId) => ({ customer, meterId }))),
    since: since ?? 'infinity',
  });
  return watched.flatMap((each) => looksOf(each, periods));
}

async function listActive(db: Queries, organizationId: string): Promise<ActiveAlert[]> {
  const { rows } = await sql<Omit<ActiveAlert, 'thresholds'> & { thresholds: string[] }>`
    SELECT alerts.id, alerts.name, meter_id, aggregation_type AS aggregation, external_id AS customer_external_id,
      ARRAY(SELECT threshold::text FROM unnest(thresholds) AS threshold ORDER BY threshold::numeric) AS thresholds
    FROM alerts LEFT JOIN meters ON meters.organization_id = alerts.organization_id AND meters.id = meter_id
    LEFT JOIN customers ON customers.organization_id = alerts.organization_id AND customers.id = customer_id
    WHERE alerts.organization_id = ${organizationId}::uuid AND alerts.status = 'ACTIVE'
      AND (customer_id IS NULL OR external_id IS NOT NULL)
    ORDER BY (SELECT min(threshold) FROM unnest(thresholds) AS threshold), alerts.id`.execute(db);
  return rows.map((row) => ({
    ...row,
    thresholds: row.thresholds.map((text) => ({ text, exact: parseExact(text) })),
  }));
}

/** A customer that was taken, with the alerts that have to do with it. */
interface Watched {
  customer: string;
  touched: TouchedCustomer;
  alerts: readonly ActiveAlert[];
  /** Those whose usage has changed, with the alerts on it. */
  meters: ReadonlyMap<string, { aggregation: AggregationType; alerts: ActiveAlert[] }>;
}

function metersOf(alerts: readonly ActiveAlert[], { isAny, meterIds }: TouchedCustomer): Watched['meters'] {
  const meters = new Map<string, { aggregation: AggregationType; alerts: ActiveAlert[] }>();
  for (const alert of alerts) {
    const { meter_id: meterId, aggregation } = alert;
    if (meterId === null || aggregation === null || !(isAny || meterIds.has(meterId))) continue;
    const known = meters.get(meterId);
    if (known === undefined) meters.set(meterId, { aggregation, alerts: [alert] });
    else known.alerts.push(alert);
  }
  return meters;
}

function looksOf({ customer, touched, alerts, meters }: Watched, periods: WatchedPeriods): Look[] {
  const { after } = touched;
  const isLeft = ({ subscription_id: id }: WatchedPeriod) => after === null || (id !== null && id > after);
  const looks = [...meters].flatMap(([id, { aggregation, alerts }]): Look[] =>
    periods
      .ofMeter(customer, id)
      .filter(isLeft)
      .map((period) => ({ customer, period, meter: { id, aggregation }, alerts })),
  );
  const ofAmounts = alerts.filter(({ meter_id }) => meter_id === null);
  if (ofAmounts.length > 0)
    for (const period of periods.ofAmounts(customer).filter(isLeft))
      looks.push({ customer, period, meter: null, alerts: ofAmounts });
  const place = ({ period }: Look) => period.subscription_id ?? '';
  return looks.sort((one, other) => (place(one) < place(other) ? -1 : Number(place(one) > place(other))));
}

/** What a look comes to cannot be told. */
export interface Untold {
  look: Look;
  why: MonthTakenOut;
}

/** Reads what looks come to, in their order: usage by what reads it for a draft, amounts by what computes the usage of a subscription. */
export async function readLooks(
  db: Queries,
  organizationId: string,
  looks: readonly Look[],
): Promise<(Reading | Untold)[]> {
  const readings = new Map<Look, Reading | Untold>();
  const questions = looks.flatMap((look) => {
    const { customer: customerExternalId, meter, period } = look;
    if (meter === null) return [];
    const [start, end] = [microsOfText(period.period_start), microsOfText(period.period_end)];
    const { id: meterId, aggregation } = meter;
    return [
      { look, question: { organizationId, meterId, customerExternalId, aggregation, start, end, closing: null } },
    ];
  });
  for (let from = 0; from < questions.length; from += QUESTIONS_AT_ONCE) {
    const some = questions.slice(from, from + QUESTIONS_AT_ONCE);
    const usage = await readDueUsageToTell(
      db,
      some.map(({ question }) => question),
    );
    for (const [index, { look }] of some.entries()) {
      const read = usage[index];
      if (read instanceof MonthTakenOut) readings.set(look, { look, why: read });
      else {
        const { quantity = '0', exact = quantity } = read ?? {};
        readings.set(look, { look, value: quantity, exact });
      }
    }
  }
  const ofAmounts = looks.flatMap((look) => {
    const { subscription_id, cycle, currency } = look.period;
    if (look.meter !== null || subscription_id === null || cycle === null || currency === null) return [];
    return [{ look, period: { subscription_id, cycle, currency } }];
  });
  const amounts = await readUsageAmounts(
    db,
    organizationId,
    ofAmounts.map(({ period }) => period),
  );
  for (const [index, { look, period }] of ofAmounts.entries()) {
    const amount = amounts[index] ?? 0n;
    if (amount instanceof MonthTakenOut) readings.set(look, { look, why: amount });
    else {
      const value = amountText(amount, period.currency);
      readings.set(look, { look, value, exact: value });
    }
  }
  return looks.flatMap((look) => readings.get(look) ?? []);
}
