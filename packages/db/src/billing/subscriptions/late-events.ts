import { dueKey, type LateDue } from '@weir/billing/due';
import { sql, type RawBuilder } from 'kysely';
import type { Queries } from '../../database.ts';

/**
 * Names the closed dues of subscriptions that have late events which no line has settled, by subscription, then by period: those that
 * came in since the last closing of the subscription, and before the closing `before`; with null, all of them. Then those that are to
 * be billed again. What they say is read by whoever needs it: there may be tens of thousands.
 */
export async function findLateDues(
  db: Queries,
  organizationId: string,
  subscriptionIds: readonly string[],
  before: number | null,
): Promise<LateDue[]> {
  if (subscriptionIds.length === 0) return [];
  const { rows } = await sql<LateDue>`
    SELECT d.subscription_id, d.cycle, d.charge_id, 'USAGE' AS type, d.rebilling
    FROM (
      SELECT * FROM subscriptions WHERE organization_id = ${organizationId}::uuid AND id = ANY (${subscriptionIds}::uuid[]) OFFSET 0
    ) AS s
    CROSS JOIN LATERAL ${lateDuesOf(before)}
    ORDER BY d.subscription_id, d.period_start, d.cycle, d.charge_id`.execute(db);
  const { rows: again } = await sql<LateDue>`
    SELECT d.subscription_id, d.cycle, d.charge_id, d.terms ->> 'type' AS type, d.rebilling
    FROM dues d
    WHERE d.organization_id = ${organizationId}::uuid AND d.subscription_id = ANY (${subscriptionIds}::uuid[]) AND d.rebilling
    ORDER BY d.subscription_id, d.period_start, d.cycle, d.charge_id`.execute(db);
  const late = new Set(rows.map(dueKey));
  return [...rows, ...again.filter((due) => !late.has(dueKey(due)))];
}

/**
 * The closed dues `d` of a subscription `s` that have late events as {@link findLateDues} says. Most subscriptions have none, which the
 * index by closing says for each meter at once. Then each due is asked. The order has each of them go by its index, also where Postgres
 * believes that any row will do.
 */
export function lateDuesOf(before: number | null): RawBuilder<unknown> {
  const end = before === null ? sql`9223372036854775807` : sql`${before}::bigint`;
  const subscription = { organizationId: sql`s.organization_id`, id: sql`s.id` };
  return sql`${metersOf(subscription)} AS billed
    CROSS JOIN LATERAL (
      SELECT FROM late_events
      WHERE organization_id = s.organization_id AND meter_id = billed.meter_id AND customer_external_id = billed.customer_external_id
        AND closing > 0 AND closing >= s.closing AND closing < ${end} ORDER BY closing LIMIT 1
    ) AS waiting
    CROSS JOIN LATERAL (
      SELECT * FROM dues WHERE ${meteredDuesOf(subscription)}
        AND meter_id = billed.meter_id AND customer_external_id = billed.customer_external_id AND closing IS NOT NULL OFFSET 0
    ) AS d
    CROSS JOIN LATERAL (
      SELECT FROM late_events
      WHERE organization_id = d.organization_id AND meter_id = d.meter_id AND customer_external_id = d.customer_external_id
        AND "timestamp" >= d.period_start AND "timestamp" < d.period_end
        AND closing >= greatest(s.closing, d.closing) AND closing < ${end} ORDER BY "timestamp" LIMIT 1
    ) AS late`;
}

/** A subscription as SQL expressions. */
interface AskedSubscription {
  organizationId: RawBuilder<unknown>;
  id: RawBuilder<unknown>;
}

/**
 * Each meter and customer that dues of a subscription are of, whether these are closed or not: from one to the next by the index
 * (PostgreSQL wiki, "Loose indexscan"). It reads a row for each of them, however many periods there were. Those of another subscription
 * with the same hash would be among them, and are no harm: a condition more, and Postgres may believe that it is quicker to sort all.
 */
export function metersOf({ id }: Pick<AskedSubscription, 'id'>): RawBuilder<unknown> {
  const next = (isNext: RawBuilder<unknown>) => sql`SELECT meter_id, customer_external_id FROM dues
        WHERE ${hasHashOf(id)} AND ${isNext} ORDER BY meter_id, customer_external_id LIMIT 1`;
  return sql`(
      WITH RECURSIVE known AS (
        (${next(sql`true`)})
        UNION ALL
        SELECT next.* FROM known CROSS JOIN LATERAL (
          ${next(sql`(meter_id, customer_external_id) > (known.meter_id, known.customer_external_id)`)}
        ) AS next
      )
      SELECT * FROM known
    )`;
}

/** The dues of a subscription that have a meter, by the index of these alone: no other fits the conditions as they are written. */
function meteredDuesOf({ organizationId, id }: AskedSubscription): RawBuilder<unknown> {
  return sql`${hasHashOf(id)} AND (organization_id = ${organizationId}) IS TRUE AND (subscription_id = ${id}) IS TRUE`;
}

function hasHashOf(subscriptionId: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`uuid_hash_extended(subscription_id, 0) = uuid_hash_extended(${subscriptionId}, 0) AND meter_id IS NOT NULL`;
}
