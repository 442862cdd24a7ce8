// Changes the state of an invoice: it is closed, waived or given up. What is paid of it is in payment-routes.ts.

import type { InvoiceStatus } from '@weir/billing/kinds';
import { closeForDrafts, finalizeClosed } from '@weir/db/billing/run/finalize';
import {
  markUncollectible,
  voidInvoice,
  type ChangeOutcome,
  type InvoiceOfActor,
  type NotOpen,
} from '@weir/db/billing/run/invoice-states';
import { findInvoiceRow } from '@weir/db/billing/invoices/invoices';
import { readInvoiceWithin, type InvoiceWithLines } from '@weir/db/billing/invoices/read-invoices';
import type { Database, Queries } from '@weir/db/database';
import { Refusal } from '@weir/shared/errors';
import { text } from '@weir/shared/text';
import { LIMITS } from '@weir/shared/limits';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { idInPath } from '../http/fields.ts';
import { NO_SUCH_THING, found, problemResponses } from '../http/problem.ts';
import { credentialOf } from '../http/load/caller.ts';
import type { App } from '../http/typed-app.ts';
import { done, writing, type Write, type Written } from '../http/writing/writing.ts';
import { invoiceWithLines } from './invoice-shape.ts';
import type { RouteDeps } from '../route-deps.ts';

const note = text(1, LIMITS.note).nullable().default(null);
export const noteBody = z.strictObject({ note }).nullish();

const voidBody = z
  .strictObject({
    note,
    rebill: z
      .boolean()
      .default(false)
      .meta({
        description:
          'Whether the draft of the subscription, or its next invoice, bills again what this one billed; `POST /subscriptions/{id}/settle` does ' +
          'it at once. Not what was added by hand.',
      }),
  })
  .nullish();

export function invoiceStateRoutes(app: App, { database, guards }: RouteDeps): void {
  app.post(
    '/api/v1/invoices/:id/finalize',
    {
      onRequest: guards.biller,
      schema: {
        operationId: 'finalizeInvoice',
        tags: ['Billing'],
        summary: 'Finalize a draft now, before its grace is over',
        description: 'The drafts of a subscription are finalized in the order of their periods.',
        params: idInPath,
        response: {
          200: invoiceWithLines,
          ...problemResponses('invoice_not_draft', 'earlier_draft', 'month_taken_out'),
        },
      },
    },
    writing(database, (request, write) => finalize(database, write, whichOf(request))),
  );

  app.post(
    '/api/v1/invoices/:id/void',
    {
      onRequest: guards.biller,
      schema: {
        operationId: 'voidInvoice',
        tags: ['Billing'],
        summary: 'Waive an invoice',
        description:
          'What it took of credits goes back to them; of one that has expired since, or was voided, nothing is left then. What it billed is waived, and is not billed again by another invoice unless `rebill` is true. ' +
          'If its usage was wrong, void the events and void with `rebill`: voided without it, the correction takes the amount off once more. ' +
          'One that is paid in part is refused: what was paid would be for nothing. What other invoices gave back of what it billed ends with it; ' +
          'where not all of that is left, or others billed something of the same charges and periods, it is refused without `rebill`. ' +
          'What it took away itself of what earlier invoices billed comes off the next one. Where the usage of that, or with `rebill` of what is ' +
          'billed again, needs a month that was taken out of the database, 409 month_taken_out names it.',
        params: idInPath,
        body: voidBody,
        response: {
          200: invoiceWithLines,
          ...problemResponses('invoice_not_open', 'invoice_partly_paid', 'invoice_given_back', 'month_taken_out'),
        },
      },
    },
    writing(database, (request, write) => {
      const which = whichOf(request);
      const { note: said = null, rebill = false } = request.body ?? {};
      const words = { PAID: PAID_TO_VOID };
      return change(write, which, (transaction) => voidInvoice(transaction, which, { note: said, rebill }), words);
    }),
  );

  app.post(
    '/api/v1/invoices/:id/uncollectible',
    {
      onRequest: guards.biller,
      schema: {
        operationId: 'markInvoiceUncollectible',
        tags: ['Billing'],
        summary: 'Give an open invoice up',
        description: 'It can still be paid, or waived.',
        params: idInPath,
        body: noteBody,
        response: { 200: invoiceWithLines, ...problemResponses('invoice_not_open') },
      },
    },
    writing(database, (request, write) => {
      const which = whichOf(request);
      return change(write, which, (transaction) => markUncollectible(transaction, which, request.body?.note ?? null));
    }),
  );
}

