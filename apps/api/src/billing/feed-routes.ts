// The feed of billing, for those who want to miss nothing: each event has a number, none is left out, and none comes
// later with a number that was read past (@weir/db/billing/feed).

import { FEED_TYPES } from '@weir/billing/feed-events';
import { listFeed } from '@weir/db/billing/feed';
import { NO_CURSOR } from '@weir/db/order';
import { z } from 'zod';
import { sizeOf, time } from '../http/fields.ts';
import type { App } from '../http/typed-app.ts';
import type { RouteDeps } from '../route-deps.ts';

/** No organization comes to so many, and every number up to it is exact in JSON. */
const SEQUENCE_MAX = Number.MAX_SAFE_INTEGER;

const feedEvent = z
  .object({
    sequence: z.int().meta({ description: 'Counts from 1, without a gap.' }),
    type: z.enum(FEED_TYPES),
    created_at: time,
    actor: z.string().meta({ description: 'user: and the id of a user, service_account: and the id of one, or weir.' }),
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'BillingEvent' });

/** A whole number from 0, in a query string. */
const sequenceOr = (message: string) =>
  z
    .unknown()
    .refine((value) => typeof value === 'string' && /^\d{1,16}$/.test(value) && Number(value) <= SEQUENCE_MAX, message)
    .meta({ type: 'integer', minimum: 0, maximum: SEQUENCE_MAX })
    .transform(Number)
    .optional();

const feedQuery = z
  .strictObject({
    cursor: sequenceOr(NO_CURSOR).meta({ description: 'The meta.next_cursor of the page before.' }),
    limit: sizeOf('longPageSize'),
    after: sequenceOr('must be a whole number: the next_after of the answer before, or 0').meta({
      description: 'Only events with a higher sequence: whoever has read to the end asks again with meta.next_after.',
    }),
  })
  .refine(({ cursor, after }) => cursor === undefined || after === undefined, {
    path: ['cursor'],
    error: 'must not be sent together with after: send one of them',
  });

export function feedRoutes(app: App, { database, guards }: RouteDeps): void {
  app.get(
    '/api/v1/billing-events',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'listBillingEvents',
        tags: ['Billing'],
        summary: 'What happened, in the order in which it happened',
        description:
          'Follow meta.next_cursor until it is null. Then ask again with after, the last meta.next_after: what comes later has a higher ' +
          'sequence, and nothing is missed or comes twice.',
        querystring: feedQuery,
        response: {
          200: z.object({
            data: z.array(feedEvent),
            meta: z.object({
              next_after: z.int(),
              next_cursor: z
                .string()
                .nullable()
                .meta({ examples: ['42'] }),
            }),
          }),
        },
      },
    },
    async (request) => {
      const { cursor, after = cursor ?? 0, limit } = request.query;
      const found = await listFeed(database.kysely, request.caller.organizationId, after, limit + 1);
      const data = found.slice(0, limit);
      const next_after = data.at(-1)?.sequence ?? after;
      return { data, meta: { next_after, next_cursor: found.length > limit ? String(next_after) : null } };
    },
  );
}
