// The lines of an invoice: what an admin adds to a draft, one line by itself, and what is behind it: buckets and single events, as
// they were at its closing.

import { deleteAdjustmentLine, insertAdjustmentLine, lineOf } from '@weir/db/billing/invoices/invoice-lines';
import { findInvoiceRow } from '@weir/db/billing/invoices/invoices';
import { findLine, type FoundLine } from '@weir/db/billing/invoices/find-line';
import { pageDueEvents } from '@weir/db/billing/usage/due-events';
import { readDueBuckets } from '@weir/db/billing/usage/due-buckets';
import { findMeter } from '@weir/db/meters';
import { minorDigits } from '@weir/rating/currencies';
import { Refusal } from '@weir/shared/errors';
import { isoOf } from '@weir/shared/instant';
import { text } from '@weir/shared/text';
import { GROUPINGS, planningWindow, type Grouping } from '@weir/shared/window';
import { LIMITS } from '@weir/shared/limits';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { cursorMeta, flag, idCursor, idInPath, idOf, nothing, oneOf, sizeOf } from '../http/fields.ts';
import { NO_SUCH_THING, found, invalidFields, problemResponses } from '../http/problem.ts';
import { sendJson } from '../http/body/send-json.ts';
import { inTurns, type Turns } from '../http/load/turns.ts';
import type { App } from '../http/typed-app.ts';
import { gone, made, writing } from '../http/writing/writing.ts';
import { receipt, writeReceipts } from '../usage/receipt.ts';
import { writingUsage } from '../usage/usage-answer.ts';
import { refuseMoving } from '../usage/usage-query.ts';
import { invoiceLine, lineUsage } from './invoice-shape.ts';
import { amountOfText, signedAmount } from './signed-amount.ts';
import type { RouteDeps } from '../route-deps.ts';

const lineInPath = z.strictObject({ id: idOf(), line_id: idOf() });
const readProblems = problemResponses('usage_moving', 'month_taken_out');

const adjustment = z.strictObject({
  description: text(1, LIMITS.name),
  amount: signedAmount,
});

// By the id of the invoice the erasure of its customer finds the answers that are kept for repeats.
const addedLine = invoiceLine.extend({ invoice_id: z.uuid() }).meta({ id: 'AddedInvoiceLine' });

const FINALIZED = 'Finalized invoices do not change: add the line to the next draft.';

const TOO_MANY =
  `would be a line more than the ${LIMITS.addedLines} that a draft takes: add it to the next draft, or take lines off and add one ` +
  'with what they come to';