/** Which invoice, and who asks. */
export function whichOf(request: FastifyRequest<{ Params: { id: string } }>): InvoiceOfActor {
  const { caller } = request;
  return { organizationId: caller.organizationId, id: request.params.id, actor: credentialOf(caller) };
}

/** The invoice as it is by now. */
export async function getInvoice(db: Queries, { organizationId, id }: InvoiceOfActor): Promise<InvoiceWithLines> {
  return found(await readInvoiceWithin(db, organizationId, id));
}

const BY_STATUS: Record<InvoiceStatus, string> = {
  DRAFT: 'The invoice is a draft: finalize it first.',
  OPEN: 'The invoice is open.',
  PAID: 'The invoice is paid.',
  VOID: 'The invoice is void: it was waived.',
  UNCOLLECTIBLE: 'The invoice is given up already: it can be paid or voided.',
};

/** Of a void one whose charges were not waived. */
const REBILLED =
  'The invoice is void, and its charges are billed again: what is paid of them is recorded on the invoice that bills them.';

/** Who wants to void it has a way on. */
const PAID_TO_VOID =
  'The invoice is paid. A payment that was recorded by mistake can be taken back, and the invoice voided then; what was paid rightly is ' +
  'given back by a credit.';

const givenBack = (status: InvoiceStatus) =>
  'Other invoices have given back a part of what this one billed, and either not all of that is left, or they billed something of the same ' +
  'charges and periods as well: voiding it could leave the customer with money that nobody paid. ' +
  `Have it billed again (\`rebill\`), so that the next invoice settles both, or ${status === 'OPEN' ? 'mark' : 'leave'} it uncollectible.`;

/** Makes a change, and answers with the invoice as it is then; refuses what cannot be. */
function change(
  write: Write,
  which: InvoiceOfActor,
  make: (transaction: Queries) => Promise<ChangeOutcome>,
  words: Partial<typeof BY_STATUS> = {},
): Promise<Written<InvoiceWithLines>> {
  return write.transaction(async (transaction) => {
    const change = await make(transaction);
    switch (change.outcome) {
      case 'done':
        return done(await getInvoice(transaction, which));
      case 'not_found':
        throw new Refusal('not_found', NO_SUCH_THING);
      case 'partly_paid':
        throw new Refusal(
          'invoice_partly_paid',
          `Of the invoice ${change.paid} is paid: take the payments back first, and record them where the money belongs.`,
        );
      case 'given_back':
        throw new Refusal('invoice_given_back', givenBack(change.status));
      case 'not_open':
        return refuseNotOpen(change, words);
    }
  });
}

/** Says that an invoice is not open any more, and what paid it. */
export function refuseNotOpen(
  { status, reference, rebilled }: Omit<NotOpen, 'outcome'>,
  words: Partial<typeof BY_STATUS> = {},
): never {
  const detail = rebilled ? REBILLED : (words[status] ?? BY_STATUS[status]);
  throw new Refusal('invoice_not_open', detail, status === 'PAID' ? { reference } : {});
}

const NO_DRAFT = 'The invoice is finalized already, and its amounts do not change any more.';

async function finalize(database: Database, write: Write, which: InvoiceOfActor): Promise<Written<InvoiceWithLines>> {
  const { organizationId, id, actor } = which;
  const options = { actor, now: true };
  const before = found(await findInvoiceRow(database.kysely, organizationId, id));
  if (before.status !== 'DRAFT') throw new Refusal('invoice_not_draft', NO_DRAFT);
  await closeForDrafts(database, organizationId, [id], options);
  return await write.transaction(async (transaction) => {
    const outcome = await finalizeClosed(transaction, organizationId, [id], options);
    const { finalized, deleted, earlierDraft, notComputed } = outcome;
    const why = notComputed.get(id);
    if (why !== undefined) throw why;
    if (earlierDraft.includes(id)) {
      throw new Refusal('earlier_draft', 'An earlier invoice of the subscription is a draft: finalize that one first.');
    }
    // It came to no line, and is no more: that stays so.
    if (deleted.includes(id)) return new Refusal('not_found', NO_SUCH_THING);
    const after = await getInvoice(transaction, which);
    if (finalized.includes(id)) return done(after);
    // Somebody else was first.
    if (after.status !== 'DRAFT') throw new Refusal('invoice_not_draft', NO_DRAFT);
    throw new Error('a draft was asked to be finalized, and nothing became of it');
  });
}
