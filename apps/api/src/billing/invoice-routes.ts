// Reading invoices: lists, one with its lines, and one computed again. A draft is computed when it is read.

import type { Drive } from '@weir/billing/drive';
import { INVOICE_STATUSES } from '@weir/billing/kinds';
import { INVOICE_SORTS } from '@weir/db/billing/invoices/find-invoices';
import { findInvoiceRow } from '@weir/db/billing/invoices/invoices';
import { readInvoice, readInvoices, readLinesOfInvoice } from '@weir/db/billing/invoices/read-invoices';
import { recomputeInvoice } from '@weir/db/billing/invoices/recompute';
import { findMoveOfInvoice } from '@weir/db/moves/usage-moves';
import { mapPage } from '@weir/db/page';
import { findSubscription } from '@weir/db/billing/subscriptions/subscriptions';
import { Refusal } from '@weir/shared/errors';
import { text } from '@weir/shared/text';
import { LIMITS } from '@weir/shared/limits';
import { z } from 'zod';
import {
  answerPage,
  cursorMeta,
  idInPath,
  idOf,
  listQuery,
  oneOf,
  pageSchema,
  searchOf,
  sortOf,
} from '../http/fields.ts';
import { found, problemResponses } from '../http/problem.ts';
import { sendJson } from '../http/body/send-json.ts';
import { inTurns, type Turns } from '../http/load/turns.ts';
import type { App } from '../http/typed-app.ts';
import { done, writing } from '../http/writing/writing.ts';
import { USAGE_MOVING } from '../usage/usage-query.ts';
import { between, betweenQuery } from './between.ts';
import { writingPage, writingWithLines } from './invoice-answer.ts';
import {
  invoiceAnswer,
  invoiceLine,
  invoiceWithLines,
  linesQuery,
  listedInvoice,
  pastDueQuery,
  recomputation,
} from './invoice-shape.ts';
import type { RouteDeps } from '../route-deps.ts';

const listFields = {
  status: oneOf(INVOICE_STATUSES).optional(),
  ...betweenQuery,
  is_past_due: pastDueQuery,
  ...sortOf(
    INVOICE_SORTS,
    '-created_at',
    'By issue_date there are only those that have one: no drafts. -issue_date by default where issued_from or issued_to alone finds them.',
  ),
};

const DRAFTS =
  'Drafts are computed as of computed_at, all of a page at the same moment. One that cannot be computed says why (not_computed), and the others are there.';
