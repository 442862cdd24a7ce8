// Says before a subscription is made what will be issued: a start in the past, or in a wrong year, makes invoices.

import { SUBSCRIPTION_STATUSES } from '@weir/billing/kinds';
import { previewStart } from '@weir/db/billing/subscriptions/preview-start';
import { z } from 'zod';
import { time } from '../http/fields.ts';
import { problemResponses } from '../http/problem.ts';
import type { App } from '../http/typed-app.ts';
import { inTurns, type Turns } from '../http/load/turns.ts';
import { done, writing } from '../http/writing/writing.ts';
import { planSubscription } from './subscribe.ts';
import { subscriptionBody } from './subscription-body.ts';
import type { RouteDeps } from '../route-deps.ts';

const previewAnswer = z
  .object({
    status: z.enum(SUBSCRIPTION_STATUSES),
    time_zone: z.string(),
    periods: z.int().meta({ description: 'How many periods have begun, the open one among them.' }),
    invoices: z.int().meta({ description: 'How many invoices are made of them, each as a draft at first.' }),
    first_period_start: time.nullable().meta({
      description:
        'Of the first of these invoices; null where there is none. One of what is due in advance at the start begins and ends there.',
    }),
    first_period_end: time.nullable().meta({ description: 'Of the same: the first instant after it.' }),
    last_period_end: time.nullable(),
    finalizes_at: time.nullable().meta({
      description:
        'When they are finalized. Null where there is none, and where the billing settings leave it to people.',
    }),
    current_period_start: time,
    current_period_end: time,
  })
  .meta({ id: 'SubscriptionPreview' });

export function previewSubscriptionRoute(app: App, { database, guards, turns }: RouteDeps & { turns: Turns }): void {
  app.post(
    '/api/v1/subscriptions/preview',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'previewSubscription',
        tags: ['Billing'],
        summary: 'See what a subscription would begin with',
        description:
          'The body is that of POST /subscriptions, and nothing is kept. Whether another subscription bills a meter of the plan is ' +
          'not looked at.',
        body: subscriptionBody,
        response: {
          200: previewAnswer,
          ...problemResponses('not_found', 'plan_inactive', 'customer_erased', 'usage_moving'),
        },
      },
    },
    writing(database, async ({ caller, body }, write) => {
      const planned = await planSubscription(database.kysely, caller.organizationId, body);
      return await write.computed(async () =>
        done(await previewStart(database.kysely, caller.organizationId, planned, (work) => inTurns(turns, work))),
      );
    }),
  );
}
