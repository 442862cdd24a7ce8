// Going over to another plan: at the end of the period, where the run passes the boundary as any other; or now, which cuts what is open
// and begins another period there. Expects a subscription that is locked, up to date, and not ended, and its currency in the plan.

import { changePlanNow } from '@weir/billing/change-now';
import { type NewFeedEvent, subscriptionData } from '@weir/billing/feed-events';
import { PeriodCache } from '@weir/billing/schedules';
import type { Interval } from '@weir/rating/periods';
import { isoOf } from '@weir/shared/instant';
import type { Queries } from '../../database.ts';
import { readDrafting } from '../drafting.ts';
import { billMeters, releaseMeters } from './billed-meters.ts';
import { cutPeriod, hasToSettle } from './cut-period.ts';
import { readPlans, writePassages } from './open-periods.ts';
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

/**
 * Ends the plan at this instant, and begins the other one, which has the same interval: one invoice settles what both come to by then.
 * It takes the place of a change that was to come; to its own plan it does no more than that. In a trial there is nothing to settle.
 * Returns nothing where another subscription bills a meter of that plan, and the transaction is to be given up.
 */
export async function changeNow(
  transaction: Queries,
  row: SubscriptionRow,
  { actor, plan }: { actor: string; plan: NextPlan },
): Promise<NewFeedEvent[] | undefined> {
  if (plan.id === row.plan_id) return await changeAtPeriodEnd(transaction, row, { actor, plan });
  if (row.cycle === null) return await changeBeforePeriods(transaction, row, { actor, plan });
  const { organization_id: organizationId } = row;
  const drafting = await readDrafting(transaction, organizationId);
  const at = isoOf(drafting.now);
  if (!(await reserveMeters(transaction, row, { planId: plan.id, from: at }))) return undefined;
  await cutPeriod(transaction, row, { at, dateCounts: false });
  const passage = changePlanNow(row, {
    ...drafting,
    planId: plan.id,
    plans: await readPlans(transaction, organizationId, [{ ...row, pending_plan_id: plan.id, current_period_end: at }]),
    periods: new PeriodCache(),
    hasToSettle: await hasToSettle(transaction, row),
  });
  return await writePassages(transaction, organizationId, [passage], { drafting, actor });
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
  const from = after.current_period_end;
  if (planId !== null && !(await reserveMeters(transaction, after, { planId, from }))) return undefined;
  await releaseMeters(transaction, after.organization_id, [after.id]);
  return [{ type: 'subscription.changed', actor, data: subscriptionData(after) }];
}

/** Returns false where another subscription bills a meter of the plan then. */
async function reserveMeters(
  transaction: Queries,
  { organization_id, id: subscription_id, customer_external_id }: SubscriptionRow,
  { planId, from }: { planId: string; from: string },
): Promise<boolean> {
  const meters = await listMetersOfPlan(transaction, organization_id, planId);
  const claims = meters.map((meter_id) => ({ meter_id, customer_external_id, subscription_id, from }));
  return (await billMeters(transaction, organization_id, claims)).length === 0;
}
