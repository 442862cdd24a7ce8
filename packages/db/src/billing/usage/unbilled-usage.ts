// Usage of priced meters that no charge bills: what a look at a day finds, writes down, and tells the feed once a month.
//
// A look is at a UTC day that is over, by the sums that are kept of it: a day of which a due holds any part counts as billed. What
// it found is replaced by the next look at the same day. `npm run reconcile` says the same of each event, at its own instant.

import { sql, type RawBuilder } from 'kysely';
import type { Database, Queries } from '../../database.ts';
import { DELETED_MAX, inSlices } from '../../delete-in-slices.ts';
import { ofCustomer } from '../../of-organization.ts';
import type { Order } from '../../order.ts';
import { mapPage, selectPage, type Page, type PageOf } from '../../page.ts';
import { appendFeed } from '../feed.ts';
import { isBilledNext, isFreeInTrial } from './billed-later.ts';

/** Why nothing bills it, in the order in which it counts where a customer has several subscriptions. */
export const UNBILLED_USAGE_REASONS = ['price_ended', 'not_in_plan', 'after_end', 'no_subscription'] as const;
/**
 * `price_ended`: the plan's charge had ended when the period began, and no other was there. `not_in_plan`: the plan has no charge of the
 * meter, or got its first one within the period. `after_end`: the subscription has ended. `no_subscription`: the customer never had one.
 */
type UnbilledUsageReason = (typeof UNBILLED_USAGE_REASONS)[number];

/** Those that somebody is told of. What a plan was made without is no mistake, and is only shown. */
const TOLD: readonly UnbilledUsageReason[] = ['price_ended', 'after_end', 'no_subscription'];

/** Events come late: each of the last days is looked at again on so many days. */
const LATE_DAYS = 3;

/** A charge prices its meter for so long after the last period that it may bill; and a plan is in use so long after its last customer. */
const MEMORY = sql`interval '2 months'`;

/** A UTC day, such as `2026-11-24`, of a meter. */
export interface MeterDay {
  meterId: string;
  day: string;
}

/**
 * Days of priced meters that have to be looked at now, at most `limit`: those of this month, and within its first days of the one
 * before, that were not looked at yet or in vain, may still get late events, or had usage that nothing bills, which a subscription
 * with a start in the past may bill by now. Each is looked at once a day.
 */
export async function findDaysToLookAt(db: Queries, organizationId: string, limit: number): Promise<MeterDay[]> {
  const { rows } = await sql<MeterDay>`
    WITH priced AS MATERIALIZED (
      SELECT c.meter_id, min(c.effective_from) AS since FROM charges c
      JOIN plans p ON p.organization_id = c.organization_id AND p.id = c.plan_id
      WHERE c.organization_id = ${organizationId}::uuid AND c.meter_id IS NOT NULL AND ${isRecent(sql`billing_now()`)}
        AND (SELECT true FROM subscriptions s
          WHERE s.organization_id = ${organizationId}::uuid AND s.plan_id = c.plan_id
            AND (s.ended_at IS NULL OR s.ended_at > billing_now() - ${MEMORY}) LIMIT 1)
      GROUP BY c.meter_id
    )
    SELECT priced.meter_id AS "meterId", days.day::text AS day
    FROM priced
    CROSS JOIN (SELECT (billing_now() AT TIME ZONE 'UTC')::date AS today) AS now
    CROSS JOIN LATERAL (
      SELECT each::date AS day
      FROM generate_series(
        date_trunc('month', (now.today - ${LATE_DAYS}::integer)::timestamp), (now.today - 1)::timestamp, interval '1 day') AS each
    ) AS days
    LEFT JOIN unbilled_usage_looks l
      ON l.day = days.day AND l.organization_id = ${organizationId}::uuid AND l.meter_id = priced.meter_id
    WHERE days.day >= priced.since AT TIME ZONE 'UTC' AND (l.looked_on IS NULL OR l.looked_on < now.today AND (
      l.has_failed OR days.day >= now.today - ${LATE_DAYS}::integer OR EXISTS (
        SELECT FROM unbilled_usage_days u
        WHERE u.organization_id = ${organizationId}::uuid AND u.day = days.day AND u.meter_id = priced.meter_id)))
    ORDER BY priced.meter_id, days.day LIMIT ${limit}`.execute(db);
  return rows;
}

