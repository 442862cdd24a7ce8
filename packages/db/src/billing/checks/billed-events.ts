// Finds what became of recorded events in billing: recorded = billed + late + open + unbilled, for each meter and month of the events'
// own time. Each of these is found by a condition of its own and none is what is left over, so an event that meets none of them
// is told.
//
// What is called billed is proven once more: the last line of each due has to say as many events as are found for it, and as much.

import { sql, type RawBuilder } from 'kysely';
import { caseOfTotal } from '../../aggregations.ts';
import type { Database } from '../../database.ts';
import { isBilledNext, isFreeInTrial } from '../usage/billed-later.ts';

/** Why an event is in no due, in the order in which it counts. */
export const UNBILLED_REASONS = [
  /** A correction took it out of the count: while its due was open, or in a closed one that was settled since. */
  'voided',
  'trial',
  /** The period that it falls in has not been opened yet. It will be billed. */
  'not_opened',
  'not_priced',
  'after_end',
  'before_start',
  'no_subscription',
] as const;
/**
 * Outcomes of a recorded event of a priced meter. `late` is recorded after its due was closed, and not settled yet. One that was voided
 * after its due was closed is `billed` until that is settled.
 */
export const BILLING_FATES = ['billed', 'late', 'open', ...UNBILLED_REASONS] as const;
export type BillingFate = (typeof BILLING_FATES)[number];

/** One meter in one month (`2026-11`) of the time of its events. */
export interface MeterMonth {
  meterId: string;
  month: string;
  recorded: number;
  fates: Record<BillingFate, number>;
  /** The id of one event that is none of these, where there is any. */
  unexplained: string | null;
}

/** A closed due whose last line does not say what the events say that are in it and not late. */
export interface MiscountedDue {
  subscriptionId: string;
  cycle: number;
  chargeId: string;
  invoiceId: string;
  /** As the line has them. */
  billedEvents: number;
  billedQuantity: string;
  /** As the events give them; the quantity is that of a meter that adds up or counts, else null. */
  events: number;
  quantity: string | null;
}

export interface BilledEvents {
  months: MeterMonth[];
  /** How many closed dues were compared with their events, and at most `MISCOUNTED_MAX` of those that differ. */
  duesCompared: number;
  duesMiscounted: number;
  miscounted: MiscountedDue[];
}

/** How many dues are told one by one: something that is wrong in one is often wrong in all. */
export const MISCOUNTED_MAX = 20;

export interface BilledEventsFilter {
  organizationId: string;
  /** ISO 8601; without it, all. Half-open. */
  from?: string | undefined;
  before?: string | undefined;
}

/** The organizations that have a price for usage, in order; only these are worth asking about. */
export async function listPricing(database: Database, organizationId: string | undefined): Promise<string[]> {
  const rows = await database.kysely
    .selectFrom('charges')
    .select('organization_id')
    .distinct()
    .where('meter_id', 'is not', null)
    .$if(organizationId !== undefined, (query) => query.where('organization_id', '=', organizationId ?? ''))
    .orderBy('organization_id')
    .execute();
  return rows.map(({ organization_id }) => organization_id);
}

/**
 * Counts the events of an organization's priced meters by what became of them, in one statement and so in one snapshot. Reads them
 * once, and keeps no more than a row for each due in memory, or on disk. Events of meters that no plan prices are left out.
 */
export async function countBilledEvents(database: Database, filter: BilledEventsFilter): Promise<BilledEvents> {
  const { rows } = await sql<{ months: MonthRow[]; compared: string; miscounted: DueRow[] }>`
    WITH ${parts(filter)}
    SELECT
      (SELECT coalesce(json_agg(months ORDER BY month, meter_id), '[]') FROM months) AS months,
      (SELECT count(*) FROM compared) AS compared,
      (SELECT coalesce(json_agg(wrong ORDER BY subscription_id, cycle, charge_id), '[]') FROM (
        SELECT *, count(*) OVER () AS found FROM compared WHERE ${isMiscounted}
        ORDER BY subscription_id, cycle, charge_id LIMIT ${MISCOUNTED_MAX}
      ) AS wrong) AS miscounted`.execute(database.kysely);
  const { months = [], compared = '0', miscounted = [] } = rows[0] ?? {};
  return {
    months: months.map(({ meter_id, month, recorded, unexplained, ...counts }) => {
      const fates = Object.fromEntries(BILLING_FATES.map((fate) => [fate, counts[fate]])) as MeterMonth['fates'];
      return { meterId: meter_id, month, recorded, fates, unexplained };
    }),
    duesCompared: Number(compared),
    duesMiscounted: miscounted[0]?.found ?? 0,
    miscounted: miscounted.map((row) => ({
      subscriptionId: row.subscription_id,
      cycle: row.cycle,
      chargeId: row.charge_id,
      invoiceId: row.invoice_id,
      billedEvents: row.billed_events,
      billedQuantity: row.billed_quantity,
      events: row.events,
      quantity: row.adds_up,
    })),
  };
}

