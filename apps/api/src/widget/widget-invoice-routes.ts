// The invoices of the customer of a widget token, once they are finalized: like its usage, with no parameter that names a customer.

import type { Drive } from '@weir/billing/drive';
import { FINALIZED_STATUSES, LINE_KINDS } from '@weir/billing/kinds';
import { findLine } from '@weir/db/billing/invoices/find-line';
import type { InvoiceLine } from '@weir/db/billing/invoices/invoice-lines';
import { findInvoiceRow, type Invoice } from '@weir/db/billing/invoices/invoices';
import { readInvoice, readInvoices, readLinesOfInvoice } from '@weir/db/billing/invoices/read-invoices';
import { findSubscription } from '@weir/db/billing/subscriptions/subscriptions';
import { pageDueEvents } from '@weir/db/billing/usage/due-events';
import { findCustomerId } from '@weir/db/customers';
import { listShownMeters } from '@weir/db/widget-settings';
import { emptyPage, mapPage } from '@weir/db/page';
import { Refusal } from '@weir/shared/errors';
import { z } from 'zod';
import { writingPage, writingWithLines } from '../billing/invoice-answer.ts';
import { amount, copiedCharge, invoiceLine, linesQuery } from '../billing/invoice-shape.ts';
import type { Caller } from '../http/load/caller.ts';
import {
  answerPage,
  cursorMeta,
  idCursor,
  idInPath,
  idOf,
  listQuery,
  pageSchema,
  shownOf,
  sizeOf,
  time,
} from '../http/fields.ts';
import { NO_SUCH_THING, found, problemResponses } from '../http/problem.ts';
import { sendJson } from '../http/body/send-json.ts';
import { inTurns, type Turns } from '../http/load/turns.ts';
import type { App } from '../http/typed-app.ts';
import { pdfAnswer, pdfQuery, sendInvoicePdf } from '../pdf/invoice-pdf-route.ts';
import type { RouteDeps } from '../route-deps.ts';
import { refuseMoving } from '../usage/usage-query.ts';
import { customerOf, OPEN_TO_PAGES } from './widget-customer.ts';

const invoiceFields = z.object({
  id: z.uuid(),
  invoice_number: z.string(),
  status: z.enum(FINALIZED_STATUSES),
  currency: z.string(),
  issue_date: z.string(),
  due_date: z.string().nullable(),
  period_start: time,
  period_end: time,
  subtotal: amount,
  tax: amount,
  total: amount,
  credits_applied: amount,
  amount_paid: amount,
  amount_due: amount,
  is_past_due: z.boolean().meta({ description: 'Whether it is open and its due date has ended.' }),
});

const line = z
  .object({
    id: z.uuid(),
    kind: z.enum(LINE_KINDS),
    description: z.string(),
    charge: copiedCharge.nullable().meta({ description: 'Its price. Null for what was added by hand.' }),
    period_start: time.nullable(),
    period_end: time.nullable(),
    days: invoiceLine.shape.days,
    quantity: z.string().nullable(),
    billed_before: amount.meta({
      description: 'What invoices before had of it already; late usage is billed less that.',
    }),
    amount,
    waived: invoiceLine.shape.waived,
    has_events: z.boolean().meta({ description: 'Whether the events behind it can be read.' }),
  })
  .meta({ id: 'WidgetInvoiceLine' });

const invoiceAnswer = invoiceFields.meta({ id: 'WidgetInvoice' });
const invoiceWithLines = invoiceFields
  .extend({
    time_zone: z.string().meta({ description: 'The zone that its periods are days of.' }),
    payments: z.array(z.object({ amount, paid_at: time })).meta({ description: 'Those that stand.' }),
    lines: z.array(line).meta({ description: 'As many as GET /invoices/{id} has.' }),
    lines_total: z.int().optional().meta({ description: 'How many lines there are, where these are not all.' }),
    lines_next_cursor: z
      .string()
      .optional()
      .meta({ description: 'The cursor of the others in GET /widget/invoices/{id}/lines, where these are not all.' }),
  })
  .meta({ id: 'WidgetInvoiceWithLines' });

