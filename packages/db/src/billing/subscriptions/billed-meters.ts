// A meter of a customer is billed by one subscription at a time, since an event names a customer and no subscription. The
// primary key of billed_meters keeps it, also between two requests at once.

import { sql, type RawBuilder } from 'kysely';
import type { Queries } from '../../database.ts';

/** A subscription that is going to bill a meter of its customer. */
export interface MeterClaim {
  meter_id: string;
  customer_external_id: string;
  subscription_id: string;
  /** Since when: another subscription must have ended with the meter by then. ISO 8601. */
  from: string;
}

/** A period that has begun is billed for a meter that another subscription bills then. */
export class MeterTaken extends Error {
  constructor({ subscription_id, meter_id }: Omit<MeterClaim, 'from'>) {
    super(`subscription ${subscription_id} cannot bill meter ${meter_id}: another one does`);
  }
}

/**
 * Reserves meters for subscriptions, and returns those that another one bills then; the transaction is to be given up if there
 * are any. What a subscription holds already it keeps. Waits for whoever reserves the same at this moment.
 */
export async function billMeters(
  transaction: Queries,
  organizationId: string,
  claims: readonly MeterClaim[],
): Promise<Omit<MeterClaim, 'from'>[]> {
  if (claims.length === 0) return [];
  const claimed = sql`unnest(${claims.map(({ meter_id }) => meter_id)}::uuid[],
    ${claims.map(({ customer_external_id }) => customer_external_id)}::text[],
    ${claims.map(({ subscription_id }) => subscription_id)}::uuid[],
    ${claims.map(({ from }) => from)}::timestamptz[]) AS claim (meter_id, customer_external_id, subscription_id, since)`;
  return await reserve(transaction, organizationId, claimed, null);
}

/**
 * Reserves what a table `claim` names, and returns what another subscription bills, at most so much of it. Claims may be as many as
 * an organization has subscriptions, so they need not come through this process.
 */
async function reserve(
  transaction: Queries,
  organizationId: string,
  claimed: RawBuilder<unknown>,
  returnedMax: number | null,
): Promise<Omit<MeterClaim, 'from'>[]> {
  const refused = await claimFree(transaction, organizationId, claimed, returnedMax);
  if (refused.length === 0 || !(await releaseEnded(transaction, organizationId, claimed))) return refused;
  return await claimFree(transaction, organizationId, claimed, returnedMax);
}

async function claimFree(
  transaction: Queries,
  organizationId: string,
  claimed: RawBuilder<unknown>,
  returnedMax: number | null,
): Promise<Omit<MeterClaim, 'from'>[]> {
  const isHeld = sql`EXISTS (SELECT FROM billed_meters AS held WHERE held.organization_id = ${organizationId}
    AND held.meter_id = claim.meter_id AND held.customer_external_id = claim.customer_external_id
    AND held.subscription_id = claim.subscription_id AND held.ended_at IS NULL)`;
  // In one order, so that two who want the same meters do not wait for each other.
  await sql`
    INSERT INTO billed_meters AS held (organization_id, meter_id, customer_external_id, subscription_id)
    SELECT ${organizationId}::uuid, meter_id, customer_external_id, subscription_id FROM (
      SELECT DISTINCT ON (meter_id, customer_external_id) * FROM ${claimed} WHERE NOT ${isHeld}
      ORDER BY meter_id, customer_external_id, since
    ) AS claim ORDER BY meter_id, customer_external_id
    ON CONFLICT (organization_id, meter_id, customer_external_id)
    DO UPDATE SET subscription_id = excluded.subscription_id, ended_at = NULL
    WHERE held.subscription_id = excluded.subscription_id OR held.ended_at <= (
      SELECT since FROM ${claimed} WHERE claim.meter_id = held.meter_id
        AND claim.customer_external_id = held.customer_external_id AND claim.subscription_id = excluded.subscription_id
    )`.execute(transaction);
  // A statement of its own: it sees what the one before it waited for.
  const { rows } = await sql<Omit<MeterClaim, 'from'>>`
    SELECT meter_id, customer_external_id, subscription_id FROM ${claimed} WHERE NOT ${isHeld}
    LIMIT ${returnedMax}`.execute(transaction);
  return rows;
}