interface MonthRow extends Record<BillingFate, number> {
  meter_id: string;
  month: string;
  recorded: number;
  unexplained: string | null;
}

interface DueRow {
  subscription_id: string;
  cycle: number;
  charge_id: string;
  invoice_id: string;
  billed_events: number;
  billed_quantity: string;
  events: number;
  adds_up: string | null;
  found: number;
}

// - subscribed: the subscriptions of each customer, by the name that events give it.
// - judged: each event once, with the due that holds its time, and what became of it. Dues of a meter and customer do not overlap,
//   so the one that begins last before an event is the only one that can hold it; that they do not is a check of its own.
// - counted: by meter, month, due and fate: a row for each due and not for each event.
// - compared: closed dues, what their last lines say, and what the events say. Put side by side and not joined: nobody has counted
//   any of them for the planner, which would take them for few and look through all of one for each of the other.
function parts({ organizationId, from, before }: BilledEventsFilter): RawBuilder<unknown> {
  const since = (time: RawBuilder<unknown>) => (from === undefined ? sql`true` : sql`${time} >= ${from}::timestamptz`);
  const until = (time: RawBuilder<unknown>, than: RawBuilder<unknown>) =>
    before === undefined ? sql`true` : sql`${time} ${than} ${before}::timestamptz`;
  const own = sql`${organizationId}::uuid`;
  return sql`
    priced AS MATERIALIZED (
      SELECT DISTINCT meter_id FROM charges WHERE organization_id = ${own} AND meter_id IS NOT NULL
    ), subscribed AS MATERIALIZED (
      SELECT customer_external_id, array_agg(id) AS ids FROM subscriptions WHERE organization_id = ${own} GROUP BY 1
    ), judged AS (
      SELECT e.meter_id, date_trunc('month', e."timestamp", 'UTC') AS month, e.id, e.quantity,
        d.subscription_id, d.cycle, d.charge_id,
        CASE
          WHEN c.id IS NOT NULL AND (v.closing >= d.closing AND (l.closing IS NULL OR l.closing < d.closing)) IS NOT TRUE THEN 'voided'
          WHEN d.charge_id IS NOT NULL AND d.closing IS NULL THEN 'open'
          WHEN l.closing >= d.closing THEN 'late'
          WHEN d.closing IS NOT NULL AND (l.closing IS NULL OR l.closing < d.closing) THEN 'billed'
          WHEN d.charge_id IS NULL AND u.is_unexplained THEN NULL
          WHEN d.charge_id IS NULL AND u.has_trial THEN 'trial'
          WHEN d.charge_id IS NULL AND u.has_not_opened THEN 'not_opened'
          WHEN d.charge_id IS NULL AND u.has_not_priced THEN 'not_priced'
          WHEN d.charge_id IS NULL AND u.has_ended THEN 'after_end'
          WHEN d.charge_id IS NULL AND u.has_not_begun THEN 'before_start'
          WHEN d.charge_id IS NULL AND s.ids IS NULL THEN 'no_subscription'
        END AS fate
      FROM events e
      JOIN priced USING (meter_id)
      LEFT JOIN LATERAL (
        SELECT subscription_id, cycle, charge_id, closing, period_end FROM dues
        WHERE organization_id = ${own} AND meter_id = e.meter_id AND customer_external_id = e.customer_external_id
          AND period_start <= e."timestamp"
        ORDER BY period_start DESC, period_end DESC LIMIT 1
      ) AS d ON d.period_end > e."timestamp"
      LEFT JOIN late_events l ON l.organization_id = ${own} AND l.meter_id = e.meter_id
        AND l.customer_external_id = e.customer_external_id AND l."timestamp" = e."timestamp" AND l.event_id = e.id
      LEFT JOIN corrections c ON c.organization_id = ${own} AND c.event_id = e.id
      LEFT JOIN late_events v ON v.organization_id = ${own} AND v.meter_id = e.meter_id AND c.id IS NOT NULL
        AND v.customer_external_id = e.customer_external_id AND v."timestamp" = e."timestamp" AND v.voids = e.id
      LEFT JOIN subscribed s ON s.customer_external_id = e.customer_external_id AND d.charge_id IS NULL
      LEFT JOIN LATERAL (${whyUnbilled(own)}) AS u ON true
      WHERE e.organization_id = ${own} AND ${since(sql`e."timestamp"`)} AND ${until(sql`e."timestamp"`, sql`<`)}
    ), counted AS MATERIALIZED (
      SELECT meter_id, month, subscription_id, cycle, charge_id, fate, count(*) AS events, sum(quantity) AS quantity,
        min(id::text) FILTER (WHERE fate IS NULL) AS unexplained
      FROM judged GROUP BY 1, 2, 3, 4, 5, 6
    ), months AS (
      SELECT meter_id, to_char(month AT TIME ZONE 'UTC', 'YYYY-MM') AS month, sum(events)::bigint AS recorded, ${sql.join(
        BILLING_FATES.map(
          (fate) => sql`coalesce(sum(events) FILTER (WHERE fate = ${sql.lit(fate)}), 0)::bigint AS ${sql.raw(fate)}`,
        ),
      )}, min(unexplained) AS unexplained
      FROM counted GROUP BY meter_id, counted.month
    ), compared AS (
      SELECT subscription_id, cycle, charge_id, max(invoice_id) AS invoice_id, max(billed_events) AS billed_events,
        max(billed_quantity)::text AS billed_quantity, coalesce(sum(events), 0)::bigint AS events,
        ${addsUp} AS adds_up
      FROM (
        SELECT d.subscription_id, d.cycle, d.charge_id, true AS is_asked, NULL::text AS invoice_id, NULL::bigint AS billed_events,
          NULL::numeric AS billed_quantity, m.aggregation_type, NULL::bigint AS events, NULL::numeric AS quantity
        FROM dues d
        CROSS JOIN LATERAL (
          SELECT aggregation_type FROM meters WHERE organization_id = d.organization_id AND id = d.meter_id LIMIT 1
        ) AS m
        WHERE d.organization_id = ${own} AND d.closing IS NOT NULL
          AND ${since(sql`d.period_start`)} AND ${until(sql`d.period_end`, sql`<=`)}
        UNION ALL
        SELECT subscription_id, cycle, charge_id, NULL, invoice_id::text, event_count, quantity, NULL, NULL, NULL FROM (
          SELECT DISTINCT ON (l.subscription_id, l.cycle, l.charge_id) l.* FROM invoice_lines l
          JOIN invoices i ON i.organization_id = l.organization_id AND i.id = l.invoice_id AND i.status <> 'DRAFT'
          WHERE l.organization_id = ${own} AND l.charge_id IS NOT NULL
          ORDER BY l.subscription_id, l.cycle, l.charge_id, l.closing DESC NULLS LAST
        ) AS last_lines
        UNION ALL
        SELECT subscription_id, cycle, charge_id, NULL, NULL, NULL, NULL, NULL, events, quantity FROM counted WHERE fate = 'billed'
      ) AS sides
      GROUP BY 1, 2, 3 HAVING bool_or(is_asked) AND max(invoice_id) IS NOT NULL
    )`;
}

