// The receipt of an event, as it is answered. It is written as text: the metadata is that of whoever sent it, to the letter, with
// digits for which a number of JavaScript has no room.

import type { StoredEvent } from '@weir/db/events';
import { receivedAt, type UsageEvent } from '@weir/shared/event';
import { z } from 'zod';

export const receipt = z
  .object({
    id: z.uuid(),
    status: z.enum(['queued', 'recorded', 'rejected', 'duplicate']),
    reason: z.string().optional().meta({ description: 'Why the event is not counted; for rejected events.' }),
    duplicate_of: z
      .uuid()
      .optional()
      .meta({ description: 'The event that holds the idempotency key; for duplicates.' }),
    meter_id: z.uuid(),
    customer_external_id: z.string(),
    quantity: z.string(),
    timestamp: z.string(),
    received_at: z.string(),
    idempotency_key: z.string().nullable(),
    metadata: z.record(z.string(), z.unknown()).nullable(),
  })
  .meta({ id: 'EventReceipt' });

/** An event, and what is known of it. */
export type Receipt = StoredEvent | { status: 'queued'; event: UsageEvent };

/** Returns the receipt as JSON. */
export function writeReceipt({ event, ...known }: Receipt): string {
  const fields: Omit<z.output<typeof receipt>, 'metadata'> = {
    id: event.id,
    meter_id: event.meter_id,
    customer_external_id: event.customer_external_id,
    quantity: event.quantity,
    timestamp: event.timestamp.replace(/(\.\d{3})000Z$/, '$1Z'),
    received_at: receivedAt(event.id),
    idempotency_key: event.idempotency_key ?? null,
    ...known,
  };
  return `${JSON.stringify(fields).slice(0, -1)},"metadata":${event.metadata ?? 'null'}}`;
}

/** Returns a page of receipts as JSON; `next` is the cursor of the page after it, if there is one. */
export function writeReceipts(receipts: readonly Receipt[], next: string | undefined): string {
  return `{"data":[${receipts.map(writeReceipt).join()}],"meta":${JSON.stringify({ next_cursor: next ?? null })}}`;
}
