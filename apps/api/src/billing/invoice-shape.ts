// How invoices and their lines look in an answer.

import { INVOICE_KINDS, INVOICE_STATUSES, LINE_KINDS } from '@weir/billing/kinds';
import type { InvoiceLine } from '@weir/db/billing/invoices/invoice-lines';
import type { Invoice } from '@weir/db/billing/invoices/invoices';
import type { ListedInvoice } from '@weir/db/billing/invoices/read-invoices';
import type { Payment } from '@weir/db/billing/invoices/payments';
import type { Recomputed } from '@weir/db/billing/invoices/recompute';
import { NO_CURSOR } from '@weir/db/order';
import { AGGREGATION_TYPES } from '@weir/shared/meter';
import { LIMITS } from '@weir/shared/limits';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { problemOfOne } from '../http/problem-of-one.ts';
import { EXACT_USAGE } from '../http/decimals.ts';
import { answerOf, flag, sizeOf, time } from '../http/fields.ts';
import { shownCharge } from './charge-models.ts';
import { party } from './party.ts';
import { meterUsage } from '../usage/usage-answer.ts';

export const amount = z
  .string()
  .meta({ description: 'A decimal with exactly the digits of the currency.', examples: ['12.30'] });

/** What a price comes to in parts. */
export const ratedDetail = z
  .union([
    z.array(
      z.object({
        up_to: z
          .string()
          .meta({ examples: ['1000'] })
          .nullable(),
        quantity: z.string(),
        exact_amount: z.string(),
      }),
    ),
    z.object({ packages: z.string() }),
  ])
  .nullable()
  .meta({ description: 'By tier, or the number of packages, before minimum and maximum; else null.' });

/** Whether invoices are past due, in the query of a list. */
export const pastDueQuery = flag
  .optional()
  .meta({ description: 'Of open ones whose due date has ended, or of all others.' });

/** Which of the lines of one invoice: a cursor is how many stand before them. */
export const linesQuery = z.strictObject({
  cursor: z
    .string()
    .regex(/^\d{1,9}$/, NO_CURSOR)
    .optional(),
  limit: sizeOf('invoiceLines'),
});

const invoiceFields = answerOf<Invoice>()({
  id: z.uuid(),
  invoice_number: z.string().nullable().meta({ description: 'Null for a draft.' }),
  kind: z.enum(INVOICE_KINDS),
  status: z.enum(INVOICE_STATUSES),
  customer_id: z.uuid(),
  subscription_id: z.uuid(),
  cycle: z
    .int()
    .nullable()
    .meta({ description: 'The boundary that it is of; null for an ADJUSTMENT, which is of none.' }),
  currency: z.string(),
  issue_date: z.string().nullable().meta({ description: 'A date in the time zone of the organization.' }),
  due_date: z.string().nullable(),
  period_start: time,
  period_end: time,
  subtotal: amount,
  tax: amount,
  total: amount,
  credits_applied: amount,
  amount_paid: amount,
  amount_due: amount,
  finalizes_at: time.nullable().meta({
    description: 'When its grace is over. Null where the billing settings leave it to people to finalize.',
  }),
  finalized_at: time.nullable(),
  paid_at: time.nullable().meta({ description: 'When the last payment was made, once nothing is due.' }),
  reference: z.string().nullable().meta({ description: 'Of the payment after which nothing was due.' }),
  note: z.string().nullable(),
  customer: z
    .record(z.string(), z.unknown())
    .nullable()
    .meta({ description: 'Name and address as they were when it was finalized.' }),
  issuer: z
    .string()
    .nullable()
    .meta({ description: 'Who issued it, in lines, as the settings said when it was finalized. Null before.' }),
  is_past_due: z.boolean().meta({ description: 'Whether it is open and its due date has ended.' }),
  rebilled: z.boolean().meta({
    description: 'Whether it is void and its charges are billed again. Of one that is void else, they were waived.',
  }),
  seller: party.nullable().meta({
    description:
      'Who issued it, field by field, as the settings said when it was finalized. Null before, and where they do not say.',
  }),
  buyer: party.nullable().meta({
    description: 'To whom, field by field, as the customer was when it was finalized. Null before.',
  }),
  created_at: time,
  computed_at: time
    .nullable()
    .meta({ description: 'When a draft was computed; null once it is finalized, and where it could not be.' }),
});

const meter = { meter_id: z.uuid().nullable() };

/** The copy of a charge on a line. A charge has all of it, too. */
export const copiedCharge = shownCharge({ display_name: z.string() }, meter, meter).meta({ id: 'ChargeTerms' });