/** What the events of a due come to where their quantities or numbers add up; else it is not compared. */
const addsUp = sql.raw(
  caseOfTotal('max(aggregation_type)', {
    event_count: 'coalesce(sum(events), 0)::text',
    quantity_sum: 'coalesce(sum(quantity), 0)::text',
  }),
);

const isMiscounted = sql`billed_events IS DISTINCT FROM events OR adds_up::numeric <> billed_quantity::numeric`;

/**
 * What the subscriptions of the event's customer say about why no due holds it; of several the one that would bill it counts. One that
 * is there at its time and gives no reason leaves it unexplained, whatever the others say.
 */
function whyUnbilled(own: RawBuilder<unknown>): RawBuilder<unknown> {
  const asked = { own, subscription: sql`each`, meter: sql`e.meter_id` };
  return sql`
    SELECT bool_or(is_there AND why IS NULL) AS is_unexplained,
      bool_or(why = 'trial') AS has_trial,
      bool_or(why = 'not_opened') AS has_not_opened,
      bool_or(why = 'not_priced') AS has_not_priced,
      bool_or(NOT is_there AND ends_at <= e."timestamp") AS has_ended,
      bool_or(NOT is_there AND start_at > e."timestamp") AS has_not_begun
    FROM (
      SELECT each.start_at, ends.at AS ends_at, there.is_there, CASE
        WHEN NOT there.is_there THEN NULL
        WHEN e."timestamp" < each.trial_end_at THEN CASE WHEN ${isFreeInTrial(asked)} THEN 'trial' ELSE 'not_priced' END
        WHEN e."timestamp" >= each.current_period_end AND each.status <> 'CANCELED'
          THEN CASE WHEN ${isBilledNext(asked)} THEN 'not_opened' ELSE 'not_priced' END
        WHEN EXISTS (
            SELECT FROM subscription_periods p WHERE p.organization_id = ${own} AND p.subscription_id = each.id
              AND p.period_start <= e."timestamp" AND p.period_end > e."timestamp" AND NOT EXISTS (
                SELECT FROM dues o WHERE o.organization_id = ${own} AND o.subscription_id = each.id AND o.cycle = p.cycle
                  AND o.meter_id = e.meter_id)
          ) THEN 'not_priced'
        END AS why
      FROM subscriptions each
      CROSS JOIN LATERAL (
        SELECT coalesce(each.ended_at, CASE WHEN each.cancel_at_period_end THEN each.current_period_end END) AS at
      ) AS ends
      CROSS JOIN LATERAL (
        SELECT each.start_at <= e."timestamp" AND (ends.at IS NULL OR ends.at > e."timestamp") AS is_there
      ) AS there
      WHERE each.organization_id = ${own} AND each.id = ANY (s.ids)
    ) AS reasons`;
}
