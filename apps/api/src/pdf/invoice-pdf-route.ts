// An invoice as PDF: read (invoice-paper.ts), drawn between the turns of others (draw-invoice.ts), and sent as a file.

import type { Drive } from '@weir/billing/drive';
import type { Database } from '@weir/db/database';
import { LIMITS } from '@weir/shared/limits';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { idInPath, oneOf } from '../http/fields.ts';
import { found, problemResponses } from '../http/problem.ts';
import { inTurns, type Turns } from '../http/load/turns.ts';
import type { App } from '../http/typed-app.ts';
import type { RouteDeps } from '../route-deps.ts';
import { drawingInvoice } from './draw-invoice.ts';
import { PAPERS, readPaper, type PaperAsked } from './invoice-paper.ts';

/** What a line of it costs, in buckets of a chart: it takes the event loop as long as so many. */
const LINE_COST = 40;

/** The answer of a route that sends a PDF. */
export const pdfAnswer = {
  description: 'OK',
  content: {
    'application/pdf': { schema: z.unknown().meta({ type: 'string', format: 'binary', examples: ['%PDF-1.7'] }) },
  },
};

/** Which paper of an invoice. */
export const pdfQuery = z.strictObject({
  as: oneOf(PAPERS)
    .default('issued')
    .meta({
      description:
        'issued: as it was when it was finalized, the same bytes whatever happened since. now: with what was paid, credited or voided ' +
        'since, as the invoice is.',
    }),
});

export function invoicePdfRoute(app: App, deps: RouteDeps & { turns: Turns }): void {
  app.get(
    '/api/v1/invoices/:id/pdf',
    {
      onRequest: deps.guards.viewer,
      // It is compressed within.
      compress: false,
      schema: {
        operationId: 'getInvoicePdf',
        tags: ['Billing'],
        summary: 'An invoice as PDF',
        description:
          'As it was issued: the same bytes each time, for as long as the copy of the name and address of the customer is kept. ' +
          `as=now draws it as it is now. Of more than ${LIMITS.pdfLines} lines the others are one ` +
          'row, with what they come to. A line of which nothing was used, billed or waived is left out, unless there are no others. ' +
          'A draft says so on every page, is of the moment, and lists the lines that GET /invoices/{id} has.',
        params: idInPath,
        querystring: pdfQuery,
        response: { 200: pdfAnswer, ...problemResponses('month_taken_out') },
      },
    },
    (request, reply) => sendInvoicePdf(deps, request, reply, { id: request.params.id, as: request.query.as }),
  );
}

/** Sends an invoice of the caller's organization. */
export async function sendInvoicePdf(
  { database, turns }: { database: Database; turns: Turns },
  request: FastifyRequest,
  reply: FastifyReply,
  { id, as }: Pick<PaperAsked, 'as'> & { id: string },
): Promise<FastifyReply> {
  const drive: Drive = (work) => inTurns(turns, work);
  const paper = found(await readPaper(database, request.caller.organizationId, id, { as, drive }));
  request.pay(paper.rows.length * LINE_COST);
  const sheet = await inTurns(turns, drawingInvoice(paper));
  // A prefix of numbers may hold a slash, and nothing else that a file is not named by.
  const name = (paper.invoice.invoice_number ?? 'draft').replaceAll('/', '-');
  return reply
    .type('application/pdf')
    .header('content-disposition', `attachment; filename="${name}.pdf"`)
    .send(await sheet.end());
}
