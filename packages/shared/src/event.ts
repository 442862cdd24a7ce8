import { z } from 'zod';
import { epochMsOfId } from './ids.ts';
import { LIMITS } from './limits.ts';
import type { AggregationType } from './meter.ts';
import { text } from './text.ts';

/** What metadata may hold, as one says it. */
export const METADATA_LIMITS = `${LIMITS.metadataKeys} keys, ${LIMITS.metadataBytes / 1024} KiB and ${LIMITS.metadataLevels} levels`;

/**
 * Free key/value data. Only that it is an object is checked here: its limits are checked on its text, before anything walks what
 * was made of it.
 */
export const metadata = z
  .custom<Record<string, unknown>>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    'must be an object',
  )
  .meta({
    type: 'object',
    additionalProperties: {},
    description: `Free key/value data: at most ${METADATA_LIMITS}. A UNIQUE_COUNT meter counts user_id.`,
  });

/** Runs a rule for the whole event beside those for its fields, so that all that is wrong is told at once. */
const when = ({ value }: { value: unknown }) => typeof value === 'object' && value !== null;

/** The body of `POST /sdk/track`, and one item of a batch. Its meter is named by its token or by its feature, and not by both. */
export const trackBody = z
  .strictObject({
    meter_token: text(1, LIMITS.key).optional().meta({
      description: 'The unique token of the meter. An event needs either this or lookup_key.',
    }),
    lookup_key: text(1, LIMITS.key).optional().meta({
      description: 'The lookup_key of the feature behind which the meter stands, in place of meter_token.',
    }),
    customer_external_id: text(1, LIMITS.key).meta({
      description: 'Your own identifier of the customer. No customer record is needed.',
    }),
    quantity: z
      .number()
      .positive('must be greater than 0')
      .max(LIMITS.quantity, `must be at most ${LIMITS.quantity}`)
      .meta({ description: 'A JSON number greater than 0. It is stored as the decimal that was sent.' }),
    timestamp: z
      .string()
      .meta({ description: 'ISO 8601 with an offset. When it is missing, the time of receipt.', format: 'date-time' })
      .optional(),
    idempotency_key: text(1, LIMITS.key)
      .meta({ description: 'Send a request again with the same key and it is counted once.' })
      .optional(),
    metadata: metadata.optional(),
  })
  .refine((event) => event.meter_token !== undefined || event.lookup_key !== undefined, {
    path: ['meter_token'],
    error: 'is required',
    when,
  })
  .refine((event) => event.meter_token === undefined || event.lookup_key === undefined, {
    path: ['lookup_key'],
    error: 'must not be sent together with meter_token: send one of them',
    when,
  })
  .meta({ id: 'UsageEvent' });

export type TrackBody = z.output<typeof trackBody>;

/** An event as it is kept: everything that Postgres holds of it. */
export interface UsageEvent {
  /** UUIDv7; its milliseconds are the time of receipt. */
  id: string;
  organization_id: string;
  meter_id: string;
  customer_external_id: string;
  /** A plain decimal. */
  quantity: string;
  /** ISO 8601 UTC, to the microsecond. */
  timestamp: string;
  idempotency_key?: string;
  /** The JSON text of the object, as it was sent: numbers in it keep all their digits. */
  metadata?: string;
}

/**
 * An event between the door and Postgres, as it lies in Redis. Everything that a worker needs is already decided here, so that a
 * batch delivered twice writes the same rows twice and the second time changes nothing.
 */
export interface StagedEvent extends UsageEvent {
  /** How its meter counts, which never changes while the meter exists. */
  aggregation: AggregationType;
  /** The event was rejected before and is sent again; it leaves the rejected ones when it is recorded. */
  replayed?: true;
}

/** An event that holds an idempotency key, and the digest of its payload. */
export interface KeyClaim {
  eventId: string;
  organizationId: string;
  idempotencyKey: string;
  fingerprint: string;
}

/** The claim of an event on its key; undefined where it came without one. */
export function keyClaimOf(event: UsageEvent, fingerprint: string): KeyClaim | undefined {
  const { id: eventId, organization_id: organizationId, idempotency_key: idempotencyKey } = event;
  return idempotencyKey === undefined ? undefined : { eventId, organizationId, idempotencyKey, fingerprint };
}

/** When the front door took the event in: ISO 8601 UTC, to the millisecond. */
export function receivedAt(id: string): string {
  return new Date(epochMsOfId(id)).toISOString();
}
