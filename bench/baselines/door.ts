// The front door that the other patterns share. It does what Weir's does for a request (check the API key, validate the
// body, know the meter, hash the idempotency key), so that what differs is what happens to the event after that.

import { newId } from '@weir/shared/ids';
import { trackBody, type UsageEvent } from '@weir/shared/event';
import { hash128 } from '@weir/shared/hash';
import fastify, { type FastifyInstance } from 'fastify';
import { createHash } from 'node:crypto';
import type { BaselineSettings } from './baseline-settings.ts';

/** The id of the event that holds the key already; null when this one was taken. */
export type Take = (event: UsageEvent, keyHash: string) => Promise<string | null>;

// Typed loosely: the other answers need no serializer.
const answerSchema: Record<string, object> = {
  201: { type: 'object', properties: { id: { type: 'string' }, timestamp: { type: 'string' } } },
};

const hashOf = (secret: string) => createHash('sha256').update(secret).digest('base64');

export function buildDoor(settings: BaselineSettings, take: Take): FastifyInstance {
  const organizations = new Map([[hashOf(settings.API_KEY), settings.ORGANIZATION_ID]]);
  const meters = new Map([[settings.METER_TOKEN, settings.METER_ID]]);
  const app = fastify({ logger: false });
  app.post('/track', { schema: { response: answerSchema } }, async (request, reply) => {
    const organizationId = organizations.get(hashOf(String(request.headers['x-api-key'])));
    if (organizationId === undefined) return reply.code(401).send({});
    const parsed = trackBody.safeParse(request.body);
    if (!parsed.success) return reply.code(422).send({});
    const { meter_token = '', quantity, metadata, idempotency_key = '', ...rest } = parsed.data;
    const meterId = meters.get(meter_token);
    if (meterId === undefined) return reply.code(404).send({});
    const event: UsageEvent = {
      id: newId(),
      organization_id: organizationId,
      meter_id: meterId,
      customer_external_id: rest.customer_external_id,
      quantity: String(quantity),
      timestamp: rest.timestamp ?? new Date().toISOString(),
      idempotency_key,
      metadata: JSON.stringify(metadata ?? {}),
    };
    const holder = await take(event, hash128(organizationId + idempotency_key));
    if (holder !== null) return reply.code(409).send({ id: holder });
    return reply.code(201).send({ id: event.id, timestamp: event.timestamp });
  });
  return app;
}
