// What a worker does of alerts: takes what has changed, reads what it has come to, and writes down which thresholds are reached. All of
// that is one transaction, so whoever dies leaves what he took to whoever comes next; and a unique key keeps each crossing one, so it
// does not matter how many look, or how often. The feed is told in the same transaction.
//
// What is read is read after it was taken. So it has all that was committed before, and what is committed later has rows of its own.

import { formatAmount } from '@weir/rating/money';
import { compare, parseExact } from '@weir/rating/exact';
import { minorDigits } from '@weir/rating/currencies';
import { microsOfText } from '@weir/shared/instant';
import { newId } from '@weir/shared/ids';
import type { AggregationType } from '@weir/shared/meter';
import { sql } from 'kysely';
import { appendFeed } from '../billing/feed.ts';
import { readUsageAmounts } from '../billing/invoices/upcoming.ts';
import type { DueUsageQuestion } from '../billing/usage/due-question.ts';
import { QUESTIONS_AT_ONCE, readDueUsage } from '../billing/usage/due-usage.ts';
import type { Database, Queries } from '../database.ts';
import { holdErased } from '../moves/usage-moves.ts';
import { findCustomers } from './alerts.ts';
import { deleteCrossings, lookOn } from './look-on.ts';
import { takeTouched, type TakenUsage, type TouchedCustomer } from './touched-usage.ts';
import { findWatchedPeriods, type CustomerMeter, type WatchedPeriod, type WatchedPeriods } from './watched-periods.ts';

/** The organizations with changes of usage that wait, from one to the next: each may have very many. */
const WAITING = sql`WITH RECURSIVE waiting (id) AS (
    (SELECT organization_id FROM touched_usage ORDER BY organization_id LIMIT 1)
    UNION ALL SELECT (SELECT organization_id FROM touched_usage WHERE organization_id > waiting.id ORDER BY organization_id LIMIT 1)
    FROM waiting WHERE id IS NOT NULL)`;

/**
 * Organizations that alerts have something to do in. Changes that were noted while the last alert of one went are taken as well: left
 * there, they would tell its next alert of periods that are long over.
 */
