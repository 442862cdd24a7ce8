// Endpoints that are told of what happens in billing. What is sent to them, and when, is the worker's (apps/worker/src/webhooks).

import { FEED_TYPES } from '@weir/billing/feed-events';
import type { Queries } from '@weir/db/database';
import { holdOrganization, holdRow } from '@weir/db/hold-row';
import {
  countEndpoints,
  deleteEndpoint,
  findEndpoint,
  insertEndpoint,
  listEndpoints,
  rotateSecret,
  startReplay,
  updateEndpoint,
  type WebhookEndpoint,
} from '@weir/db/webhooks/webhook-endpoints';
import { Refusal } from '@weir/shared/errors';
import { LIMITS } from '@weir/shared/limits';
import type { Networks } from '@weir/shared/networks';
import { text } from '@weir/shared/text';
import { newWebhookSecret, webhookSecretText } from '@weir/shared/webhook-signature';
import { z } from 'zod';
import {
  answerOf,
  answerPage,
  changesOf,
  idInPath,
  listQuery,
  nothing,
  nullInRepeats,
  oneOf,
  pageSchema,
  time,
} from '../http/fields.ts';
import { found, invalidFields, problemResponses } from '../http/problem.ts';
import type { App } from '../http/typed-app.ts';
import { done, gone, made, writing } from '../http/writing/writing.ts';
import { changing, reading, type Versioned } from '../http/writing/versions.ts';
import type { RouteDeps } from '../route-deps.ts';
import { replayBody, replayOf } from './replay-body.ts';
import { problemOfWebhookUrl } from './webhook-url.ts';

export interface WebhookDeps extends RouteDeps {
  /** Where plain http, and addresses that are not on the Internet, are taken. */
  allowedNetworks: Networks;
}

const eventTypes = z
  .array(oneOf(FEED_TYPES))
  .min(1, 'must hold at least one type; null means all')
  .max(FEED_TYPES.length, `must hold at most ${FEED_TYPES.length} types`)
  .refine((list) => new Set(list).size === list.length, 'must not hold a type twice')
  .nullable()
  .meta({
    uniqueItems: true,
    description: 'Only events of these types. Null: all, also those that later versions add.',
  });

const status = oneOf(['ACTIVE', 'DISABLED']);

const endpointAnswer = answerOf<WebhookEndpoint>()({
  id: z.uuid(),
  url: z.string(),
  event_types: z.array(z.enum(FEED_TYPES)).nullable().meta({ description: 'Null: all.' }),
  status: z.enum(['ACTIVE', 'DISABLED']),
  disabled_reason: z
    .enum(['FAILING', 'GONE'])
    .nullable()
    .meta({
      description: `Why Weir turned it off: ${LIMITS.failingDays} days without a success, or an answer of 410.`,
    }),
  last_sequence: z.int().min(0).meta({ description: 'How far it has come in the feed.' }),
  replay: z
    .object({ next_sequence: z.int().min(1), last_sequence: z.int().min(1) })
    .nullable()
    .meta({ description: 'What is still to be sent again of a replay.' }),
  failing_since: time.nullable().meta({
    description:
      'Since when it has been tried without a success; tests that fail do not count. Null: nothing has failed since one did well, or since it was changed.',
  }),
  previous_secret_until: time.nullable().meta({ description: 'Until when the secret before signs as well.' }),
  created_at: time,
}).meta({ id: 'WebhookEndpoint' });

const withSecret = endpointAnswer
  .extend({
    secret: z
      .string()
      .nullable()
      .meta({
        description: `What signs. It is shown here and never again. ${nullInRepeats('rotate, or make another one')}`,
      }),
  })
  .meta({ id: 'WebhookEndpointWithSecret' });

const TOO_MANY = `would be more than ${LIMITS.webhookEndpoints} endpoints of an organization: delete one`;

const REPLAY_UNDER_WAY = 'Events are still being sent again to this endpoint: wait until its replay is null.';

const endpoints: Versioned<WebhookEndpoint> = {
  read: async (...which) => found(await findEndpoint(...which)),
  hold: holdRow('webhook_endpoints'),
  living: ['last_sequence', 'replay', 'failing_since', 'previous_secret_until'],
};