/**
 * Lets go of what a table `claim` names, where the subscription that has it has ended and nobody has passed that boundary yet: its final
 * invoice is left to whoever does. Returns whether there was any. It asks for subscriptions against the order of decision 94, and so passes
 * over those that others have in hand.
 */
async function releaseEnded(
  transaction: Queries,
  organizationId: string,
  claimed: RawBuilder<unknown>,
): Promise<boolean> {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM subscriptions
    WHERE organization_id = ${organizationId}::uuid AND status <> 'CANCELED' AND ended_at <= billing_now()
      AND id = ANY (ARRAY(
        SELECT held.subscription_id FROM ${claimed} CROSS JOIN LATERAL (
          SELECT subscription_id FROM billed_meters WHERE organization_id = ${organizationId}::uuid
            AND meter_id = claim.meter_id AND customer_external_id = claim.customer_external_id AND ended_at IS NULL OFFSET 0
        ) AS held WHERE held.subscription_id <> claim.subscription_id))
    FOR NO KEY UPDATE SKIP LOCKED`.execute(transaction);
  if (rows.length === 0) return false;
  const ids = rows.map(({ id }) => id);
  const isNamed = sql`(held.meter_id, held.customer_external_id) IN (SELECT meter_id, customer_external_id FROM ${claimed})`;
  await release(transaction, organizationId, sql`held.subscription_id = ANY(${ids}::uuid[]) AND (${isNamed}) IS TRUE`);
  return true;
}

/**
 * Lets go of the meters that these subscriptions hold and bill no more: those of ended subscriptions, and those that neither
 * the open period nor the plan, now or next, has a charge for. Another one may bill them from the end of the last due on.
 */
export async function releaseMeters(
  transaction: Queries,
  organizationId: string,
  subscriptionIds: readonly string[],
): Promise<void> {
  if (subscriptionIds.length === 0) return;
  await release(transaction, organizationId, sql`held.subscription_id = ANY(${subscriptionIds}::uuid[])`);
}

/**
 * The same for those of the reservations `held`, of the subscriptions `own`. Dues of a period are found by it, and compared by their
 * meter so that its index, which leads to the dues of everybody who is billed for it, is no way to them.
 */
async function release(transaction: Queries, organizationId: string, which: RawBuilder<unknown>): Promise<void> {
  await sql`
    WITH released AS MATERIALIZED (
      SELECT held.ctid AS place,
        (SELECT max(period_end) FROM dues WHERE dues.organization_id = ${organizationId}
          AND dues.meter_id = held.meter_id AND dues.customer_external_id = held.customer_external_id) AS ended_at
      FROM billed_meters AS held
      CROSS JOIN LATERAL (
        SELECT * FROM subscriptions WHERE organization_id = held.organization_id AND id = held.subscription_id OFFSET 0
      ) AS own
      WHERE held.organization_id = ${organizationId} AND ${which} AND held.ended_at IS NULL
        AND (own.status = 'CANCELED' OR own.ended_at <= billing_now() OR NOT (
          EXISTS (SELECT FROM charges WHERE charges.organization_id = ${organizationId}
            AND charges.plan_id IN (own.plan_id, own.pending_plan_id) AND charges.meter_id = held.meter_id
            AND charges.ended_at IS NULL)
          OR EXISTS (SELECT FROM dues WHERE dues.organization_id = ${organizationId}
            AND dues.subscription_id = own.id AND dues.cycle = own.cycle AND (dues.meter_id = held.meter_id) IS TRUE)))
    ), never_billed AS (
      DELETE FROM billed_meters WHERE ctid = ANY (ARRAY(SELECT place FROM released WHERE ended_at IS NULL))
    )
    UPDATE billed_meters AS held SET ended_at = released.ended_at
    FROM released WHERE held.ctid = released.place AND released.ended_at IS NOT NULL
  `.execute(transaction);
}

/**
 * Reserves a meter for every subscription that is on a plan, or goes over to it, and has not ended: from its next period on a new
 * charge is billed there. Returns whether it could be; if not, another subscription of one of the customers bills the meter, and
 * the transaction is to be given up. The row of the plan has to be locked, so that none is made meanwhile.
 */
export async function billMeterOfPlan(
  transaction: Queries,
  organizationId: string,
  { planId, meterId }: { planId: string; meterId: string },
): Promise<boolean> {
  const ofPlan = goingOn(organizationId, planId);
  const going = sql`${ofPlan} AND (ended_at IS NULL OR ended_at > billing_now())`;
  // Whoever lets go of a subscription's meters holds its row FOR UPDATE. So either this waits for that one, and sees below what was
  // let go, or that one waits for this, and sees the charge. The order is that of decision 94: the plan (5),
  // subscriptions by id and then their meters (7). Locking held rows of billed_meters instead could deadlock: to insert another row waits for its subscription,
  // which the run may hold while it waits for a row held here. One past its end is locked too: that may be taken back just now.
  await sql`
    WITH locked AS MATERIALIZED (
      SELECT FROM ${ofPlan} ORDER BY id FOR KEY SHARE
    ) SELECT count(*) FROM locked`.execute(transaction);
  // Two subscriptions of one customer on one plan have no meters yet: they cannot both have this one.
  const { rows: twice } = await sql`
    SELECT FROM ${going} GROUP BY customer_external_id HAVING count(*) > 1 LIMIT 1`.execute(transaction);
  if (twice.length > 0) return false;
  const claimed = sql`(SELECT ${meterId}::uuid, customer_external_id, id, current_period_end FROM ${going})
    AS claim (meter_id, customer_external_id, subscription_id, since)`;
  return (await reserve(transaction, organizationId, claimed, 1)).length === 0;
}

/**
 * Lets go of meters whose charges of a plan have ended or were taken back, as {@link releaseMeters} does: for every subscription that is
 * on the plan, or goes over to it. Where a boundary is past `now`, at which they ended, and not opened yet, a charge may be in force there:
 * opening it lets go. The row of the plan has to be locked, as for {@link billMeterOfPlan}.
 */
export async function releaseMetersOfPlan(
  transaction: Queries,
  organizationId: string,
  { planId, meterIds, now }: { planId: string; meterIds: readonly string[]; now: string },
): Promise<void> {
  if (meterIds.length === 0) return;
  const ofPlan = goingOn(organizationId, planId);
  // As above: whoever lets go of meters holds the rows FOR UPDATE, and the statement after it sees what this one waited for.
  await sql`
    WITH locked AS MATERIALIZED (
      SELECT FROM ${ofPlan} ORDER BY id FOR UPDATE
    ) SELECT count(*) FROM locked`.execute(transaction);
  // Found by subscription: by meter there is a reservation of everybody who is billed for it, on any plan.
  await release(
    transaction,
    organizationId,
    sql`held.subscription_id = ANY (ARRAY(SELECT id FROM ${ofPlan} AND current_period_end > ${now}::timestamptz))
        AND (held.meter_id = ANY (${meterIds}::uuid[])) IS TRUE`,
  );
}

/** The subscriptions that are on a plan, or go over to it, and have not ended. */
function goingOn(organizationId: string, planId: string): RawBuilder<unknown> {
  return sql`subscriptions WHERE organization_id = ${organizationId} AND (plan_id = ${planId} OR pending_plan_id = ${planId})
    AND status <> 'CANCELED'`;
}