export function invoiceRoutes(app: App, { database, guards, turns }: RouteDeps & { turns: Turns }): void {
  const drive: Drive = (work) => inTurns(turns, work);
  const db = database.kysely;

  app.get(
    '/api/v1/invoices',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'listInvoices',
        tags: ['Billing'],
        summary: 'List the invoices, newest first, without their lines',
        description: DRAFTS,
        querystring: listQuery({
          customer_id: idOf('must be the id of a customer record').optional(),
          subscription_id: idOf('must be the id of a subscription').optional(),
          invoice_number: text(1, LIMITS.key).optional().meta({ description: 'The whole number, in whatever case.' }),
          search: searchOf('How the invoice_number begins.'),
          ...listFields,
        }),
        response: { 200: pageSchema(invoiceAnswer) },
      },
    },
    async (request) => {
      const { customer_id: customerId, subscription_id: subscriptionId, status, sort } = request.query;
      const { invoice_number: number, search, is_past_due: isPastDue } = request.query;
      const { organizationId } = request.caller;
      const filter = {
        customerId,
        subscriptionId,
        status,
        isPastDue,
        sort,
        number,
        numberPrefix: search === '' ? undefined : search,
        ...(await between(db, organizationId, request.query)),
      };
      const page = await readInvoices(database, organizationId, filter, request.query, drive);
      return answerPage(mapPage(page, (invoice) => listedInvoice(invoice, request)));
    },
  );

  app.get(
    '/api/v1/subscriptions/:id/invoices',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'listSubscriptionInvoices',
        tags: ['Billing'],
        summary: 'List the invoices of a subscription, newest first, without their lines',
        description: DRAFTS,
        params: idInPath,
        querystring: listQuery(listFields),
        response: { 200: pageSchema(invoiceAnswer) },
      },
    },
    async (request) => {
      const { status, is_past_due: isPastDue, sort } = request.query;
      const { organizationId } = request.caller;
      const subscriptionId = request.params.id;
      found(await findSubscription(db, organizationId, subscriptionId));
      const filter = { subscriptionId, status, isPastDue, sort, ...(await between(db, organizationId, request.query)) };
      const page = await readInvoices(database, organizationId, filter, request.query, drive);
      return answerPage(mapPage(page, (invoice) => listedInvoice(invoice, request)));
    },
  );

  app.get(
    '/api/v1/invoices/:id',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'getInvoice',
        tags: ['Billing'],
        summary: 'Read an invoice with its lines',
        description:
          'A draft is computed now, in one snapshot of what is recorded. Of more lines than fit into an answer the first ones, ' +
          'with lines_total and lines_next_cursor.',
        params: idInPath,
        response: { 200: invoiceWithLines, ...problemResponses('month_taken_out') },
      },
    },
    async (request, reply) => {
      const invoice = found(await readInvoice(database, request.caller.organizationId, request.params.id, drive));
      return sendJson(reply, await inTurns(turns, writingWithLines(invoice)));
    },
  );

  app.get(
    '/api/v1/invoices/:id/lines',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'listLinesOfInvoice',
        tags: ['Billing'],
        summary: 'The lines of an invoice, page by page',
        description:
          'Follow meta.next_cursor until it is null. A page ends early with the line at which its charges and details come to ' +
          `${LIMITS.invoiceLineTiers} tiers. The lines of a draft are computed for each page, and may change between two.`,
        params: idInPath,
        querystring: linesQuery,
        response: {
          200: z.object({ data: z.array(invoiceLine), meta: cursorMeta }),
          ...problemResponses('month_taken_out'),
        },
      },
    },
    async (request, reply) => {
      const { cursor = '0', limit } = request.query;
      const span = { from: Number(cursor), limit };
      const page = found(
        await readLinesOfInvoice(database, request.caller.organizationId, request.params.id, span, drive),
      );
      return sendJson(reply, await inTurns(turns, writingPage(page)));
    },
  );

  app.post(
    '/api/v1/invoices/:id/recompute',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'recomputeInvoice',
        tags: ['Billing'],
        summary: 'Compute a finalized invoice again, and compare',
        description:
          'Each line with its own copy of the charge, its closing, its rating version and its days, from rollups or from single ' +
          'events. Changes nothing. identical is true for every finalized invoice, for ever, with the months of its events in the ' +
          'database: where single events are needed and their month was taken out, 409 month_taken_out names it. It is said of all ' +
          'lines, of which an answer holds as many as that of GET /invoices/{id}, those that differ before others.',
        params: idInPath,
        body: z.strictObject({ from: oneOf(['rollups', 'events']).default('rollups') }).nullish(),
        response: {
          200: recomputation,
          ...problemResponses('invoice_not_finalized', 'usage_moving', 'month_taken_out'),
        },
      },
    },
    writing(database, async (request, write) => {
      const { organizationId } = request.caller;
      const { id } = request.params;
      const moving = await findMoveOfInvoice(db, organizationId, id);
      if (moving !== undefined) throw new Refusal('usage_moving', USAGE_MOVING, { id: moving });
      return await write.computed(async () => {
        const recomputed = await recomputeInvoice(database, organizationId, id, request.body?.from ?? 'rollups', drive);
        if (recomputed !== undefined) return done(recomputed);
        found(await findInvoiceRow(db, organizationId, id));
        throw new Refusal(
          'invoice_not_finalized',
          'The invoice is a draft, which is computed whenever it is read: finalize it first.',
        );
      });
    }),
  );
}