/** Whether a charge `c` of plan `p` prices its meter at an instant, or did until a short while before. */
function isRecent(at: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`(c.effective_from <= ${at} AND (c.ended_at IS NULL
    OR c.ended_at > c.effective_from AND c.ended_at + ('1 ' || p.billing_interval)::interval + ${MEMORY} > ${at}))`;
}

/**
 * Looks at a day of a meter, writes down what no charge bills, and tells the feed what it was not told of the meter and the month
 * before: all of it or nothing. Any number of looks may come at the same time.
 */
export async function lookAtDay(database: Database, organizationId: string, { meterId, day }: MeterDay): Promise<void> {
  const meter = sql`${meterId}::uuid`;
  const own = sql`${organizationId}::uuid`;
  const date = sql`${day}::date`;
  await database.kysely.transaction().execute(async (transaction) => {
    // Whoever comes second waits here for the first.
    await writeLook(transaction, organizationId, { meterId, day });
    await sql`
      DELETE FROM unbilled_usage_days WHERE organization_id = ${own} AND day = ${date} AND meter_id = ${meter}`.execute(
      transaction,
    );
    await sql`
      INSERT INTO unbilled_usage_days (organization_id, day, meter_id, reason, events, customers)
      SELECT ${own}, ${date}, ${meter}, reason, sum(event_count), count(*)
      FROM (${reasonsOf(own, meter, date)}) AS used WHERE reason = ANY (${UNBILLED_USAGE_REASONS}::text[])
      GROUP BY reason`.execute(transaction);
    const { rows: told } = await sql<{ reason: string; month: string; events: string; customers: string }>`
      WITH told AS (
        INSERT INTO unbilled_usage_told (organization_id, meter_id, month, reason)
        SELECT organization_id, meter_id, date_trunc('month', day::timestamp)::date, reason
        FROM unbilled_usage_days
        WHERE organization_id = ${own} AND day = ${date} AND meter_id = ${meter} AND reason = ANY (${TOLD}::text[])
        ORDER BY reason
        ON CONFLICT DO NOTHING RETURNING reason, month
      )
      SELECT told.reason, to_char(told.month, 'YYYY-MM') AS month, u.events, u.customers
      FROM told JOIN unbilled_usage_days u
        ON u.organization_id = ${own} AND u.day = ${date} AND u.meter_id = ${meter} AND u.reason = told.reason
      ORDER BY told.reason`.execute(transaction);
    await appendFeed(
      transaction,
      organizationId,
      told.map(({ reason, month, events, customers }) => ({
        type: 'usage.unpriced',
        actor: 'weir',
        data: { meter_id: meterId, reason, month, day, events: Number(events), customers: Number(customers) },
      })),
    );
  });
}

/**
 * Has a day count as looked at for today. Like every day, it is looked at again while it is one of the last; where the look has failed, on
 * each day until one has not.
 */
export async function writeLook(
  db: Queries,
  organizationId: string,
  { meterId, day }: MeterDay,
  { hasFailed = false } = {},
): Promise<void> {
  await sql`
    INSERT INTO unbilled_usage_looks (day, organization_id, meter_id, looked_on, has_failed)
    VALUES (${day}::date, ${organizationId}::uuid, ${meterId}::uuid, (billing_now() AT TIME ZONE 'UTC')::date, ${hasFailed})
    ON CONFLICT (day, organization_id, meter_id)
    DO UPDATE SET looked_on = excluded.looked_on, has_failed = excluded.has_failed`.execute(db);
}