const lineFields = answerOf<InvoiceLine>()({
  id: z.uuid(),
  kind: z.enum(LINE_KINDS),
  description: z.string(),
  charge_id: z.uuid().nullable(),
  charge: copiedCharge
    .nullable()
    .meta({ description: 'As it was when the period was opened. Null for an ADJUSTMENT.' }),
  cycle: z.int().nullable().meta({ description: 'The period that it is for, counted.' }),
  period_start: time.nullable(),
  period_end: time.nullable(),
  days: z
    .string()
    .nullable()
    .meta({
      description: 'Local dates in force, of those of the whole period; null where it is whole.',
      examples: ['22/31'],
    }),
  quantity: z
    .string()
    .nullable()
    .meta({ description: `What the meter reads. ${EXACT_USAGE}` }),
  event_count: z.int().nullable(),
  detail: ratedDetail,
  exact_amount: z.string().meta({ description: 'What the due comes to, before the rounding: a decimal, or n/d.' }),
  billed_before: amount,
  amount: amount.meta({ description: 'exact_amount, rounded, less billed_before, plus waived.' }),
  waived: amount.nullable().meta({
    description:
      'What the line would have taken away more, had it been asked for: of void invoices nothing comes back. Null where nothing was cut off.',
  }),
  closing: z.int().nullable().meta({ description: 'It bills what was recorded before this closing. Null in a draft.' }),
  rating_version: z.int(),
});

/** Why an invoice could not be computed, as in a problem. */
export const notComputed = z
  .object({
    code: z.string().meta({ description: 'month_taken_out, or internal_error.', examples: ['month_taken_out'] }),
    detail: z.string().meta({ description: 'What is the matter and what to do about it, for a person.' }),
  })
  .meta({ id: 'NotComputed' });

export const invoiceAnswer = invoiceFields
  .extend({
    not_computed: notComputed.nullable().meta({
      description:
        'Why a draft could not be computed, where others of a list could: its amounts are 0 then, and computed_at is null. Null for all others.',
    }),
  })
  .meta({ id: 'Invoice' });

/** An invoice of a list as it is answered. */
export function listedInvoice(
  { notComputed: why, ...invoice }: ListedInvoice,
  request: FastifyRequest,
): z.output<typeof invoiceAnswer> {
  const not_computed = why === undefined ? null : problemOfOne(why, request, { invoice_id: invoice.id });
  return { ...invoice, not_computed };
}

export const invoiceLine = lineFields.meta({ id: 'InvoiceLine' });

const SOME = `At most ${LIMITS.invoiceLines}, and those that hold ${LIMITS.invoiceLineTiers} tiers in all: of what is more, the first ones.`;
const linesTotal = z.int().optional().meta({ description: 'How many lines there are, where these are not all.' });

export const paymentFields = answerOf<Payment>()({
  id: z.uuid(),
  amount,
  paid_at: time,
  reference: z.string().nullable().meta({ description: 'What paid it, such as the id of a processor.' }),
  created_at: time,
  taken_back_at: time.nullable().meta({ description: 'Null: it stands.' }),
  note: z.string().nullable().meta({ description: 'Why it was taken back.' }),
});
const payment = paymentFields.meta({ id: 'Payment' });

export const invoiceWithLines = invoiceFields
  .extend({
    lines: z.array(invoiceLine).meta({ description: SOME }),
    payments: z.array(payment).meta({
      description: 'In the order in which they were recorded. Those that stand add up to amount_paid.',
    }),
    lines_total: linesTotal,
    lines_next_cursor: z
      .string()
      .optional()
      .meta({ description: 'The cursor of the others in GET /invoices/{id}/lines, where these are not all.' }),
  })
  .meta({ id: 'InvoiceWithLines' });

/** The next invoice as of now: it has no id and no number yet, nor do its lines have ids. */
export const invoicePreview = invoiceFields
  .omit({ id: true, invoice_number: true })
  .extend({ lines: z.array(lineFields.omit({ id: true })).meta({ description: SOME }), lines_total: linesTotal })
  .meta({ id: 'InvoicePreview' });

const lineSet = z.object({ lines: z.array(invoiceLine), subtotal: amount, total: amount });

export const recomputation = answerOf<Recomputed>()({
  invoice_id: z.uuid(),
  invoice_number: z.string(),
  from: z.enum(['rollups', 'events']),
  identical: z.boolean(),
  stored: lineSet,
  recomputed: lineSet,
  lines_total: linesTotal,
}).meta({ id: 'Recomputation' });

/** The usage behind a line: that of a meter, or of none. */
export const lineUsage = meterUsage
  .extend({
    meter_id: z.uuid().nullable(),
    aggregation_type: z.enum(AGGREGATION_TYPES).nullable(),
    period_start: time.nullable(),
    period_end: time.nullable(),
  })
  .meta({ id: 'LineUsage' });
