// Changes a subscription: ends it, or puts it on another plan. Each is a step on a row that is locked and was brought up to date, so
// that nothing is cut or changed at a boundary that nobody has passed yet.

import { OPENED_BYTES_MAX, Room } from '@weir/billing/chunk-weight';
import type { NewFeedEvent } from '@weir/billing/feed-events';
import { cancelAtPeriodEnd, cancelNow, keepAfterPeriodEnd } from '@weir/db/billing/subscriptions/cancel';
import { changeAtPeriodEnd } from '@weir/db/billing/subscriptions/change-plan';
import { appendFeed } from '@weir/db/billing/feed';
import { bringUpToDate } from '@weir/db/billing/subscriptions/open-periods';
import {
  findSubscription,
  isBehind,
  lockPlanToBill,
  lockSubscription,
  type Subscription,
  type SubscriptionRow,
} from '@weir/db/billing/subscriptions/subscriptions';
import type { Queries } from '@weir/db/database';
import { Refusal } from '@weir/shared/errors';
import { credentialOf, type Caller } from '../http/caller.ts';
import { adminCodes, bodyCodes, idInPath } from '../http/fields.ts';
import { NO_SUCH_THING, problemResponses } from '../http/problem.ts';
import type { App } from '../http/typed-app.ts';
import { done, writing, type Write, type Written } from '../http/writing.ts';
import { cancelBody, changeBody, subscriptionAnswer, subscriptionChanges } from './subscription-body.ts';
import { BEHIND, ENDED, METER_TAKEN } from './subscription-refusals.ts';
import type { RouteDeps } from '../route-deps.ts';

/** A change of a subscription: what it writes, and what the feed is to say of it. */
type Change = (transaction: Queries, row: SubscriptionRow, actor: string) => Promise<NewFeedEvent[]>;

type LockedPlan = Awaited<ReturnType<typeof lockPlanToBill>>;

export function subscriptionChangeRoutes(app: App, { database, guards }: RouteDeps): void {
  app.patch(
    '/api/v1/subscriptions/:id',
    {
      onRequest: guards.biller,
      schema: {
        operationId: 'updateSubscription',
        tags: ['Billing'],
        summary: 'Take back a cancellation or a change of plan that has not taken place yet',
        params: idInPath,
        body: subscriptionChanges,
        response: {
          200: subscriptionAnswer,
          ...problemResponses(...adminCodes, ...bodyCodes, 'not_found', 'subscription_ended', 'subscription_behind'),
        },
      },
    },
    writing(database, async (request, write) => {
      const { cancel_at_period_end, pending_plan_id } = request.body;
      return await change(write, request.caller, request.params.id, async (transaction, row, actor) => {
        const events: NewFeedEvent[] = [];
        if (cancel_at_period_end === false) events.push(...(await keepAfterPeriodEnd(transaction, row, { actor })));
        if (pending_plan_id === null) {
          const taken = await changeAtPeriodEnd(transaction, row, { actor, plan: null });
          events.push(...(taken ?? []));
        }
        return events;
      });
    }),
  );

  app.post(
    '/api/v1/subscriptions/:id/cancel',
    {
      onRequest: guards.biller,
      schema: {
        operationId: 'cancelSubscription',
        tags: ['Billing'],
        summary: 'Cancel a subscription at the end of its period, or now',
        description:
          'Now: usage counts up to this instant, fixed prices by the dates up to this one, and what was billed in advance ' +
          'for later ones comes back with the final invoice. Before its start it always ends now, and there is no invoice.',
        params: idInPath,
        body: cancelBody.nullish(),
        response: {
          200: subscriptionAnswer,
          ...problemResponses(...adminCodes, ...bodyCodes, 'not_found', 'subscription_ended', 'subscription_behind'),
        },
      },
    },
    writing(database, async (request, write) => {
      const { cancel_at_period_end: isLater, reason } = request.body ?? cancelBody.parse({});
      const cancel = isLater ? cancelAtPeriodEnd : cancelNow;
      return await change(
        write,
        request.caller,
        request.params.id,
        async (transaction, row, actor) => await cancel(transaction, row, { actor, reason }),
      );
    }),
  );

  app.post(
    '/api/v1/subscriptions/:id/change',
    {
      onRequest: guards.biller,
      schema: {
        operationId: 'changeSubscriptionPlan',
        tags: ['Billing'],
        summary: 'Change to another plan at the end of the period',
        description:
          'It takes the place of a change that was asked for before. The meters of the other plan are taken at once. ' +
          'Another interval begins with a new anchor. Before its start the subscription changes at once.',
        params: idInPath,
        body: changeBody,
        response: {
          200: subscriptionAnswer,
          ...problemResponses(
            ...adminCodes,
            ...bodyCodes,
            'not_found',
            'subscription_ended',
            'subscription_behind',
            'plan_inactive',
            'currency_differs',
            'meter_already_billed',
          ),
        },
      },
    },
    writing(database, async (request, write) => {
      const { plan_id: planId } = request.body;
      const { caller, params } = request;
      return await write.transaction(async (transaction) => {
        // The plan before the subscription: whoever adds a charge to it holds the plan while it reserves the meter.
        const plan = await lockPlanToBill(transaction, caller.organizationId, planId);
        const subscription = await changeWithin(transaction, caller, params.id, async (_, row, actor) => {
          const checked = checkPlan(plan, row);
          const events = await changeAtPeriodEnd(transaction, row, { actor, plan: checked });
          if (events === undefined) throw new Refusal('meter_already_billed', METER_TAKEN);
          return events;
        });
        return done(subscription);
      });
    }),
  );
}

/** Makes a change in one transaction, and answers with the subscription as it is then. */
function change(write: Write, caller: Caller, id: string, make: Change): Promise<Written<Subscription>> {
  return write.transaction(async (transaction) => done(await changeWithin(transaction, caller, id, make)));
}

async function changeWithin(transaction: Queries, caller: Caller, id: string, make: Change): Promise<Subscription> {
  const { organizationId } = caller;
  if ((await lockSubscription(transaction, organizationId, id)) === undefined)
    throw new Refusal('not_found', NO_SUCH_THING);
  const opened = await bringUpToDate(transaction, organizationId, [id], new Room(OPENED_BYTES_MAX));
  const row = await lockSubscription(transaction, organizationId, id);
  if (row === undefined) throw new Error('a subscription that is locked is gone');
  if (row.status === 'CANCELED') throw new Refusal('subscription_ended', ENDED);
  if (await isBehind(transaction, row)) throw new Refusal('subscription_behind', BEHIND);
  const events = await make(transaction, row, credentialOf(caller));
  const subscription = await findSubscription(transaction, organizationId, id);
  if (subscription === undefined) throw new Error('a subscription that is locked is gone');
  await appendFeed(transaction, organizationId, [...opened, ...events]);
  return subscription;
}

function checkPlan(plan: LockedPlan, row: SubscriptionRow): NonNullable<LockedPlan> {
  if (plan === undefined)
    throw new Refusal('not_found', 'Your organization has no plan with this plan_id: see GET /api/v1/plans.');
  if (!plan.is_active && plan.id !== row.plan_id)
    throw new Refusal('plan_inactive', 'This plan takes no new subscriptions: set its is_active, or choose another.');
  if (plan.currency !== row.currency) {
    const detail = `This plan is in ${plan.currency}, and the subscription in ${row.currency}: make a new subscription.`;
    throw new Refusal('currency_differs', detail);
  }
  return plan;
}