// Each customer of the day with why nothing bills its usage, null where something does or will, or where it is free as agreed: in a
// trial, or before the start of the first subscription. The conditions on day rows leave Postgres only the index by days; dues and
// subscriptions are asked for one customer at a time, and OFFSET 0 has Postgres find a reason once and not for each place that names it.
function reasonsOf(own: RawBuilder<unknown>, meter: RawBuilder<unknown>, date: RawBuilder<unknown>) {
  const start = sql`(${date}::timestamp AT TIME ZONE 'UTC')`;
  const end = sql`((${date} + 1)::timestamp AT TIME ZONE 'UTC')`;
  // Dues of a meter and customer do not overlap: the one that begins last is the only one that can hold the end of the day, and
  // where it has ended before the day, so have all.
  return sql`
    SELECT u.event_count, CASE
      WHEN (SELECT d.period_end > ${start} FROM dues d
        WHERE d.organization_id = ${own} AND d.meter_id = ${meter} AND d.customer_external_id = u.customer_external_id
          AND d.period_start < ${end} AND d.period_end > d.period_start
        ORDER BY d.period_start DESC LIMIT 1) THEN NULL
      ELSE coalesce((${whyOf(own, meter, start, end)}), 'no_subscription') END AS reason
    FROM customer_usage_days u
    WHERE uuid_hash_extended(u.meter_id, 0) = uuid_hash_extended(${meter}, 0) AND u.day = ${start}
      AND (u.meter_id = ${meter}) IS TRUE AND (u.organization_id = ${own}) IS TRUE
    OFFSET 0`;
}

/**
 * What the subscriptions of the customer say; of several the one that would bill it counts, and one that was canceled before it began last.
 * Null where there is none.
 */
function whyOf(
  own: RawBuilder<unknown>,
  meter: RawBuilder<unknown>,
  start: RawBuilder<unknown>,
  end: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const asked = { own, subscription: sql`s`, meter };
  // The period that the day is in: the open one, or where that is over, the one that the run has not opened yet.
  const isOpen = sql`coalesce(last.period_end > ${start}, false)`;
  const planId = sql`CASE WHEN ${isOpen} THEN last.plan_id ELSE coalesce(s.pending_plan_id, s.plan_id) END`;
  const periodStart = sql`CASE WHEN ${isOpen} THEN last.period_start ELSE s.current_period_end END`;
  // Of the end first: what was canceled before it began has both to come and ended.
  return sql`
    SELECT why FROM subscriptions s
    LEFT JOIN LATERAL (
      SELECT plan_id, period_start, period_end FROM subscription_periods
      WHERE organization_id = ${own} AND subscription_id = s.id AND period_start < ${end}
      ORDER BY cycle DESC LIMIT 1
    ) AS last ON true
    CROSS JOIN LATERAL (SELECT CASE
      WHEN coalesce(s.ended_at, CASE WHEN s.cancel_at_period_end THEN s.current_period_end END) <= ${start} THEN 'after_end'
      WHEN s.start_at >= ${end} THEN 'before_start'
      WHEN s.trial_end_at > ${start} THEN CASE WHEN ${isFreeInTrial(asked)} THEN 'trial' ELSE 'not_in_plan' END
      WHEN NOT ${isOpen} AND ${isBilledNext(asked)} THEN 'not_opened'
      WHEN (SELECT true FROM charges c JOIN plans p ON p.organization_id = c.organization_id AND p.id = c.plan_id
        WHERE c.organization_id = ${own} AND c.plan_id = ${planId} AND c.meter_id = ${meter}
          AND c.ended_at <= greatest(${periodStart}, s.created_at) AND ${isRecent(start)} LIMIT 1) THEN 'price_ended'
      ELSE 'not_in_plan' END AS why OFFSET 0) AS reason
    WHERE ${ofCustomer(own, 's.customer_external_id', sql`u.customer_external_id`)}
    ORDER BY coalesce(s.ended_at <= s.start_at, false), array_position(
      ARRAY['trial', 'not_opened', 'price_ended', 'not_in_plan', 'after_end', 'before_start'], why) LIMIT 1`;
}

