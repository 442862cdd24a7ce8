// What tests leave in the feed, held against the document: each event as a webhook of it is sent.

import type { FeedType } from '@weir/billing/feed-events';
import { expect } from 'vitest';
import type { Weir } from './harness.ts';
import { readOpenapi, type Schema } from './openapi-document.ts';

type Maker = 'a life of billing' | 'alerts' | 'the model' | 'the run' | 'unbilled usage' | 'webhooks';

/** Which test makes each type at least, and holds it against the document. One that is missing does not compile. */
const MADE_BY: Record<FeedType, Maker> = {
  'invoice.created': 'the model',
  'invoice.finalized': 'the model',
  'invoice.credited': 'the model',
  'invoice.payment_recorded': 'the model',
  'invoice.paid': 'the model',
  'invoice.payment_taken_back': 'the model',
  'invoice.voided': 'the model',
  'invoice.uncollectible': 'a life of billing',
  'invoice.past_due': 'the run',
  'subscription.created': 'the model',
  'subscription.activated': 'the model',
  'subscription.changed': 'the model',
  'subscription.past_due': 'the run',
  'subscription.canceled': 'the model',
  'credit.granted': 'the model',
  'credit.voided': 'a life of billing',
  'usage.unpriced': 'unbilled usage',
  'usage.threshold_reached': 'alerts',
  'webhook_endpoint.disabled': 'webhooks',
};

/**
 * Expects that all events which a file's tests left are what the document says and no more, and that those among them are of every type
 * that it makes. `of` leaves out others, which a test appended by itself.
 */
export async function expectDocumentedFeed(
  weir: Weir,
  maker: Maker,
  of: { organization?: string; type?: FeedType } = {},
): Promise<void> {
  const { rows } = await weir.pool.query<{ type: FeedType; body: object }>(
    `SELECT type, jsonb_build_object('type', type, 'timestamp', to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
       'data', data || jsonb_build_object('sequence', sequence, 'actor', actor)) AS body
     FROM billing_events
     WHERE ($1::uuid IS NULL OR organization_id = $1) AND ($2::text IS NULL OR type = $2) ORDER BY organization_id, sequence`,
    [of.organization, of.type],
  );
  const { webhooks } = (await weir.request('GET', '/openapi.json')).body;
  const { isValid } = await readOpenapi(weir);
  const schemaOf = (type: FeedType): Schema =>
    withoutMore(webhooks[type].post.requestBody.content['application/json'].schema);
  const wrong = rows.filter(({ type, body }) => !isValid(schemaOf(type), body));
  expect(wrong.map(({ body }) => JSON.stringify(body))).toEqual([]);
  const made = Object.entries(MADE_BY).flatMap(([type, by]) => (by === maker ? [type] : []));
  expect([...new Set(rows.map(({ type }) => type))]).toEqual(expect.arrayContaining(made));
}

/** The document leaves room for fields of later versions. This version has none of them. */
function withoutMore(schema: Schema): Schema {
  const { properties } = schema;
  if (properties === undefined) return schema;
  const strict = Object.entries(properties).map(([name, each]) => [name, withoutMore(each)]);
  return { ...schema, properties: Object.fromEntries(strict), additionalProperties: false };
}
