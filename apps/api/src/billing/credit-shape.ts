// How grants and what became of them look in an answer.

import type { CreditEntry, ListedGrant } from '@weir/db/billing/credits/credit-ledger';
import { CREDIT_STATUSES, type CreditGrant } from '@weir/db/billing/credits/credits';
import { z } from 'zod';
import { answerOf, time } from '../http/fields.ts';

const creditFields = answerOf<CreditGrant>()({
  id: z.uuid(),
  amount: z.string(),
  currency: z.string(),
  remaining: z.string().meta({ description: 'What can still be drawn.' }),
  priority: z.int(),
  expires_at: time.nullable(),
  note: z.string().nullable(),
  external_id: z.string().nullable(),
  status: z.enum(CREDIT_STATUSES),
  created_at: time,
});

export const creditAnswer = creditFields.meta({ id: 'Credit' });

/** A grant among those of all customers. */
export const listedCredit = answerOf<ListedGrant>()({
  ...creditFields.shape,
  customer_id: z.uuid(),
  invoice_id: z
    .uuid()
    .nullable()
    .meta({ description: 'The invoice below zero that it is the other side of; null where somebody granted it.' }),
}).meta({ id: 'ListedCredit' });

export const balance = z
  .record(z.string(), z.string())
  .meta({ description: 'By currency.', examples: [{ USD: '82.28' }] });

export const creditEntry = answerOf<CreditEntry>()({
  id: z.uuid(),
  kind: z.enum(['DRAW', 'RETURN', 'VOID']).meta({
    description:
      'DRAW: an invoice took it. RETURN: the invoice was voided and gave it back. VOID: what was left, or came back, was ended.',
  }),
  amount: z.string(),
  currency: z.string(),
  created_at: time,
  credit_id: z.uuid(),
  credit_expires_at: time
    .nullable()
    .meta({ description: 'Of the grant: what comes back to it afterwards has expired.' }),
  credit_voided_at: time
    .nullable()
    .meta({ description: 'When the grant was voided: what came back to it since was ended.' }),
  invoice_id: z.uuid().nullable().meta({ description: 'The invoice that took it, or gave it back.' }),
  invoice_number: z.string().nullable(),
  given_by_invoice_id: z.uuid().nullable().meta({
    description:
      'The invoice below zero that the grant is the other side of, and which so lowered this one; null where somebody granted it.',
  }),
  given_by_invoice_number: z.string().nullable(),
}).meta({ id: 'CreditEntry' });
