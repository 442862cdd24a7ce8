// The receipt of an event, as it is answered. It is written as text: the metadata is that of whoever sent it, to the letter, with
// digits for which a number of JavaScript has no room.

import type { EventCorrection } from '@weir/db/corrections/corrections';
import type { StoredEvent } from '@weir/db/events';
import { receivedAt, type UsageEvent } from '@weir/shared/event';
import { z } from 'zod';
import { answerOf, time } from '../http/fields.ts';

/** What a correction says, wherever it is read. */
export const correctionFields = {
  id: z.uuid(),
  reason: z.string(),
  amended_by: z.uuid().nullable().meta({ description: 'The event that counts in place of the one that is void.' }),
  actor: z
    .string()
    .meta({ description: 'user: and the id of a user, or service_account: and that of a service account.' }),
  created_at: time,
};

const eventCorrection = answerOf<EventCorrection>()(correctionFields).meta({
  id: 'EventCorrection',
  description: 'What took an event out of the count; for voided events.',
});

export const receipt = z
  .object({
    id: z.uuid(),
    status: z
      .enum(['queued', 'recorded', 'voided', 'rejected', 'duplicate'])
      .meta({ description: 'A voided event was recorded, and a correction has taken it out of the count.' }),
    reason: z.string().optional().meta({ description: 'Why the event is not counted; for rejected events.' }),
    duplicate_of: z
      .uuid()
      .optional()
      .meta({ description: 'The event that holds the idempotency key; for duplicates.' }),
    correction: eventCorrection.optional(),
    amends: z
      .uuid()
      .optional()
      .meta({ description: 'The voided event in whose place this one counts; where there is one.' }),
    change: z.enum(['added', 'removed']).optional().meta({
      description: 'Whether the event came in or was voided since the line before; for lines with changes=true.',
    }),
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
export type Receipt = (StoredEvent | { status: 'queued'; event: UsageEvent }) & { change?: 'added' | 'removed' };

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
