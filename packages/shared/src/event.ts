import { z } from 'zod';
import { QUANTITY_MAX } from './decimal.ts';
import { epochMsOfId } from './ids.ts';
import type { AggregationType } from './meter.ts';
import { text } from './text.ts';

/** Keys of `metadata` itself; what lies within may have as many as its bytes allow. */
export const METADATA_KEYS_MAX = 50;

/** Levels of `metadata`, of which it is the first. */
export const METADATA_LEVELS_MAX = 5;

/** Bytes of UTF-8 that `metadata` may take in the request. */
export const METADATA_BYTES_MAX = 8 * 1024;

/** Events in one request to the batch endpoint. */
export const BATCH_ITEMS_MAX = 1000;

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
    description: 'Free key/value data: at most 50 keys, 8 KiB and 5 levels. A UNIQUE_COUNT meter counts user_id.',
  });

/** Runs a rule for the whole event beside those for its fields, so that all that is wrong is told at once. */
const when = ({ value }: { value: unknown }) => typeof value === 'object' && value !== null;

/** The body of `POST /sdk/track`, and one item of a batch. Its meter is named by its token or by its feature, and not by both. */
export const trackBody = z
  .strictObject({
    meter_token: text(1, 255).optional().meta({
      description: 'The unique token of the meter. An event needs either this or lookup_key.',
    }),
    lookup_key: text(1, 255).optional().meta({
      description: 'The lookup_key of the feature behind which the meter stands, in place of meter_token.',
    }),
    customer_external_id: text(1, 255).meta({
      description: 'Your own identifier of the customer. No customer record is needed.',
    }),
    quantity: z
      .number()
      .positive('must be greater than 0')
      .max(QUANTITY_MAX, `must be at most ${QUANTITY_MAX}`)
      .meta({ description: 'A JSON number greater than 0. It is stored as the decimal that was sent.' }),
    timestamp: z
      .string()
      .meta({ description: 'ISO 8601 with an offset. When it is missing, the time of receipt.', format: 'date-time' })
      .optional(),
    idempotency_key: text(1, 255)
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

/** When the front door took the event in: ISO 8601 UTC, to the millisecond. */
export function receivedAt(id: string): string {
  return new Date(epochMsOfId(id)).toISOString();
}
