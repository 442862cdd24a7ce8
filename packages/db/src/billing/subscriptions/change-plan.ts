// Going over to another plan at the end of the period; before the start at once. Expects a subscription that is locked, up to date, and
// not ended.

import { type NewFeedEvent, subscriptionData } from '@weir/billing/feed-events';
import type { Interval } from '@weir/rating/periods';
import type { Queries } from '../../database.ts';
import { billMeters, releaseMeters } from './billed-meters.ts';
import { listMetersOfPlan, updateSubscription, type SubscriptionRow } from './subscriptions.ts';

/** A plan that a subscription goes over to. */
export interface NextPlan {
  id: string;
  billing_interval: Interval;
}

/**
 * Sets what the subscription goes over to, in the place of what was set before; null lets it stay. The meters of that plan are
 * reserved from now on. Returns nothing where another subscription bills one of them, and the transaction is to be given up.
 */
export async function changeAtPeriodEnd(
  transaction: Queries,
  row: SubscriptionRow,
  { actor, plan }: { actor: string; plan: NextPlan | null },
): Promise<NewFeedEvent[] | undefined> {
  // Its own plan is where it stays.
  const pending_plan_id = plan === null || plan.id === row.plan_id ? null : plan.id;
  if (pending_plan_id === row.pending_plan_id) return [];
  if (row.is_scheduled && plan !== null) return await changeBeforePeriods(transaction, row, { actor, plan });
  const after = await updateSubscription(transaction, row, { pending_plan_id });
  return await takeMeters(transaction, after, { actor, planId: pending_plan_id });
}

/** Puts a subscription of which no period has begun on another plan. Its start and its trial stay, and so does the date that it counts from. */
async function changeBeforePeriods(
  transaction: Queries,
  row: SubscriptionRow,
  { actor, plan }: { actor: string; plan: NextPlan },
): Promise<NewFeedEvent[] | undefined> {
  const { id: plan_id, billing_interval } = plan;
  const after = await updateSubscription(transaction, row, { plan_id, billing_interval, pending_plan_id: null });
  return await takeMeters(transaction, after, { actor, planId: plan_id });
}

/** Reserves the meters of a plan from the end of what is open on, and lets those go that nothing bills. */
async function takeMeters(
  transaction: Queries,
  after: SubscriptionRow,
  { actor, planId }: { actor: string; planId: string | null },
): Promise<NewFeedEvent[] | undefined> {
  const { organization_id: organizationId, id, customer_external_id, current_period_end } = after;
  if (planId !== null) {
    const meters = await listMetersOfPlan(transaction, organizationId, planId);
    const claims = meters.map((meter_id) => {
      return { meter_id, customer_external_id, subscription_id: id, from: current_period_end };
    });
    if ((await billMeters(transaction, organizationId, claims)).length > 0) return undefined;
  }
  await releaseMeters(transaction, organizationId, [id]);
  return [{ type: 'subscription.changed', actor, data: subscriptionData(after) }];
}
