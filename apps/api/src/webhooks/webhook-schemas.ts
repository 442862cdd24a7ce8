// What webhooks hold, by their type, for the part `webhooks` of the OpenAPI document. Types are those of
// the feed (@weir/billing/feed-events), and that of a test: one that is missing here does not compile.

import type { FeedType } from '@weir/billing/feed-events';
import { INVOICE_KINDS, INVOICE_STATUSES, SUBSCRIPTION_STATUSES } from '@weir/billing/kinds';
import { UNBILLED_USAGE_REASONS } from '@weir/db/billing/usage/unbilled-usage';
import type { TEST_TYPE } from '@weir/db/webhooks/deliveries';
import { z } from 'zod';
import { paymentFields } from '../billing/invoice-shape.ts';
import { time } from '../http/fields.ts';

const amount = z.string().meta({ description: 'A decimal, in units of the currency.' });
const date = z.iso.date();

const anyInvoice = z.object({
  id: z.uuid(),
  kind: z.enum(INVOICE_KINDS),
  status: z.enum(INVOICE_STATUSES),
  subscription_id: z.uuid(),
  customer_id: z.uuid(),
  cycle: z.int().nullable(),
  currency: z.string(),
  period_start: time,
  period_end: time,
});

const draft = anyInvoice.extend({
  finalizes_at: time.nullable().meta({
    description: 'When its grace is over. Null where the billing settings leave it to people to finalize.',
  }),
});

const invoice = anyInvoice.extend({
  invoice_number: z.string().nullable(),
  total: amount,
  credits_applied: amount,
  amount_paid: amount,
  amount_due: amount,
  issue_date: date.nullable(),
  due_date: date.nullable(),
  paid_at: time.nullable(),
  reference: z.string().nullable(),
  note: z.string().nullable(),
});

const ofPayment = invoice.extend({ payment: paymentFields });
const paid = invoice.extend({ payment: paymentFields.optional() });

const subscription = z.object({
  id: z.uuid(),
  external_id: z.string().nullable(),
  customer_id: z.uuid(),
  plan_id: z.uuid(),
  pending_plan_id: z.uuid().nullable(),
  status: z.enum(SUBSCRIPTION_STATUSES),
  cycle: z.int().nullable(),
  current_period_start: time,
  current_period_end: time,
  cancel_at_period_end: z.boolean(),
  canceled_at: time.nullable(),
  ended_at: time.nullable(),
});

const credit = z.object({ credit_id: z.uuid(), customer_id: z.uuid(), currency: z.string(), amount });

const DATA: Record<FeedType | typeof TEST_TYPE, z.ZodObject> = {
  'invoice.created': draft,
  'invoice.finalized': invoice,
  'invoice.credited': invoice,
  'invoice.payment_recorded': ofPayment,
  'invoice.paid': paid,
  'invoice.payment_taken_back': ofPayment,
  'invoice.voided': invoice.extend({
    rebilled: z.boolean().optional().meta({
      description: 'Whether its charges are billed again; else they were waived. Earlier versions did not say.',
    }),
  }),
  'invoice.uncollectible': invoice,
  'invoice.past_due': invoice,
  'subscription.created': subscription,
  'subscription.activated': subscription,
  'subscription.changed': subscription,
  'subscription.past_due': subscription,
  'subscription.canceled': subscription,
  'credit.granted': credit.extend({ invoice_id: z.uuid().nullable() }),
  'credit.voided': credit,
  'usage.unpriced': z.object({
    meter_id: z.uuid(),
    reason: z.enum(UNBILLED_USAGE_REASONS),
    month: z.string(),
    day: date,
    events: z.int(),
    customers: z.int(),
  }),
  'usage.threshold_reached': z.object({
    id: z.uuid().meta({ description: 'Of the crossing.' }),
    alert_id: z.uuid(),
    name: z.string().meta({ description: 'Of the alert.' }),
    customer_id: z.uuid().nullable(),
    customer_external_id: z.string(),
    meter_id: z.uuid().nullable().meta({ description: 'Null: an amount was reached.' }),
    subscription_id: z.uuid().nullable().meta({ description: 'Whose period it is. Null: a month of the calendar.' }),
    currency: z.string().nullable().meta({ description: 'Of an amount.' }),
    period_start: time,
    period_end: time,
    threshold: z.string(),
    value: z.string().meta({ description: 'What it had come to when it was seen.' }),
  }),
  'webhook_endpoint.disabled': z.object({
    id: z.uuid(),
    reason: z.enum(['FAILING', 'GONE']),
    failing_since: time.nullable(),
  }),
  'webhook.test': z.object({}),
};

/** What the name of a type does not say. */
const SAID: Record<string, string> = {
  'subscription.activated':
    'It is ACTIVE: at a start that was to come, at the beginning of period 0, and each time that nothing of it is past due any more, ' +
    'after a subscription.past_due. Whoever sets something up once does so at the first.',
};

const header = (name: string, description: string) => ({
  in: 'header',
  name,
  required: true,
  description,
  schema: { type: 'string' },
});

const HEADERS = [
  header(
    'webhook-id',
    'The same each time that it is sent, and of no other event: receivers drop what they have seen by it.',
  ),
  header('webhook-timestamp', 'When it was sent, in seconds since 1970.'),
  header('webhook-signature', 'One or two, separated by a space: v1, and base64 of HMAC-SHA256 of id.timestamp.body.'),
];

/** The part `webhooks` of the document. Later versions may add fields and types. */
export function webhookOperations(): Record<string, object> {
  return Object.fromEntries(
    Object.entries(DATA).map(([type, data]) => {
      const actor = z.string().meta({ description: 'Who did it: a user, a service account, or weir.' });
      const sequence = z.int().min(1).meta({ description: 'Of the event in the feed: receivers order by it.' });
      const all = data.extend({ sequence: type === 'webhook.test' ? z.null() : sequence, actor }).loose();
      const body = z.object({ type: z.literal(type), timestamp: time, data: all }).loose();
      const post = {
        operationId: type.replace(/[._](\w)/g, (_, letter: string) => letter.toUpperCase()),
        summary: type,
        ...(SAID[type] !== undefined && { description: SAID[type] }),
        tags: ['Webhooks'],
        // The signature is all that there is.
        security: [],
        parameters: HEADERS,
        requestBody: { required: true, content: { 'application/json': { schema: schemaOf(body) } } },
        responses: { '2XX': { description: 'It is delivered. Any other answer has it sent again.' } },
      };
      return [type, { post }];
    }),
  );
}

function schemaOf(body: z.ZodType): object {
  const { $schema: _, ...schema } = z.toJSONSchema(body, { target: 'draft-2020-12' });
  return schema;
}
