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
  return sql`(
      SELECT DISTINCT meter_id, customer_external_id FROM dues
      WHERE organization_id = s.organization_id AND subscription_id = s.id AND meter_id IS NOT NULL AND closing IS NOT NULL OFFSET 0
    ) AS billed
    CROSS JOIN LATERAL (
      SELECT FROM late_events
      WHERE organization_id = s.organization_id AND meter_id = billed.meter_id AND customer_external_id = billed.customer_external_id
        AND closing > 0 AND closing >= s.closing AND closing < ${end} ORDER BY closing LIMIT 1
    ) AS waiting
    CROSS JOIN LATERAL (
      SELECT * FROM dues WHERE organization_id = s.organization_id AND subscription_id = s.id
        AND meter_id = billed.meter_id AND customer_external_id = billed.customer_external_id AND closing IS NOT NULL OFFSET 0
    ) AS d
    CROSS JOIN LATERAL (
      SELECT FROM late_events
      WHERE organization_id = d.organization_id AND meter_id = d.meter_id AND customer_external_id = d.customer_external_id
        AND "timestamp" >= d.period_start AND "timestamp" < d.period_end
        AND closing >= greatest(s.closing, d.closing) AND closing < ${end} ORDER BY "timestamp" LIMIT 1
    ) AS late`;
}
