// Going over to another plan at the end of the period. Expects a subscription that is locked, up to date, and not ended.

import { type NewFeedEvent, subscriptionData } from '@weir/billing/feed-events';
import type { Queries } from '../../database.ts';
import { billMeters, releaseMeters } from './billed-meters.ts';
import { listMetersOfPlan, updateSubscription, type SubscriptionRow } from './subscriptions.ts';

/**
 * Sets what the subscription goes over to, in the place of what was set before; null lets it stay. The meters of that plan are
 * reserved from now on. Returns nothing where another subscription bills one of them, and the transaction is to be given up.
 */
export async function changeAtPeriodEnd(
  transaction: Queries,
  row: SubscriptionRow,
  { actor, planId }: { actor: string; planId: string | null },
): Promise<NewFeedEvent[] | undefined> {
  const { organization_id: organizationId, id, customer_external_id, current_period_end } = row;
  // Its own plan is where it stays.
  const pending_plan_id = planId === row.plan_id ? null : planId;
  if (pending_plan_id === row.pending_plan_id) return [];
  const after = await updateSubscription(transaction, row, { pending_plan_id });
  if (pending_plan_id !== null) {
    const meters = await listMetersOfPlan(transaction, organizationId, pending_plan_id);
    const claims = meters.map((meter_id) => {
      return { meter_id, customer_external_id, subscription_id: id, from: current_period_end };
    });
    if ((await billMeters(transaction, organizationId, claims)).length > 0) return undefined;
  }
  await releaseMeters(transaction, organizationId, [id]);
  return [{ type: 'subscription.changed', actor, data: subscriptionData(after) }];
}