export function webhookRoutes(app: App, { database, guards, allowedNetworks }: WebhookDeps): void {
  const url = text(1, LIMITS.url)
    .superRefine((value, { addIssue }) => {
      const message = problemOfWebhookUrl(value, allowedNetworks);
      if (message !== undefined) addIssue({ code: 'custom', message });
    })
    .meta({ format: 'uri', description: 'https. Redirects are not followed.', examples: ['https://example.com/weir'] });

  app.post(
    '/api/v1/webhook-endpoints',
    {
      onRequest: guards.biller,
      schema: {
        operationId: 'createWebhookEndpoint',
        tags: ['Webhooks'],
        summary: 'Have events sent to a URL',
        description:
          'Each event of the feed that happens from now on is sent at least once, signed as Standard Webhooks has it. ' +
          `An organization has at most ${LIMITS.webhookEndpoints} endpoints.`,
        body: z.strictObject({
          url,
          event_types: eventTypes.default(null),
          status: status.default('ACTIVE').meta({ description: 'DISABLED: nothing is sent until it is turned on.' }),
        }),
        response: { 201: withSecret },
      },
    },
    writing(database, ({ caller, body }, write) => {
      const secret = newWebhookSecret();
      return write.transaction(async (transaction) => {
        await holdOrganization(transaction, caller.organizationId);
        if ((await countEndpoints(transaction, caller.organizationId)) >= LIMITS.webhookEndpoints)
          throw invalidFields([{ path: '', message: TOO_MANY }]);
        const endpoint = await insertEndpoint(transaction, caller.organizationId, { ...body, secret });
        return made({ ...endpoint, secret: webhookSecretText(secret) }, ['secret']);
      });
    }),
  );

  app.get(
    '/api/v1/webhook-endpoints',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'listWebhookEndpoints',
        tags: ['Webhooks'],
        summary: 'List the webhook endpoints, oldest first',
        description: 'Without their secrets.',
        querystring: listQuery({}),
        response: { 200: pageSchema(endpointAnswer) },
      },
    },
    async ({ caller, query }) => answerPage(await listEndpoints(database.kysely, caller.organizationId, query)),
  );

  app.get(
    '/api/v1/webhook-endpoints/:id',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'getWebhookEndpoint',
        tags: ['Webhooks'],
        summary: 'Get a webhook endpoint',
        description: 'Without its secret.',
        params: idInPath,
        response: { 200: endpointAnswer },
      },
    },
    reading(database, endpoints),
  );

  app.patch(
    '/api/v1/webhook-endpoints/:id',
    {
      onRequest: guards.biller,
      schema: {
        operationId: 'updateWebhookEndpoint',
        tags: ['Webhooks'],
        summary: 'Change a webhook endpoint, or turn it off or on',
        description:
          'Turned on, it goes on where it was: what happened meanwhile is sent to it. With other event_types, what waits to be sent ' +
          'and is of none of them is given up: its delivery is FAILED, and is sent all the same where it is retried. What other types ' +
          'they add is sent as it happens, and from before by a replay.',
        params: idInPath,
        body: changesOf({ url, event_types: eventTypes, status }),
        response: { 200: endpointAnswer },
      },
    },
    changing(database, endpoints, ({ caller, params, body }, write) =>
      write.transaction(async (transaction) =>
        done(found(await updateEndpoint(transaction, caller.organizationId, params.id, body))),
      ),
    ),
  );

  app.delete(
    '/api/v1/webhook-endpoints/:id',
    {
      onRequest: guards.biller,
      schema: {
        operationId: 'deleteWebhookEndpoint',
        tags: ['Webhooks'],
        summary: 'Delete a webhook endpoint',
        description: 'With its deliveries. What is under way to it may still arrive.',
        params: idInPath,
        response: { 204: nothing },
      },
    },
    writing(database, ({ caller, params }, write) =>
      write.transaction(async (transaction) => {
        found(await deleteEndpoint(transaction, caller.organizationId, params.id));
        return gone();
      }),
    ),
  );

  app.post(
    '/api/v1/webhook-endpoints/:id/rotate',
    {
      onRequest: guards.biller,
      schema: {
        operationId: 'rotateWebhookSecret',
        tags: ['Webhooks'],
        summary: 'Give a webhook endpoint another secret',
        description: `For ${LIMITS.rotationHours} hours both sign, so that the receiver can be changed meanwhile. Rotated again, only the last two.`,
        params: idInPath,
        response: { 200: withSecret },
      },
    },
    writing(database, ({ caller, params }, write) => {
      const secret = newWebhookSecret();
      return write.single(async (db) => {
        const endpoint = found(await rotateSecret(db, caller.organizationId, params.id, secret));
        return done({ ...endpoint, secret: webhookSecretText(secret) }, ['secret']);
      });
    }),
  );

  app.post(
    '/api/v1/webhook-endpoints/:id/replay',
    {
      onRequest: guards.biller,
      schema: {
        operationId: 'replayWebhooks',
        tags: ['Webhooks'],
        summary: 'Send events of before again',
        description:
          'Those of a part of the feed, of the types that the endpoint takes, also from before it was made. They have the webhook-id ' +
          'that they had before. replay in the answer is null where there is none. While the endpoint is turned off they wait.',
        params: idInPath,
        body: replayBody,
        response: { 200: endpointAnswer, ...problemResponses('replay_under_way') },
      },
    },
    writing(database, ({ caller, params, body }, write) =>
      write.transaction(async (transaction) => done(await replay(transaction, caller.organizationId, params.id, body))),
    ),
  );
}

async function replay(
  transaction: Queries,
  organizationId: string,
  id: string,
  body: z.output<typeof replayBody>,
): Promise<WebhookEndpoint> {
  const endpoint = await startReplay(transaction, organizationId, id, replayOf(body));
  if (endpoint === 'busy') throw new Refusal('replay_under_way', REPLAY_UNDER_WAY);
  return found(endpoint);
}
