// Subscriptions: a customer on a plan. How one is made is in subscribe.ts, and what changes one in subscription-change-routes.ts.

import type { Drive } from '@weir/billing/drive';
import { hasRebilling } from '@weir/db/billing/subscriptions/dues';
import { listPeriods } from '@weir/db/billing/subscriptions/subscription-periods';
import { listSubscriptions } from '@weir/db/billing/subscriptions/subscriptions';
import type { QueueConnection } from '@weir/queue/connection';
import { z } from 'zod';
import { answerPage, idInPath, pageSchema } from '../http/fields.ts';
import { found, problemResponses } from '../http/problem.ts';
import { credentialOf } from '../http/load/caller.ts';
import type { App } from '../http/typed-app.ts';
import { inTurns, type Turns } from '../http/load/turns.ts';
import { writing } from '../http/writing/writing.ts';
import { reading } from '../http/writing/versions.ts';
import { subscriptions } from './change-subscription.ts';
import { entitlementAnswer, readEntitlements } from './entitlement-answer.ts';
import { subscribe } from './subscribe.ts';
import {
  periodsAnswer,
  periodsQuery,
  subscriptionAnswer,
  subscriptionBody,
  subscriptionQuery,
} from './subscription-body.ts';
import type { RouteDeps } from '../route-deps.ts';

export interface SubscribingDeps extends RouteDeps {
  queue: QueueConnection;
  turns: Turns;
  /** Has the run look at an organization where a subscription was made: one with a start long ago has work for it. Never fails. */
  wakeRun(organizationId: string): void;
}

const subscriptionWithEntitlements = subscriptionAnswer
  .extend({
    entitlements: z.array(entitlementAnswer),
    is_rebilling: z.boolean().meta({
      description:
        'Whether a void invoice has left something for the next one: what it billed, where it was voided with `rebill`, and in any case what it ' +
        'took away of what earlier ones billed. It is on a draft, else on the next invoice, or at once on that of ' +
        '`POST /subscriptions/{id}/settle`.',
    }),
  })
  .meta({ id: 'SubscriptionWithEntitlements' });

export function subscriptionRoutes(app: App, { database, queue, guards, turns, wakeRun }: SubscribingDeps): void {
  const db = database.kysely;
  const drive: Drive = (work) => inTurns(turns, work);

  app.post(
    '/api/v1/subscriptions',
    {
      onRequest: guards.biller,
      schema: {
        operationId: 'createSubscription',
        tags: ['Billing'],
        summary: 'Subscribe a customer to a plan',
        description:
          'From start_date on it is billed as if it had been there: each past period gets an invoice of its own. A meter ' +
          'of a customer is billed by one subscription at a time.',
        body: subscriptionBody,
        response: {
          201: subscriptionAnswer,
          ...problemResponses(
            'not_found',
            'external_id_taken',
            'plan_inactive',
            'meter_already_billed',
            'subscription_behind',
            'customer_erased',
            'usage_moving',
          ),
        },
      },
    },
    writing(database, async (request, write) => {
      const { organizationId } = request.caller;
      const subscriber = { organizationId, actor: credentialOf(request.caller) };
      const written = await subscribe(db, write, { subscriber, body: request.body, drive });
      wakeRun(organizationId);
      return written;
    }),
  );

  app.get(
    '/api/v1/subscriptions',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'listSubscriptions',
        tags: ['Billing'],
        summary: 'List the subscriptions, newest first',
        querystring: subscriptionQuery,
        response: { 200: pageSchema(subscriptionAnswer) },
      },
    },
    async (request) => {
      const {
        customer_id: customerId,
        plan_id: planId,
        external_id: externalId,
        has_run_error: hasRunError,
        status,
        sort,
        ...page
      } = request.query;
      const filter = { customerId, planId, externalId, hasRunError, status, sort };
      return answerPage(await listSubscriptions(db, request.caller.organizationId, filter, page));
    },
  );

  app.get(
    '/api/v1/subscriptions/:id',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'getSubscription',
        tags: ['Billing'],
        summary: 'Read a subscription and what its customer may use by it',
        params: idInPath,
        response: { 200: subscriptionWithEntitlements },
      },
    },
    reading(database, subscriptions, async (subscription, { caller: { organizationId } }) => {
      const entitled = { subscriptionId: subscription.id };
      return {
        ...subscription,
        is_rebilling: await hasRebilling(db, organizationId, subscription.id),
        entitlements: await readEntitlements({ database, queue }, { organizationId, entitled }),
      };
    }),
  );

  app.get(
    '/api/v1/subscriptions/:id/periods',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'listSubscriptionPeriods',
        tags: ['Billing'],
        summary: 'List the periods of a subscription, oldest first: all past ones, the current, and the next',
        params: idInPath,
        querystring: periodsQuery,
        response: { 200: periodsAnswer },
      },
    },
    async (request) => {
      const { id } = request.params;
      const data = found(
        await listPeriods(database, request.caller.organizationId, { id, count: request.query.count }),
      );
      return { data };
    },
  );
}
