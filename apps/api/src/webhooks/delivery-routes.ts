// What was sent to an endpoint, and what came back.

import { FEED_TYPES } from '@weir/billing/feed-events';
import { insertTest, listDeliveries, retryDelivery, TEST_TYPE, type Delivery } from '@weir/db/webhooks/deliveries';
import { findEndpoint } from '@weir/db/webhooks/webhook-endpoints';
import type { Attempt } from '@weir/db/webhooks/webhook-tables';
import { Refusal } from '@weir/shared/errors';
import { LIMITS } from '@weir/shared/limits';
import { z } from 'zod';
import { answerOf, answerPage, idInPath, listQuery, oneOf, pageSchema, time } from '../http/fields.ts';
import { found, problemResponses } from '../http/problem.ts';
import type { App } from '../http/typed-app.ts';
import { done, made, writing } from '../http/writing/writing.ts';
import type { RouteDeps } from '../route-deps.ts';

const STATUSES = ['PENDING', 'DELIVERED', 'FAILED'] as const;

const attempt = answerOf<Attempt>()({
  at: time,
  status: z.int().nullable().meta({ description: 'Of the answer. Null: there was none.' }),
  ms: z.int().min(0),
  error: z.string().nullable().meta({ description: 'Why there was none.' }),
  answer: z
    .string()
    .nullable()
    .meta({ description: 'The first KiB of the answer. Null: there was none, or it was erased with a customer.' }),
}).meta({ id: 'WebhookAttempt' });

const deliveryAnswer = answerOf<Delivery>()({
  id: z.uuid(),
  endpoint_id: z.uuid(),
  type: z.enum([...FEED_TYPES, TEST_TYPE]),
  sequence: z.int().min(1).nullable().meta({ description: 'Of the event in the feed. Null: a test.' }),
  status: z.enum(STATUSES),
  attempt_count: z.int().min(0).meta({ description: 'All that were made.' }),
  attempts: z.array(attempt).meta({ description: `The last ${LIMITS.deliveryAttempts}, oldest first.` }),
  next_attempt_at: time.nullable().meta({ description: 'Null: when it is its turn, or never again.' }),
  delivered_at: time.nullable(),
  created_at: time,
}).meta({ id: 'WebhookDelivery' });

const DISABLED = 'The endpoint is turned off: set its status to ACTIVE first.';

const WAITING = `${LIMITS.waitingTests} tests of this endpoint wait already: send another one when they are done.`;

export function deliveryRoutes(app: App, { database, guards }: RouteDeps): void {
  app.get(
    '/api/v1/webhook-endpoints/:id/deliveries',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'listWebhookDeliveries',
        tags: ['Webhooks'],
        summary: 'What was sent to an endpoint, newest first, with every attempt',
        description:
          `What is done with is kept for ${LIMITS.deliveryDays} days, and the last ${LIMITS.deliveries} of an endpoint; what is still ` +
          'to be sent, until it is.',
        params: idInPath,
        querystring: listQuery({ status: oneOf(STATUSES).optional() }),
        response: { 200: pageSchema(deliveryAnswer) },
      },
    },
    async ({ caller, params, query }) => {
      const page = found(await listDeliveries(database.kysely, caller.organizationId, params.id, query));
      return answerPage(page);
    },
  );

  app.post(
    '/api/v1/webhook-endpoints/:id/test',
    {
      onRequest: guards.biller,
      schema: {
        operationId: 'testWebhookEndpoint',
        tags: ['Webhooks'],
        summary: 'Send a test to an endpoint',
        description:
          'Of the type webhook.test, signed like all others, within a second or so and once. Its delivery says what came back. While ' +
          `${LIMITS.waitingTests} of an endpoint wait, one more is answered 429.`,
        params: idInPath,
        response: { 201: deliveryAnswer, ...problemResponses('webhook_endpoint_disabled') },
      },
    },
    writing(database, ({ caller, params }, write) =>
      write.transaction(async (transaction) => {
        const endpoint = found(await findEndpoint(transaction, caller.organizationId, params.id));
        if (endpoint.status === 'DISABLED') throw new Refusal('webhook_endpoint_disabled', DISABLED);
        const test = found(await insertTest(transaction, caller.organizationId, params.id));
        if (test === 'full') throw new Refusal('rate_limited', WAITING, { retryAfterSeconds: 15 });
        return made(test);
      }),
    ),
  );

  app.post(
    '/api/v1/deliveries/:id/retry',
    {
      onRequest: guards.biller,
      schema: {
        operationId: 'retryWebhookDelivery',
        tags: ['Webhooks'],
        summary: 'Send one event to its endpoint again',
        description:
          'Now, and by the schedule while that fails, whatever came of it before. While the endpoint is turned off it waits. What the ' +
          'receiver answered is null here: the list of deliveries has it.',
        params: idInPath,
        response: { 200: deliveryAnswer },
      },
    },
    writing(database, ({ caller, params }, write) =>
      write.transaction(async (transaction) => {
        const delivery = found(await retryDelivery(transaction, caller.organizationId, params.id));
        // They may quote a customer. With the key of a request they would be kept once more, where its erasure does not find them.
        return done({ ...delivery, attempts: delivery.attempts.map((each) => ({ ...each, answer: null })) });
      }),
    ),
  );
}