const event = z
  .object({
    id: z.uuid(),
    timestamp: time,
    quantity: z.string(),
    status: z.enum(['recorded', 'voided']).meta({ description: 'A voided one was taken out after the invoice.' }),
  })
  .meta({ id: 'WidgetEvent' });
const config = OPEN_TO_PAGES;

export function widgetInvoiceRoutes(app: App, deps: RouteDeps & { turns: Turns }): void {
  const { database, guards, turns } = deps;
  const db = database.kysely;
  const drive: Drive = (work) => inTurns(turns, work);

  app.get(
    '/api/v1/widget/invoices',
    {
      onRequest: guards.widget,
      config,
      schema: {
        operationId: 'listWidgetInvoices',
        tags: ['Widget'],
        summary: 'List the invoices of the customer of the token, newest first, without their lines',
        description: 'Drafts are not shown.',
        querystring: listQuery({}),
        response: { 200: pageSchema(invoiceAnswer) },
      },
    },
    async ({ caller, query }) => {
      const { organizationId, customerExternalId } = customerOf(caller);
      const customerId = await findCustomerId(db, organizationId, customerExternalId);
      // Usage needs no record of its customer; an invoice does.
      if (customerId === undefined) return answerPage(emptyPage(query));
      const filter = { customerId, isFinalized: true } as const;
      return answerPage(mapPage(await readInvoices(database, organizationId, filter, query, drive), shownInvoice));
    },
  );

  app.get(
    '/api/v1/widget/invoices/:id',
    {
      onRequest: guards.widget,
      config,
      schema: {
        operationId: 'getWidgetInvoice',
        tags: ['Widget'],
        summary: 'Read an invoice of the customer of the token, with its lines',
        description: 'A draft, or an invoice of another customer, does not exist for it.',
        params: idInPath,
        response: { 200: invoiceWithLines },
      },
    },
    async ({ caller, params }, reply) => {
      const { organizationId, timeZone } = await getOwnInvoice(caller, params.id);
      const invoice = found(await readInvoice(database, organizationId, params.id, drive));
      const { lines, lines_total, lines_next_cursor, payments } = invoice;
      const answer = {
        ...shownInvoice(invoice),
        time_zone: timeZone,
        payments: payments
          .filter(({ taken_back_at }) => taken_back_at === null)
          .map(({ amount, paid_at }) => ({ amount, paid_at })),
        ...(lines_total !== undefined && { lines_total }),
        ...(lines_next_cursor !== undefined && { lines_next_cursor }),
        lines: await shownLines(organizationId, lines),
      };
      return sendJson(reply, await inTurns(turns, writingWithLines(answer)));
    },
  );

  app.get(
    '/api/v1/widget/invoices/:id/lines',
    {
      onRequest: guards.widget,
      config,
      schema: {
        operationId: 'listLinesOfWidgetInvoice',
        tags: ['Widget'],
        summary: 'The lines of an invoice of the customer of the token, page by page',
        description: 'Follow meta.next_cursor until it is null.',
        params: idInPath,
        querystring: linesQuery,
        response: { 200: z.object({ data: z.array(line), meta: cursorMeta }) },
      },
    },
    async ({ caller, params, query }, reply) => {
      const { organizationId } = await getOwnInvoice(caller, params.id);
      const span = { from: Number(query.cursor ?? '0'), limit: query.limit };
      const page = found(await readLinesOfInvoice(database, organizationId, params.id, span, drive));
      const lines = await shownLines(organizationId, page.lines);
      return sendJson(reply, await inTurns(turns, writingPage({ lines, next: page.next })));
    },
  );

  app.get(
    '/api/v1/widget/invoices/:id/lines/:line_id/events',
    {
      onRequest: guards.widget,
      config,
      schema: {
        operationId: 'listWidgetInvoiceLineEvents',
        tags: ['Widget'],
        summary: 'The events that a line counts, in the order of their time',
        description:
          'Follow meta.next_cursor until it is null. A line without usage, or of a meter that the organization shows to nobody, has none.',
        params: z.strictObject({ id: idOf(), line_id: idOf() }),
        querystring: z.strictObject({
          cursor: idCursor,
          limit: sizeOf('pageSize'),
        }),
        response: { 200: z.object({ data: z.array(event), meta: cursorMeta }), ...problemResponses('usage_moving') },
      },
    },
    async ({ caller, params, query }) => {
      const { organizationId } = await getOwnInvoice(caller, params.id);
      const { question } = found(await findLine(database, organizationId, params.id, params.line_id, drive));
      const wanted = question === undefined ? [] : [question.meterId];
      const shown = await listShownMeters(db, organizationId, { ids: wanted });
      if (question === undefined || shown.length === 0) return { data: [], meta: { next_cursor: null } };
      await refuseMoving(database.kysely, organizationId, question.customerExternalId);
      const { events, next } = await pageDueEvents(db, question, query);
      return {
        data: events.map(({ event: { id, timestamp, quantity }, correction }) => ({
          id,
          timestamp: timestamp.replace(/(\.\d{3})000Z$/, '$1Z'),
          quantity,
          status: correction === null ? ('recorded' as const) : ('voided' as const),
        })),
        meta: { next_cursor: next ?? null },
      };
    },
  );

  app.get(
    '/api/v1/widget/invoices/:id/pdf',
    {
      onRequest: guards.widget,
      config,
      compress: false,
      schema: {
        operationId: 'getWidgetInvoicePdf',
        tags: ['Widget'],
        summary: 'An invoice of the customer of the token as PDF',
        description: 'The same file as that of GET /invoices/{id}/pdf.',
        params: idInPath,
        querystring: pdfQuery,
        response: { 200: pdfAnswer },
      },
    },
    async (request, reply) => {
      await getOwnInvoice(request.caller, request.params.id);
      return await sendInvoicePdf(deps, request, reply, { id: request.params.id, as: request.query.as });
    },
  );

  /** Whose invoice it is. One of another customer, and a draft, is answered like one that does not exist. */
  async function getOwnInvoice(caller: Caller, id: string): Promise<{ organizationId: string; timeZone: string }> {
    const { organizationId, customerExternalId } = customerOf(caller);
    const customerId = await findCustomerId(db, organizationId, customerExternalId);
    const invoice = await findInvoiceRow(db, organizationId, id);
    if (invoice === undefined || invoice.customer_id !== customerId || invoice.status === 'DRAFT')
      throw new Refusal('not_found', NO_SUCH_THING);
    const subscription = await findSubscription(db, organizationId, invoice.subscription_id);
    if (subscription === undefined) throw new Error('the subscription of an invoice is never deleted');
    return { organizationId, timeZone: subscription.time_zone };
  }

  async function shownLines(organizationId: string, lines: readonly InvoiceLine[]) {
    const ids = lines.flatMap(({ charge }) => charge?.meter_id ?? []);
    const shown = new Set((await listShownMeters(db, organizationId, { ids })).map(({ id }) => id));
    return lines.map((each) => {
      const has_events = each.quantity !== null && each.charge?.meter_id != null && shown.has(each.charge.meter_id);
      return shownOf(line, { ...each, has_events });
    });
  }
}

/** What its customer sees of an invoice: no notes, and no ids but its own. */
function shownInvoice(invoice: Invoice): z.output<typeof invoiceAnswer> {
  const { status, invoice_number, issue_date } = invoice;
  if (status === 'DRAFT' || invoice_number === null || issue_date === null)
    throw new Error('a draft is shown to no customer');
  return shownOf(invoiceAnswer, { ...invoice, status, invoice_number, issue_date });
}
