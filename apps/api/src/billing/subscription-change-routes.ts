// Ends a subscription, and takes back what has not taken place yet. Putting it on another plan: plan-change-routes.ts.

import type { NewFeedEvent } from '@weir/billing/feed-events';
import { cancelAtPeriodEnd, cancelNow, keepAfterPeriodEnd } from '@weir/db/billing/subscriptions/cancel';
import { changeAtPeriodEnd } from '@weir/db/billing/subscriptions/change-plan';
import type { Subscription } from '@weir/db/billing/subscriptions/subscriptions';
import type { Caller } from '../http/load/caller.ts';
import { idInPath } from '../http/fields.ts';
import { problemResponses } from '../http/problem.ts';
import type { App } from '../http/typed-app.ts';
import { done, writing, type Write, type Written } from '../http/writing/writing.ts';
import { changing } from '../http/writing/versions.ts';
import { changeSubscription, subscriptions, type Change } from './change-subscription.ts';
import { cancelBody, subscriptionAnswer, subscriptionChanges } from './subscription-body.ts';
import type { RouteDeps } from '../route-deps.ts';

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
        response: { 200: subscriptionAnswer, ...problemResponses('subscription_ended', 'subscription_behind') },
      },
    },
    changing(database, subscriptions, async (request, write) => {
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
        response: { 200: subscriptionAnswer, ...problemResponses('subscription_ended', 'subscription_behind') },
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
}

/** Makes a change in one transaction, and answers with the subscription as it is then. */
function change(write: Write, caller: Caller, id: string, make: Change): Promise<Written<Subscription>> {
  return write.transaction(async (transaction) => done(await changeSubscription(transaction, caller, id, make)));
}
