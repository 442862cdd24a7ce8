// Whether a webhook comes from Weir: Standard Webhooks, for the receiver's side.

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { EventData } from './billing-events.ts';
import { WeirError } from './error.ts';

interface WebhookOf<Type extends string, Data> {
  /** The same each time that it is sent: what was seen is dropped by it. */
  id: string;
  /** Such as `invoice.finalized`. A later Weir may send others than these: they are to be taken, and let be. */
  type: Type;
  /** When it happened, ISO 8601. */
  timestamp: string;
  /** With `sequence`, by which events are put in order; null in a test. */
  data: Data;
}

/** What came: a thing that happened in billing. Its `type` says what `data` holds. */
export type Webhook =
  | {
      [Type in keyof EventData]: WebhookOf<Type, EventData[Type] & { sequence: number; actor: string }>;
    }[keyof EventData]
  | WebhookOf<'webhook.test', { sequence: null; actor: string }>;

export interface VerifyOptions {
  /** How far the time in the headers may be from this machine's, in seconds. Default: 300. */
  toleranceSeconds?: number;
  /** The time of this machine, in milliseconds since 1970. */
  now?: () => number;
}

/** Headers as `fetch` or Node's `http` has them. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

const TOLERANCE_SECONDS = 300;

/**
 * Returns what came, when it is signed by one of the secrets of the endpoint (`whsec_…`) and not old. Throws a {@link WeirError} with the code
 * `webhook_not_verified` else: answer 400 then. The body is what was received, to the byte, and no JSON that was written anew.
 */
export function verifyWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  { toleranceSeconds = TOLERANCE_SECONDS, now = Date.now }: VerifyOptions = {},
): Webhook {
  const [id, at, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    headerOf(headers, name),
  );
  if (id === undefined || at === undefined || signatures === undefined)
    throw refuse('The headers webhook-id, webhook-timestamp and webhook-signature are not all there.');
  if (!/^\d{1,15}$/.test(at) || !(Math.abs(now() / 1_000 - Number(at)) <= toleranceSeconds))
    throw refuse(`It was signed more than ${toleranceSeconds} s before or after this machine's time.`);
  const bytes = typeof body === 'string' ? Buffer.from(body, 'utf8') : body;
  const expected = [secrets]
    .flat()
    .map((secret) => createHmac('sha256', keyOf(secret)).update(`${id}.${at}.`).update(bytes).digest());
  if (expected.length === 0) throw new RangeError('verifyWebhook needs the secret of the endpoint');
  const given = signatures
    .split(' ')
    .flatMap((each) => (each.startsWith('v1,') ? [Buffer.from(each.slice(3), 'base64')] : []));
  const isSigned = given.some((each) =>
    expected.some((signature) => each.length === signature.length && timingSafeEqual(each, signature)),
  );
  if (!isSigned) throw refuse('No signature is by a secret of this endpoint over exactly these bytes.');
  return { ...(JSON.parse(Buffer.from(bytes).toString('utf8')) as Webhook), id };
}

function headerOf(headers: WebhookHeaders, name: string): string | undefined {
  if (typeof headers.get === 'function')
    return (headers as { get(name: string): string | null }).get(name) ?? undefined;
  const value = Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1];
  return typeof value === 'string' ? value : value?.[0];
}

function keyOf(secret: string): Buffer {
  // Of 32 bytes: with a part of it, which an environment may give, anybody could sign.
  if (!/^whsec_[A-Za-z0-9+/]{43}=$/.test(secret))
    throw new RangeError('the secret of a webhook endpoint is whsec_ and 44 characters');
  return Buffer.from(secret.slice('whsec_'.length), 'base64');
}

function refuse(detail: string): WeirError {
  return new WeirError({ status: 0, code: 'webhook_not_verified', detail, transient: false });
}