export function lineRoutes(app: App, { database, guards, turns }: RouteDeps & { turns: Turns }): void {
  const db = database.kysely;

  app.post(
    '/api/v1/invoices/:id/lines',
    {
      onRequest: guards.biller,
      config: { decimals: new Set(['amount']) },
      schema: {
        operationId: 'addInvoiceLine',
        tags: ['Billing'],
        summary: 'Add an ADJUSTMENT line to a draft',
        description: `A draft takes ${LIMITS.addedLines} of them.`,
        params: idInPath,
        body: adjustment,
        response: { 201: addedLine, ...problemResponses('invoice_not_draft') },
      },
    },
    writing(database, async (request, write) => {
      const { organizationId } = request.caller;
      const { id } = request.params;
      const invoice = found(await findInvoiceRow(db, organizationId, id));
      const amount = amountOfText(request.body.amount, minorDigits(invoice.currency));
      const { description } = request.body;
      return await write.transaction(async (transaction) => {
        const added = await insertAdjustmentLine(transaction, organizationId, id, { description, amount });
        switch (added.outcome) {
          case 'done':
            return made({ ...added.line, invoice_id: id });
          case 'not_found':
            throw new Refusal('not_found', NO_SUCH_THING);
          case 'not_draft':
            throw new Refusal('invoice_not_draft', FINALIZED);
          case 'too_many':
            throw invalidFields([{ path: '', message: TOO_MANY }]);
        }
      });
    }),
  );

  app.delete(
    '/api/v1/invoices/:id/lines/:line_id',
    {
      onRequest: guards.biller,
      schema: {
        operationId: 'deleteInvoiceLine',
        tags: ['Billing'],
        summary: 'Take an ADJUSTMENT line off a draft',
        description: 'The other lines of a draft are computed, and cannot be taken off.',
        params: lineInPath,
        response: { 204: nothing, ...problemResponses('invoice_not_draft') },
      },
    },
    writing(database, ({ caller, params }, write) =>
      write.transaction(async (transaction) => {
        const { id, line_id: lineId } = params;
        const { outcome } = await deleteAdjustmentLine(transaction, caller.organizationId, id, lineId);
        switch (outcome) {
          case 'done':
            return gone();
          case 'not_found':
            throw new Refusal('not_found', NO_SUCH_THING);
          case 'not_draft':
            throw new Refusal('invoice_not_draft', FINALIZED);
        }
      }),
    ),
  );

  app.get(
    '/api/v1/invoices/:id/lines/:line_id',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'getInvoiceLine',
        tags: ['Billing'],
        summary: 'Read one line of an invoice',
        description: 'Also one that is beyond those that come with the invoice. Of a draft it is computed now.',
        params: lineInPath,
        response: { 200: invoiceLine, ...problemResponses('month_taken_out') },
      },
    },
    async ({ caller, params }) => {
      const { line, currency } = await getLine(caller.organizationId, params);
      return lineOf(line, currency);
    },
  );

  app.get(
    '/api/v1/invoices/:id/lines/:line_id/usage',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'getInvoiceLineUsage',
        tags: ['Billing'],
        summary: 'The buckets behind the quantity of a line, in the time zone of the subscription',
        description:
          'As they were at the closing of the line; of a draft as they are now. For COUNT and SUM they add up to quantity. A line ' +
          'without usage has no buckets.',
        params: lineInPath,
        querystring: z.strictObject({
          group_by: oneOf(GROUPINGS)
            .default('day')
            .meta({ description: 'Weeks are those of ISO 8601: they begin on Monday.' }),
        }),
        response: { 200: lineUsage, ...readProblems },
      },
    },
    async (request, reply) => {
      const found = await getLineToOpen(request.caller.organizationId, request.params);
      return await sendLineUsage(request, reply, found, request.query.group_by);
    },
  );

  app.get(
    '/api/v1/invoices/:id/lines/:line_id/events',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'listInvoiceLineEvents',
        tags: ['Billing'],
        summary: 'The events that a line counts, in the order of their time',
        description:
          'Follow meta.next_cursor until it is null. With changes=true only what came in or was voided since the line before for the ' +
          'same charge and period, each with its change; where there is none, that is all of them. An event that was voided after the ' +
          'line is among them, with the status that it has now. A line without usage has none.',
        params: lineInPath,
        querystring: z.strictObject({
          cursor: idCursor,
          limit: sizeOf('pageSize'),
          changes: flag.default(false),
        }),
        response: { 200: z.object({ data: z.array(receipt), meta: cursorMeta }), ...readProblems },
      },
    },
    async (request, reply) => {
      const { cursor, limit, changes } = request.query;
      const { question, changesSince } = await getLineToOpen(request.caller.organizationId, request.params);
      if (question === undefined) return sendJson(reply, writeReceipts([], undefined));
      const since = changes ? changesSince : undefined;
      const { events, next } = await pageDueEvents(db, question, { cursor, limit }, since);
      const receipts = events.map(({ event, change, correction, amends }) => ({
        status: correction === null ? ('recorded' as const) : ('voided' as const),
        event,
        ...(change !== null && { change }),
        ...(correction !== null && { correction }),
        ...(amends !== null && { amends }),
      }));
      return sendJson(reply, writeReceipts(receipts, next));
    },
  );

  async function sendLineUsage(
    request: FastifyRequest,
    reply: FastifyReply,
    { line, question, timeZone }: FoundLine,
    grouping: Grouping,
  ): Promise<FastifyReply> {
    const meter = question === undefined ? undefined : await findMeter(db, question.organizationId, question.meterId);
    if (question === undefined || meter === undefined || question.start >= question.end) {
      const { period_start, period_end } = line;
      return reply.send({ ...NOTHING_BEHIND, period_start, period_end } satisfies z.output<typeof lineUsage>);
    }
    const period = { start_date: isoOf(question.start), end_date: isoOf(question.end), timezone: timeZone };
    const window = await inTurns(turns, planningWindow({ ...period, group_by: grouping }, 0));
    if ('problem' in window) throw invalidFields([window.problem]);
    request.pay(window.periods.length);
    const read = await readDueBuckets(db, question, window);
    const json = await inTurns(turns, writingUsage(meter, { window, grouping }, read));
    return sendJson(reply, json);
  }

  type LinePath = z.output<typeof lineInPath>;

  async function getLine(organizationId: string, { id, line_id }: LinePath): Promise<FoundLine> {
    return found(await findLine(database, organizationId, id, line_id, (work) => inTurns(turns, work)));
  }

  /** A line whose usage is read, all of which has to be in one place. */
  async function getLineToOpen(organizationId: string, path: LinePath): Promise<FoundLine> {
    const line = await getLine(organizationId, path);
    if (line.question !== undefined)
      await refuseMoving(database.kysely, organizationId, line.question.customerExternalId);
    return line;
  }
}

/** The usage of a line that has none: of a fixed price, of what an admin added, of a period that was over when it began. */
const NOTHING_BEHIND = {
  meter_id: null,
  aggregation_type: null,
  unit: null,
  total_usage: null,
  event_count: 0,
  unique_customers: 0,
  grouped_data: [],
};
