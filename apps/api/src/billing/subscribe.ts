// Making a subscription, in one transaction: who and what, since when, the meters that it bills, and what has begun of its periods:
// of a long past the first ones, and the run opens the others.

import { OPENED_BYTES_MAX, Room } from '@weir/billing/chunk-weight';
import type { Drive } from '@weir/billing/drive';
import { type NewFeedEvent, subscriptionData } from '@weir/billing/feed-events';
import { touchOpened } from '@weir/db/alerts/touched-usage';
import { billMeters } from '@weir/db/billing/subscriptions/billed-meters';
import { appendFeed } from '@weir/db/billing/feed';
import { bringUpToDate } from '@weir/db/billing/subscriptions/open-periods';
import {
  findSubscription,
  findSubscriptionId,
  insertSubscription,
  listMetersOfPlan,
  lockParties,
  lockSubscription,
  lockSubscriptionsBehind,
  type NewSubscription,
  type Parties,
  type Subscription,
} from '@weir/db/billing/subscriptions/subscriptions';
import { violatedConstraint, type Queries } from '@weir/db/database';
import { findMoveInTheWay } from '@weir/db/moves/usage-moves';
import { Refusal } from '@weir/shared/errors';
import { newId } from '@weir/shared/ids';
import { noSuchCustomer } from '../catalog/no-such-customer.ts';
import { refuseErased } from '../catalog/refuse-erased.ts';
import { made, type Write, type Written } from '../http/writing/writing.ts';
import { USAGE_MOVING } from '../usage/usage-query.ts';
import { METER_TAKEN, noSuchPlan, OTHER_BEHIND, planInactive, refuseMeterTaken } from './subscription-refusals.ts';
import { termsOf, type SubscriptionBody } from './subscription-body.ts';

export interface Subscriber {
  organizationId: string;
  /** Who asks for it, as the feed says it. */
  actor: string;
}

/** Makes a subscription and opens the first of its past periods, mostly all of them. Throws a Refusal, with nothing written, where it cannot be. */
export async function subscribe(
  db: Queries,
  write: Write,
  { subscriber, body, drive }: { subscriber: Subscriber; body: SubscriptionBody; drive: Drive },
): Promise<Written<Subscription>> {
  try {
    return await write.transaction(async (transaction) =>
      made(await subscribeWithin(transaction, subscriber, body, drive)),
    );
  } catch (error) {
    // Another request with this external_id was at it at the same time.
    if (violatedConstraint(error) === 'subscriptions_organization_id_external_id_key')
      await refuseTaken(db, subscriber.organizationId, body);
    throw error;
  }
}

async function subscribeWithin(
  transaction: Queries,
  { organizationId, actor }: Subscriber,
  body: SubscriptionBody,
  drive: Drive,
): Promise<Subscription> {
  // Before anything else: whoever asks again is to learn of the first one, whatever has become of the plan meanwhile.
  await refuseTaken(transaction, organizationId, body);
  const planned = await planSubscription(transaction, organizationId, body);
  const { plan_id, customer_id } = planned;

  // One that has ended lets go of its meters when it is brought up to date, and the run may not have been there yet.
  const behind = await lockSubscriptionsBehind(transaction, organizationId, customer_id);
  const room = new Room(OPENED_BYTES_MAX);
  const events: NewFeedEvent[] = await bringUpToDate(transaction, organizationId, behind, room, drive);

  // The row comes before its meters: of two requests with one external_id the later one is told of that.
  const { id, customer_external_id, start_at } = await insertSubscription(transaction, organizationId, {
    ...planned,
    id: newId(),
    external_id: body.external_id,
  });
  const meters = await listMetersOfPlan(transaction, organizationId, plan_id);
  const claims = meters.map((meter_id) => ({ meter_id, customer_external_id, subscription_id: id, from: start_at }));
  if ((await billMeters(transaction, organizationId, claims)).length > 0) {
    // What goes on with a plan that somebody changes at this moment stays as it was, also where it lets go of the meter.
    const left = await lockSubscriptionsBehind(transaction, organizationId, customer_id);
    if (left.some((each) => behind.includes(each))) throw new Refusal('subscription_behind', OTHER_BEHIND);
    throw new Refusal('meter_already_billed', METER_TAKEN);
  }

  const opened = await bringUpToDate(transaction, organizationId, [id], room, drive).catch(refuseMeterTaken);
  const row = await lockSubscription(transaction, organizationId, id);
  const subscription = await findSubscription(transaction, organizationId, id);
  if (row === undefined || subscription === undefined) throw new Error('a subscription that was just made is gone');
  // A trial opens no period, and may have usage already.
  if (row.cycle === null) await touchOpened(transaction, organizationId, [customer_external_id]);
  events.push({ type: 'subscription.created', actor, data: subscriptionData(row) }, ...opened);
  await appendFeed(transaction, organizationId, events);
  return subscription;
}

/** What a body asks for, of a customer and a plan that are held as long as the transaction lasts. Throws a Refusal where it cannot be. */
export async function planSubscription(
  db: Queries,
  organizationId: string,
  body: SubscriptionBody,
): Promise<Omit<NewSubscription, 'id' | 'external_id'>> {
  const { now, customer, plan } = await getParties(db, organizationId, body);
  const { time_zone } = customer;
  const terms = termsOf(body, { now, plan, timeZone: time_zone });
  if (!plan.is_active) throw planInactive();
  return {
    customer_id: customer.id,
    customer_external_id: customer.external_id,
    plan_id: plan.id,
    time_zone,
    currency: plan.currency,
    billing_interval: plan.billing_interval,
    billing_alignment: body.billing_alignment,
    ...terms,
  };
}

async function refuseTaken(db: Queries, organizationId: string, { external_id }: SubscriptionBody): Promise<void> {
  const id = external_id === null ? undefined : await findSubscriptionId(db, organizationId, external_id);
  if (id === undefined) return;
  const detail = 'Another subscription of your organization has this external_id: its id is in this answer.';
  throw new Refusal('external_id_taken', detail, { id });
}

async function getParties(transaction: Queries, organizationId: string, body: SubscriptionBody) {
  const { customer_id, customer_external_id = '', plan_id: planId } = body;
  const named = customer_id === undefined ? { external_id: customer_external_id } : { id: customer_id };
  const { now, customer, plan }: Parties = await lockParties(transaction, organizationId, { customer: named, planId });
  if (customer === undefined) {
    const field = customer_id === undefined ? 'customer_external_id' : 'customer_id';
    throw noSuchCustomer(field);
  }
  if (plan === undefined) throw noSuchPlan();
  await refuseErased(transaction, organizationId, customer.id);
  const moving = await findMoveInTheWay(transaction, organizationId, customer.external_id);
  if (moving !== undefined) throw new Refusal('usage_moving', USAGE_MOVING, { id: moving });
  return { now, customer, plan };
}
