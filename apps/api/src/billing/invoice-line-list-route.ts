// The lines of many invoices, for those who check them: as JSON or as CSV, page by page, so that a year of an organization is
// read in any number of requests that each hold little.

import { FINALIZED_STATUSES, INVOICE_STATUSES, LINE_KINDS } from '@weir/billing/kinds';
import type { LinePlace, ListedLine } from '@weir/db/billing/invoices/list-lines';
import { listLines } from '@weir/db/billing/invoices/list-lines';
import { NO_CURSOR } from '@weir/db/order';
import { toCsv } from '@weir/shared/csv';
import { problemOfDateOrInstant } from '@weir/shared/date-or-instant';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { answerOf, cursorMeta, sizeOf, idOf, oneOf, time } from '../http/fields.ts';
import { sendJson } from '../http/body/send-json.ts';
import { inTurns, type Turns } from '../http/load/turns.ts';
import { writingList } from '../http/writing/write-list.ts';
import type { App } from '../http/typed-app.ts';
import { between, betweenQuery } from './between.ts';
import { pastDueQuery } from './invoice-shape.ts';
import type { RouteDeps } from '../route-deps.ts';

const CURSOR = /^(\d{4}-\d\d-\d\d)\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.(\d{1,9})$/;

const cursor = z
  .string()
  .refine((text) => {
    const [, date] = CURSOR.exec(text) ?? [];
    return date !== undefined && problemOfDateOrInstant(date) === undefined;
  }, NO_CURSOR)
  .meta({ description: 'The next_cursor of the page before.' });

const listedLine = answerOf<ListedLine>()({
  invoice_id: z.uuid(),
  invoice_number: z.string(),
  invoice_status: z.enum(INVOICE_STATUSES),
  issue_date: z.string(),
  customer_id: z.uuid(),
  customer_external_id: z.string().nullable().meta({
    description: 'As it was when the invoice was finalized; once that is erased, the one that the customer has now.',
  }),
  customer_name: z.string().nullable().meta({ description: 'As it was when the invoice was finalized.' }),
  subscription_id: z.uuid(),
  currency: z.string(),
  id: z.uuid(),
  kind: z.enum(LINE_KINDS),
  description: z.string(),
  charge_id: z.uuid().nullable(),
  meter_id: z.uuid().nullable(),
  cycle: z.int().nullable(),
  period_start: time.nullable(),
  period_end: time.nullable(),
  days: z
    .string()
    .nullable()
    .meta({ examples: ['22/31'] }),
  quantity: z.string().nullable(),
  event_count: z.int().nullable(),
  exact_amount: z.string(),
  billed_before: z.string(),
  waived: z.string().nullable(),
  amount: z.string(),
  closing: z.int().nullable(),
  rating_version: z.int(),
}).meta({ id: 'ListedLine' });

const COLUMNS = Object.keys(listedLine.shape) as (keyof ListedLine)[];

export function invoiceLineListRoute(app: App, { database, guards, turns }: RouteDeps & { turns: Turns }): void {
  app.get(
    '/api/v1/invoice-lines',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'listInvoiceLines',
        tags: ['Billing'],
        summary: 'The lines of all finalized invoices, in the order of issue dates, as JSON or CSV',
        description:
          'Follow meta.next_cursor until it is null, or the header Link with rel="next" until there is none. A page may hold ' +
          'fewer lines than limit, or none, and not be the last: so many invoices are looked at for each. CSV comes for ' +
          'format=csv or Accept: text/csv, with a head on the first page, so that pages one after the other are one file; what a ' +
          'spreadsheet would take for a formula, also behind a semicolon or a line break of a text, or for a date, as the days 11/30 ' +
          "and the exact amount 10/3, has an apostrophe before it there. A line's copy of its charge and its tiers are on its invoice.",
        querystring: z.strictObject({
          customer_id: idOf('must be the id of a customer record').optional(),
          subscription_id: idOf('must be the id of a subscription').optional(),
          status: oneOf(FINALIZED_STATUSES)
            .optional()
            .meta({ description: 'Of the invoice. Drafts are computed when they are read, and are not listed.' }),
          is_past_due: pastDueQuery,
          ...betweenQuery,
          format: oneOf(['json', 'csv']).optional().meta({ description: 'Goes before the header Accept.' }),
          cursor: cursor.optional(),
          limit: sizeOf('longPageSize'),
        }),
        response: {
          200: {
            description: 'OK',
            content: {
              'application/json': {
                schema: z.object({ data: z.array(listedLine), meta: cursorMeta }),
              },
              'text/csv': { schema: z.string().meta({ examples: [`${COLUMNS.join(',')}\r\n`] }) },
            },
          },
        },
      },
    },
    async (request, reply) => {
      const { customer_id: customerId, subscription_id: subscriptionId, status, limit, format } = request.query;
      const { is_past_due: isPastDue } = request.query;
      const { organizationId } = request.caller;
      const from = request.query.cursor === undefined ? undefined : placeOf(request.query.cursor);
      const filter = {
        customerId,
        subscriptionId,
        status,
        isPastDue,
        ...(await between(database.kysely, organizationId, request.query)),
      };
      const { lines, next } = await listLines(database, organizationId, filter, { from, limit });
      request.pay(lines.length);
      if (next !== undefined) void reply.header('link', `<${addressOf(request, cursorOf(next))}>; rel="next"`);
      void reply.header('vary', 'accept');
      if ((format ?? acceptedFormat(request)) === 'csv') {
        return await sendCsv(reply, await inTurns(turns, writingCsv(lines, from === undefined)));
      }
      const meta = JSON.stringify({ next_cursor: next === undefined ? null : cursorOf(next) });
      return sendJson(reply, `{"data":${await inTurns(turns, writingList(lines, STEP))},"meta":${meta}}`);
    },
  );
}

function placeOf(text: string): LinePlace {
  const [, issue_date = '', id = '', position = ''] = CURSOR.exec(text) ?? [];
  return { issue_date, id, position: Number(position) };
}

function cursorOf({ issue_date, id, position }: LinePlace): string {
  return `${issue_date}.${id}.${position}`;
}

/** The address of the next page, without the host: where that is, only the client knows. */
function addressOf({ url }: FastifyRequest, next: string): string {
  const [path = '', query = ''] = url.split('?', 2);
  const parameters = new URLSearchParams(query);
  parameters.set('cursor', next);
  return `${path}?${parameters.toString()}`;
}

/** CSV for those who ask for it and for no JSON. */
function acceptedFormat({ headers }: FastifyRequest): 'json' | 'csv' {
  const accept = headers.accept ?? '';
  return /\btext\/csv\b/i.test(accept) && !/\bapplication\/json\b/i.test(accept) ? 'csv' : 'json';
}

function sendCsv(reply: FastifyReply, text: string): FastifyReply {
  return reply
    .type('text/csv; charset=utf-8')
    .header('content-disposition', 'attachment; filename="invoice-lines.csv"')
    .send(text);
}

/** Lines that are written in one step, which takes less than a millisecond. */
const STEP = 50;

function* writingCsv(lines: readonly ListedLine[], isFirst: boolean): Generator<undefined, string, undefined> {
  const written = isFirst ? [toCsv([COLUMNS])] : [];
  for (let from = 0; from < lines.length; from += STEP) {
    written.push(toCsv(lines.slice(from, from + STEP).map((line) => COLUMNS.map((column) => line[column]))));
    yield;
  }
  return written.join('');
}