/** No day is looked at again once its month and the first days after it are over. Returns how many were deleted, a bounded number. */
export async function deleteOldLooks(db: Queries): Promise<number> {
  return await inSlices(async () => {
    const { numAffectedRows = 0n } = await sql`
      DELETE FROM unbilled_usage_looks AS l USING (
        SELECT day, organization_id, meter_id FROM unbilled_usage_looks
        WHERE day < (billing_now() AT TIME ZONE 'UTC' - interval '2 months')::date ORDER BY day LIMIT ${DELETED_MAX}
      ) AS old
      WHERE (l.day, l.organization_id, l.meter_id) = (old.day, old.organization_id, old.meter_id)`.execute(db);
    return Number(numAffectedRows);
  });
}

/**
 * How many meters had usage on the last day looked at that no charge bills, of those reasons that somebody is told. A look that fails
 * takes away nothing that an earlier one of the same day has found.
 */
export async function countUnbilledMeters(db: Queries): Promise<number> {
  const isFound = sql`EXISTS (
      SELECT FROM unbilled_usage_days u
      WHERE u.organization_id = l.organization_id AND u.day = l.day AND u.meter_id = l.meter_id
        AND u.reason = ANY (${TOLD}::text[]))`;
  const { rows } = await sql<{ meters: string }>`
    SELECT count(*) FILTER (WHERE is_found) AS meters FROM (
      SELECT DISTINCT ON (organization_id, meter_id) ${isFound} AS is_found FROM unbilled_usage_looks l
      WHERE day >= (billing_now() AT TIME ZONE 'UTC')::date - 2 AND (NOT has_failed OR ${isFound})
      ORDER BY organization_id, meter_id, day DESC
    ) AS last`.execute(db);
  return Number(rows[0]?.meters ?? 0);
}

/** A meter's usage in a month that one reason leaves unbilled. */
export interface UnbilledUsage {
  meter_id: string;
  meter_name: string;
  reason: UnbilledUsageReason;
  events: number;
  /** The most of them on one day. */
  customers: number;
  /** UTC dates: the first and the last day of the month with such usage. */
  since: string;
  until: string;
}

/** The month (`2026-11`) of the last day that is over, in UTC. */
export async function readUnbilledMonth(db: Queries): Promise<string> {
  const { rows } = await sql<{ month: string }>`
    SELECT to_char((billing_now() AT TIME ZONE 'UTC')::date - 1, 'YYYY-MM') AS month`.execute(db);
  return rows[0]?.month ?? '';
}

const MOST_EVENTS_FIRST: Order<UnbilledUsage> = [
  { field: 'events', type: 'numeric', descending: true },
  { field: 'meter_id', type: 'uuid' },
  { field: 'reason', type: 'text' },
];

interface UnbilledFilter {
  /** Such as `2026-11`. */
  month: string;
  /** Whether somebody is told of it. */
  isTold?: boolean | undefined;
}

/** What the looks found of a month, most events first. */
export async function listUnbilledUsage(
  db: Queries,
  organizationId: string,
  { month, isTold }: UnbilledFilter,
  page: Page,
): Promise<PageOf<UnbilledUsage>> {
  const ofReason = isTold === undefined ? sql`true` : sql`(reason = ANY (${TOLD}::text[])) = ${isTold}::boolean`;
  const first = sql`${`${month}-01`}::date`;
  const rows = sql<Record<'events' | 'customers', string> & Omit<UnbilledUsage, 'events' | 'customers'>>`(
    SELECT found.meter_id, m.name AS meter_name, found.reason, found.events, found.customers,
      found.since::text AS since, found.until::text AS until
    FROM (
      SELECT meter_id, reason, sum(events) AS events, max(customers) AS customers, min(day) AS since, max(day) AS until
      FROM unbilled_usage_days
      WHERE organization_id = ${organizationId}::uuid AND day >= ${first} AND day < ${first} + interval '1 month'
        AND ${ofReason}
      GROUP BY meter_id, reason
    ) AS found JOIN meters m ON m.organization_id = ${organizationId}::uuid AND m.id = found.meter_id)`;
  const query = db.selectFrom(rows.as('found')).selectAll();
  return mapPage(await selectPage(query, MOST_EVENTS_FIRST, page), (row) => ({
    ...row,
    events: Number(row.events),
    customers: Number(row.customers),
  }));
}
