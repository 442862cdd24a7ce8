// Events as they are read and sent again: their metadata is that of their senders, to the last digit.

import { client, send, type Answer, type Schema } from '../api/client.ts';
import { parseExact, writeExact } from '../api/exact-json.ts';
import type { paths } from '../api/openapi.d.ts';

export type EventReceipt = Schema<'EventReceipt'>;

/** Events that were rejected for one reason. */
export type Rejection = Answer<'/api/v1/events/rejections'>['data'][number];

type Query = paths['/api/v1/events']['get']['parameters']['query'];

/** Which events. */
export type EventFilter = Omit<NonNullable<Query>, 'cursor' | 'limit'>;

/** Returns a page of events, newest first. */
export async function listEvents(query: Query, signal?: AbortSignal): Promise<Answer<'/api/v1/events'>> {
  const options = { params: { query }, parseAs: 'text', ...(signal !== undefined && { signal }) } as const;
  return parseExact(await send(client.GET('/api/v1/events', options))) as Answer<'/api/v1/events'>;
}

/** Returns the receipt of an event. */
export async function findEvent(id: string, signal: AbortSignal): Promise<EventReceipt> {
  const options = { params: { path: { id } }, parseAs: 'text', signal } as const;
  return parseExact(await send(client.GET('/api/v1/events/{id}', options))) as EventReceipt;
}

/** Sends a rejected event again; null takes its idempotency key away. */
export async function replay(id: string, metadata?: Record<string, unknown>, key?: null): Promise<unknown> {
  return await send(
    client.POST('/api/v1/events/{id}/replay', {
      params: { path: { id } },
      body: { ...(metadata !== undefined && { metadata }), ...(key === null && { idempotency_key: null }) },
      bodySerializer: writeExact,
    }),
  );
}

/** Takes a recorded event out of the count. */
export async function voidEvent(id: string, reason: string): Promise<unknown> {
  return await send(client.POST('/api/v1/events/{id}/void', { params: { path: { id } }, body: { reason } }));
}

export type Amendment = paths['/api/v1/events/{id}/amend']['post']['requestBody']['content']['application/json'];

/** Has another event count in the place of a recorded one. */
export async function amend(id: string, body: Amendment): Promise<Schema<'CorrectionMade'>> {
  const options = { params: { path: { id } }, body, bodySerializer: writeExact };
  return await send(client.POST('/api/v1/events/{id}/amend', options));
}
