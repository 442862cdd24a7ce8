import { pricedBy } from '@weir/billing/pass-boundaries';
import type { AggregationType } from '@weir/shared/meter';
import type { Interval } from '@weir/rating/periods';
import { sql, type RawBuilder } from 'kysely';
import type { Queries } from './database.ts';

/** The meters that the customers of an organization are shown. */
export interface WidgetSettings {
  /** These meters and no others, in this order; null: every one that a customer uses, newest first. */
  meter_ids: string[] | null;
}

export async function getWidgetSettings(db: Queries, organizationId: string): Promise<WidgetSettings> {
  return await db
    .selectFrom('organizations')
    .select('widget_meter_ids as meter_ids')
    .where('id', '=', organizationId)
    .executeTakeFirstOrThrow();
}

/** Returns undefined, and changes nothing, where one of the meters is not one of the organization. */
export async function updateWidgetSettings(
  db: Queries,
  organizationId: string,
  { meter_ids }: WidgetSettings,
): Promise<WidgetSettings | undefined> {
  const { rows } = await sql<WidgetSettings>`
    UPDATE organizations SET widget_meter_ids = ${meter_ids}::uuid[]
    WHERE id = ${organizationId} AND NOT EXISTS (
      -- No meter is ever deleted, so what is found here stays true.
      SELECT FROM unnest(${meter_ids}::uuid[]) AS named (id) WHERE NOT EXISTS (
        SELECT FROM meters WHERE organization_id = ${organizationId} AND meters.id = named.id
      )
    )
    RETURNING widget_meter_ids AS meter_ids`.execute(db);
  return rows[0];
}

/** A meter as a customer sees it. */
export interface ShownMeter {
  id: string;
  name: string;
  aggregation_type: AggregationType;
  unit: string | null;
  /** The lookup_key of its feature; null once that was deleted. */
  feature: string | null;
}

/** Meters by their ids, or by the lookup_keys of their features. */
export type WantedMeters = { ids: Iterable<string> } | { features: Iterable<string> };

/**
 * Those of the wanted meters that customers may see, in the order in which they see them. No others are read: an organization has
 * thousands of them, and a widget shows a few.
 */
export async function listShownMeters(
  db: Queries,
  organizationId: string,
  wanted: WantedMeters,
): Promise<ShownMeter[]> {
  // The OFFSETs have each looked up by itself, whatever Postgres believes to be in the tables.
  const found =
    'ids' in wanted
      ? sql`unnest(${[...new Set(wanted.ids)]}::uuid[]) AS wanted (meter_id) CROSS JOIN LATERAL (
          SELECT * FROM meters WHERE organization_id = ${organizationId} AND id = meter_id OFFSET 0) AS meters`
      : sql`unnest(${[...new Set(wanted.features)]}::text[]) AS wanted (key) CROSS JOIN LATERAL (
          SELECT id FROM features WHERE organization_id = ${organizationId} AND lookup_key = key OFFSET 0) AS named
          CROSS JOIN LATERAL (
          SELECT * FROM meters WHERE organization_id = ${organizationId} AND feature_id = named.id OFFSET 0) AS meters`;
  const { rows } = await sql<ShownMeter>`
    SELECT meters.id, meters.name, meters.aggregation_type, meters.unit, features.lookup_key AS feature
    FROM ${found}
    JOIN organizations ON organizations.id = meters.organization_id
    LEFT JOIN LATERAL (
      SELECT lookup_key FROM features WHERE organization_id = ${organizationId} AND id = meters.feature_id OFFSET 0
    ) AS features ON true
    LEFT JOIN LATERAL unnest(widget_meter_ids) WITH ORDINALITY AS chosen (id, place) ON chosen.id = meters.id
    WHERE widget_meter_ids IS NULL OR chosen.place IS NOT NULL
    ORDER BY chosen.place, meters.id DESC`.execute(db);
  return rows;
}

/** The period that a customer is billed for now. Times are ISO 8601 UTC. */
export interface BillingPeriod {
  period_start: string;
  period_end: string;
  time_zone: string;
}

/** That of the customer's newest subscription that has begun and not ended; undefined where there is none. */
export async function findBillingPeriod(db: Queries, customer: WidgetCustomer): Promise<BillingPeriod | undefined> {
  const { rows } = await sql<BillingPeriod>`
    SELECT current_period_start AS period_start, current_period_end AS period_end, time_zone
    FROM ${newestSubscription(customer)}`.execute(db);
  return rows[0];
}

/** A plan, and when (ISO 8601) its charges have to be in force that a customer is billed by. */
export interface ShownPlan {
  id: string;
  name: string;
  billing_interval: Interval;
  currency: string;
  priced_at: string;
}

/** The plan that bills the open period of the same subscription; in a trial the period after it. */
export async function findShownPlan(db: Queries, customer: WidgetCustomer): Promise<ShownPlan | undefined> {
  const { rows } = await sql<Omit<ShownPlan, 'priced_at'> & Parameters<typeof pricedBy>[0]>`
    SELECT plans.id, plans.name, plans.billing_interval, plans.currency, newest.*
    FROM ${newestSubscription(customer)} JOIN plans
      ON plans.organization_id = ${customer.organizationId} AND plans.id IN (newest.plan_id, newest.pending_plan_id)`.execute(
    db,
  );
  const row = rows.find((each) => each.id === pricedBy(each).plan_id);
  if (row === undefined) return undefined;
  const { id, name, billing_interval, currency } = row;
  return { id, name, billing_interval, currency, priced_at: pricedBy(row).priced_at };
}

interface WidgetCustomer {
  organizationId: string;
  customerExternalId: string;
}

function newestSubscription({ organizationId, customerExternalId }: WidgetCustomer): RawBuilder<unknown> {
  return sql`(
    SELECT current_period_start, current_period_end, time_zone, plan_id, pending_plan_id, cycle, created_at
    FROM subscriptions
    WHERE organization_id = ${organizationId}
      AND customer_id = (
        SELECT id FROM customers WHERE organization_id = ${organizationId} AND external_id = ${customerExternalId}
      )
      AND status <> 'CANCELED' AND (ended_at IS NULL OR ended_at > billing_now()) AND start_at <= billing_now()
    ORDER BY created_at DESC, id DESC LIMIT 1
  ) AS newest`;
}