export async function findAlertWork(db: Queries): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    ${WAITING} SELECT id FROM waiting WHERE id IS NOT NULL
    UNION SELECT organization_id FROM alerts WHERE status = 'DELETED' OR status = 'ACTIVE' AND looked_after IS NOT NULL`.execute(
    db,
  );
  return rows.map(({ id }) => id);
}

/** How long the oldest change of usage, or the oldest new alert, has waited, in seconds; 0 where nothing waits. */
export async function readAlertsOldestSeconds(db: Queries): Promise<number> {
  const { rows } = await sql<{ seconds: number }>`
    ${WAITING} SELECT greatest(0, extract(epoch FROM billing_now() - least(
      (SELECT min(touched_at) FROM waiting CROSS JOIN LATERAL (
        SELECT touched_at FROM touched_usage WHERE organization_id = waiting.id ORDER BY touched_usage.id LIMIT 1) AS oldest),
      (SELECT min(look_asked_at) FROM alerts WHERE status = 'ACTIVE' AND looked_after IS NOT NULL),
      billing_now())))::float8 AS seconds`.execute(db);
  return rows[0]?.seconds ?? 0;
}

/** What a turn of an organization came to. */
export interface AlertsTurn {
  crossings: number;
  /** Whether there is more to do. */
  hasLeft: boolean;
}

/** Goes on with all that waits of an organization until the time is over; one step of each kind at least. Throws what Postgres says. */
export async function performAlerts(
  database: Database,
  organizationId: string,
  milliseconds: number,
): Promise<AlertsTurn> {
  const until = performance.now() + milliseconds;
  let crossings = 0;
  for (let limit = TAKEN_MIN; ; limit *= 4) {
    const taken = await crossTaken(database, organizationId, limit);
    crossings += taken.crossings;
    const hasLooked = await lookOn(database, organizationId);
    const hasDeleted = await deleteCrossings(database.kysely, organizationId);
    if (taken.rows === 0 && !hasLooked && !hasDeleted) return { crossings, hasLeft: false };
    if (performance.now() > until) return { crossings, hasLeft: true };
  }
}

interface ActiveAlert {
  id: string;
  name: string;
  meter_id: string | null;
  aggregation: AggregationType | null;
  customer_external_id: string | null;
  thresholds: string[];
}

/** Something that an alert is held against: usage or an amount in a period of a customer. */
interface Reading {
  alert: ActiveAlert;
  customer: string;
  period: WatchedPeriod;
  /** A plain decimal, as it is told. */
  value: string;
  /** As it is compared: a decimal, or `n/d`. */
  exact: string;
}

/**
 * So many changes are taken at once, and four times as many after each time: a worker that was killed while it had many in hand begins with few
 * that it gets done, however slow the machine is and however often workers die. Those of one customer and meter are one look.
 */
const TAKEN_MIN = 50;
const TAKEN_MAX = 500;

/** Each change may reach every threshold that there is: so many are to be written down at once, with the feed. */
const REACHED_MAX = 10_000;

async function limitOf(db: Queries, organizationId: string, limit: number): Promise<number> {
  const { rows } = await sql<{ thresholds: number | null }>`
    SELECT sum(cardinality(thresholds))::int AS thresholds FROM alerts
    WHERE organization_id = ${organizationId}::uuid AND status = 'ACTIVE'`.execute(db);
  return Math.min(limit, TAKEN_MAX, Math.ceil(REACHED_MAX / (rows[0]?.thresholds ?? 1)));
}

async function crossTaken(
  { kysely }: Database,
  organizationId: string,
  limit: number,
): Promise<{ rows: number; crossings: number }> {
  return await kysely.transaction().execute(async (transaction) => {
    const taken = await takeTouched(transaction, organizationId, await limitOf(transaction, organizationId, limit));
    if (taken.rows === 0) return { rows: 0, crossings: 0 };
    const alerts = await listActive(transaction, organizationId);
    const readings = alerts.length === 0 ? [] : await readTaken(transaction, organizationId, alerts, taken);
    return { rows: taken.rows, crossings: await cross(transaction, organizationId, readings) };
  });
}

async function listActive(db: Queries, organizationId: string): Promise<ActiveAlert[]> {
  const { rows } = await sql<ActiveAlert>`
    SELECT alerts.id, alerts.name, meter_id, aggregation_type AS aggregation, external_id AS customer_external_id,
      thresholds::text[] AS thresholds
    FROM alerts LEFT JOIN meters ON meters.organization_id = alerts.organization_id AND meters.id = meter_id
    LEFT JOIN customers ON customers.organization_id = alerts.organization_id AND customers.id = customer_id
    WHERE alerts.organization_id = ${organizationId}::uuid AND alerts.status = 'ACTIVE'
      AND (customer_id IS NULL OR external_id IS NOT NULL)
    ORDER BY alerts.id`.execute(db);
  return rows;
}

/** Usage that is just being erased is under two ids: it is read once it is all under one. */
async function readTaken(
  db: Queries,
  organizationId: string,
  alerts: readonly ActiveAlert[],
  { customers, since }: TakenUsage,
): Promise<Reading[]> {
  const isOf = ({ customer_external_id: one }: ActiveAlert, customer: string) => one === null || one === customer;
  const erased = await holdErased(db, organizationId, [...customers.keys()]);
  const watched = [...customers].filter(
    ([customer]) => !erased.has(customer) && alerts.some((alert) => isOf(alert, customer)),
  );
  const usage = alerts.flatMap((alert) =>
    watched.flatMap(([customer, { isAny, meterIds }]): WatchedUsage[] => {
      const { meter_id: meterId, aggregation } = alert;
      if (meterId === null || aggregation === null || !isOf(alert, customer)) return [];
      return isAny || meterIds.has(meterId) ? [{ alert, customer, meterId, aggregation }] : [];
    }),
  );
  const periods = await findWatchedPeriods(db, organizationId, {
    customers: watched.map(([customer]) => customer),
    usage,
    since: since ?? 'infinity',
  });
  return [
    ...(await readMeters(db, organizationId, usage, periods)),
    ...(await readAmounts(db, organizationId, alerts, { watched, periods, isOf })),
  ];
}

/** Usage of a customer that an alert is held against. */
interface WatchedUsage extends CustomerMeter {
  alert: ActiveAlert;
  aggregation: AggregationType;
}

interface Watched {
  watched: readonly [customer: string, touched: TouchedCustomer][];
  periods: WatchedPeriods;
  isOf(alert: ActiveAlert, customer: string): boolean;
}

/** Usage is read by what reads it for a draft, once for all alerts on it. */
async function readMeters(
  db: Queries,
  organizationId: string,
  usage: readonly WatchedUsage[],
  periods: WatchedPeriods,
): Promise<Reading[]> {
  const questions = new Map<string, { question: DueUsageQuestion; asked: Omit<Reading, 'value' | 'exact'>[] }>();
  for (const { alert, customer, meterId, aggregation } of usage) {
    for (const period of periods.ofMeter(customer, meterId)) {
      const [start, end] = [microsOfText(period.period_start), microsOfText(period.period_end)];
      const key = `${meterId} ${start} ${end} ${customer}`;
      const question = {
        organizationId,
        meterId,
        customerExternalId: customer,
        aggregation,
        start,
        end,
        closing: null,
      };
      const known = questions.get(key) ?? { question, asked: [] };
      questions.set(key, known);
      known.asked.push({ alert, customer, period });
    }
  }
  const all = [...questions.values()];
  const readings: Reading[] = [];
  for (let from = 0; from < all.length; from += QUESTIONS_AT_ONCE) {
    const some = all.slice(from, from + QUESTIONS_AT_ONCE);
    const usage = await readDueUsage(
      db,
      some.map(({ question }) => question),
    );
    for (const [index, { asked }] of some.entries()) {
      const { quantity = '0', exact = quantity } = usage[index] ?? {};
      readings.push(...asked.map((each) => ({ ...each, value: quantity, exact })));
    }
  }
  return readings;
}

/** Amounts are computed by what computes the usage of a subscription, once for all alerts on them. */
async function readAmounts(
  db: Queries,
  organizationId: string,
  alerts: readonly ActiveAlert[],
  { watched, periods, isOf }: Watched,
): Promise<Reading[]> {
  const ofAmounts = alerts.filter(({ meter_id }) => meter_id === null);
  const asked = watched
    .filter(([customer]) => ofAmounts.some((alert) => isOf(alert, customer)))
    .flatMap(([customer]) => periods.ofAmounts(customer).map((period) => ({ customer, period })));
  const amounts = await readUsageAmounts(
    db,
    organizationId,
    asked.map(({ period }) => period),
  );
  return asked.flatMap(({ customer, period }, index) => {
    const value = formatAmount(amounts[index] ?? 0n, minorDigits(period.currency));
    const own = ofAmounts.filter((alert) => isOf(alert, customer));
    return own.map((alert) => ({ alert, customer, period, value, exact: value }));
  });
}

/** A threshold that is reached. */
interface Reached extends Reading {
  id: string;
  threshold: string;
}

/** Writes down what is reached and was not before, and tells the feed. Returns how many thresholds. */
async function cross(transaction: Queries, organizationId: string, readings: readonly Reading[]): Promise<number> {
  const reached = readings.flatMap((reading): Reached[] => {
    const value = parseExact(reading.exact);
    return reading.alert.thresholds
      .filter((threshold) => compare(value, parseExact(threshold)) >= 0)
      .map((threshold) => ({ ...reading, id: newId(), threshold }));
  });
  if (reached.length === 0) return 0;
  const customers = await findCustomers(transaction, organizationId, new Set(reached.map(({ customer }) => customer)));
  const idOf = (customer: string) => customers.get(customer)?.id ?? null;
  const isNew = await insertCrossings(transaction, organizationId, reached, idOf);
  const crossed = reached.filter(({ id }) => isNew.has(id));
  await appendFeed(
    transaction,
    organizationId,
    crossed.map(({ id, alert, customer, period, threshold, value }) => ({
      type: 'usage.threshold_reached',
      actor: 'weir',
      data: {
        id,
        alert_id: alert.id,
        name: alert.name,
        customer_id: customers.get(customer)?.id ?? null,
        customer_external_id: customer,
        meter_id: alert.meter_id,
        subscription_id: period.subscription_id,
        currency: alert.meter_id === null ? period.currency : null,
        period_start: period.period_start,
        period_end: period.period_end,
        threshold,
        value,
      },
    })),
  );
  return crossed.length;
}

/**
 * Returns the ids of those that were not there. Months that begin within two days are one, by clocks of different time zones; and so they
 * are of one record, whatever external id its usage is under. Alerts are held as they are until the transaction ends: once it was answered
 * that one is turned off, changed or deleted, nothing crosses it as it was. A period that was over when somebody asked for an alert is not
 * told of.
 */
async function insertCrossings(
  transaction: Queries,
  organizationId: string,
  reached: readonly Reached[],
  idOf: (customer: string) => string | null,
): Promise<Set<string>> {
  const column = (of: (each: Reached) => string | null) => reached.map(of);
  const isMonthOf = sql`known.organization_id = ${organizationId}::uuid AND known.alert_id = asked.alert_id
    AND known.threshold = asked.threshold AND known.subscription_id IS NULL
    AND known.period_start BETWEEN asked.period_start - interval '2 days' AND asked.period_start + interval '2 days'`;
  const { rows } = await sql<{ id: string }>`
    WITH held AS MATERIALIZED (
      SELECT id, thresholds, told_from FROM alerts
      WHERE organization_id = ${organizationId}::uuid AND id = ANY (${[...new Set(column(({ alert }) => alert.id))]}::uuid[])
        AND status = 'ACTIVE'
      ORDER BY id FOR SHARE
    )
    INSERT INTO alert_crossings (organization_id, id, alert_id, customer_external_id, customer_id, subscription_id, currency,
      period_start, period_end, threshold, value)
    SELECT ${organizationId}::uuid, asked.*
    FROM unnest(${column(({ id }) => id)}::uuid[], ${column(({ alert }) => alert.id)}::uuid[],
      ${column(({ customer }) => customer)}::text[], ${column(({ customer }) => idOf(customer))}::uuid[],
      ${column(({ period }) => period.subscription_id)}::uuid[],
      ${column(({ alert, period }) => (alert.meter_id === null ? period.currency : null))}::text[],
      ${column(({ period }) => period.period_start)}::timestamptz[], ${column(({ period }) => period.period_end)}::timestamptz[],
      ${column(({ threshold }) => threshold)}::numeric[], ${column(({ value }) => value)}::numeric[])
      AS asked (id, alert_id, customer, customer_id, subscription_id, currency, period_start, period_end, threshold, value)
    JOIN held ON held.id = asked.alert_id AND asked.threshold = ANY (held.thresholds) AND asked.period_end >= held.told_from
    WHERE asked.subscription_id IS NOT NULL OR (
      NOT EXISTS (SELECT FROM alert_crossings AS known
        WHERE ${isMonthOf} AND known.currency IS NULL AND known.customer_external_id = asked.customer)
      AND NOT EXISTS (SELECT FROM alert_crossings AS known WHERE ${isMonthOf} AND known.customer_id = asked.customer_id))
    ORDER BY asked.alert_id, asked.customer, asked.subscription_id, asked.period_start, asked.threshold
    ON CONFLICT DO NOTHING RETURNING id`.execute(transaction);
  return new Set(rows.map(({ id }) => id));
}
