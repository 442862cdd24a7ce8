// What hostile clients send: requests as text, and bodies that are much work to read.

import { base62Of, randomBase62 } from '@weir/shared/base62';
import { randomUUID } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Message } from '../clients/http-client.ts';
import type { HostileAccount } from '../history.ts';

const TRACK = '/api/v1/sdk/track';
const BATCH = '/api/v1/sdk/track/batch';

/** The most events that a batch may hold. */
export const BATCH_EVENTS = 1_000;

/** The customer of all that hostile clients report; a widget token of each account shows its usage. */
export const HOSTILE_CUSTOMER = 'stranger';

/** A request as it goes over a connection, in one piece. */
export function textOf({ method, path, headers, body }: Message): string {
  const lines = [`${method} ${path} HTTP/1.1`, 'host: weir'];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  if (body !== undefined) lines.push('content-type: application/json', `content-length: ${Buffer.byteLength(body)}`);
  return `${lines.join('\r\n')}\r\n\r\n${body ?? ''}`;
}

/** An event of the account's meter under a key that nobody has used; as JSON. */
export function newEvent(token: string): string {
  return JSON.stringify({
    meter_token: token,
    customer_external_id: HOSTILE_CUSTOMER,
    quantity: 1,
    idempotency_key: randomUUID(),
  });
}

export function trackMessage({ apiKey, meterToken }: HostileAccount, token = meterToken): Message {
  return { method: 'POST', path: TRACK, headers: { 'x-api-key': apiKey }, body: newEvent(token) };
}

export function batchMessage({ apiKey }: HostileAccount, events: readonly string[]): Message {
  return {
    method: 'POST',
    path: BATCH,
    headers: { 'x-api-key': apiKey },
    body: `{"events":[${events.join(',')}]}`,
  };
}

export function loginMessage(email: string, password: string): Message {
  return { method: 'POST', path: '/api/v1/auth/login', headers: {}, body: JSON.stringify({ email, password }) };
}

/** Reads of the account, of every kind of credential. */
export function readMessages({ apiKey, session, widgetToken, meterId }: HostileAccount): Message[] {
  const get = (path: string, headers: Record<string, string>): Message => ({ method: 'GET', path, headers });
  return [
    get(`/api/v1/meters/${meterId}/usage`, { 'x-api-key': apiKey }),
    get('/api/v1/events?limit=100', { 'x-api-key': apiKey }),
    get('/api/v1/features', { cookie: `access_token=${session}` }),
    get('/api/v1/widget/usage', { authorization: `Bearer ${widgetToken}` }),
    get('/openapi.json', {}),
  ];
}

/** Ten thousand buckets, the most that one answer may have: about a megabyte. */
export function bucketsMessage({ widgetToken, meterId }: HostileAccount): Message {
  const path = `/api/v1/widget/meters/${meterId}/usage?group_by=hour&start_date=2025-01-01T00:00:00Z&end_date=2026-02-21T16:00:00Z`;
  return { method: 'GET', path, headers: { authorization: `Bearer ${widgetToken}` } };
}

const KEY_RANDOM_CHARACTERS = 27;
const CHECKSUM_CHARACTERS = 6;

/** An API key with a checksum that is right, which nobody was given: it has to be looked up. */
export function unknownApiKey(): string {
  const unchecked = `org_live_${randomBase62(KEY_RANDOM_CHARACTERS)}`;
  return unchecked + base62Of(crc32(unchecked), CHECKSUM_CHARACTERS);
}

/** A little below the 8 KiB that metadata may have. */
const METADATA_BYTES = 8_000;

/** Metadata that costs more than its bytes: many empty arrays, many levels, many small elements, endless digits. */
const HEAVY_METADATA: readonly string[] = [
  `{"a":[${repeat('[]', METADATA_BYTES)}]}`,
  `{"a":${'['.repeat(METADATA_BYTES / 2)}${']'.repeat(METADATA_BYTES / 2)}}`,
  `{"a":[${repeat('0', METADATA_BYTES)}]}`,
  `{"a":${'1'.repeat(METADATA_BYTES)}}`,
  `{"a":"${'e1'.repeat(METADATA_BYTES / 2)}"}`,
  `{"a":[${repeat('{"b":[[{}]]}', METADATA_BYTES)}]}`,
];

/** Batches of about 8 MB without keys, one for each kind of metadata; made once for all, since they are large. */
export function heavyBatches(account: HostileAccount): Message[] {
  return HEAVY_METADATA.map((metadata) => {
    const event = `{"meter_token":"${account.meterToken}","customer_external_id":"${HOSTILE_CUSTOMER}","quantity":1,"metadata":${metadata}}`;
    return batchMessage(
      account,
      Array.from({ length: BATCH_EVENTS }, () => event),
    );
  });
}

function repeat(element: string, bytes: number): string {
  return Array.from({ length: Math.floor(bytes / (element.length + 1)) }, () => element).join(',');
}
