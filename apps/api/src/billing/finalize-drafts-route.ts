// Finalizes many drafts in one request: those of a start long ago, or of a day, where only people finalize.

import { cutByWeight } from '@weir/db/billing/invoices/cut-by-weight';
import { closeForDrafts, finalizeFirstClosed } from '@weir/db/billing/run/finalize';
import { findInvoicesToFinalize } from '@weir/db/billing/invoices/invoices';
import { Refusal } from '@weir/shared/errors';
import { LIMITS } from '@weir/shared/limits';
import { z } from 'zod';
import { idOf } from '../http/fields.ts';
import { problemOfOne } from '../http/problem-of-one.ts';
import { problemResponses } from '../http/problem.ts';
import { credentialOf } from '../http/load/caller.ts';
import type { App } from '../http/typed-app.ts';
import { done, writing } from '../http/writing/writing.ts';
import type { RouteDeps } from '../route-deps.ts';
import { notComputed } from './invoice-shape.ts';

const UNKNOWN =
  'Your organization does not have all of these invoices, and nothing was done: read the list of drafts again.';

const OUTCOMES = ['finalized', 'deleted', 'earlier_draft', 'not_computed', 'not_reached', 'invoice_not_draft'] as const;
type Outcome = (typeof OUTCOMES)[number];

const finalizeBody = z.strictObject({
  ids: z
    .array(idOf('must be the id of an invoice'))
    .min(1, 'must hold at least one id')
    .max(LIMITS.finalizedAtOnce, `must hold at most ${LIMITS.finalizedAtOnce} ids`)
    .meta({ description: 'Of drafts. The order does not matter.' }),
});

const finalizeAnswer = z.object({
  data: z.array(
    z.object({
      id: z.uuid(),
      outcome: z.enum(OUTCOMES).meta({
        description:
          'deleted: it came to no line, so it is no more. earlier_draft: an earlier invoice of its subscription is a draft, and is ' +
          'not among these, or could not be computed. not_computed: it is a draft still. not_reached: together they have more charges and lines than one request takes on; send it again.',
      }),
      invoice_number: z.string().nullable(),
      not_computed: notComputed.optional().meta({ description: 'Why, with the outcome not_computed.' }),
    }),
  ),
});

export function finalizeDraftsRoute(app: App, { database, guards }: RouteDeps): void {
  app.post(
    '/api/v1/invoices/finalize',
    {
      onRequest: guards.biller,
      schema: {
        operationId: 'finalizeInvoices',
        tags: ['Billing'],
        summary: `Finalize drafts now, up to ${LIMITS.finalizedAtOnce} of them`,
        description:
          'Each as by itself, in the order of their periods, and each is answered for, in the order sent. What is finalized already ' +
          'stays as it is, and so does what cannot be computed. With an id that there is not, nothing is done.',
        body: finalizeBody,
        response: { 200: finalizeAnswer, ...problemResponses('not_found') },
      },
    },
    writing(database, async (request, write) => {
      const { caller, body } = request;
      const { organizationId } = caller;
      const options = { actor: credentialOf(caller), now: true };
      const ids = [...new Set(body.ids)];
      const before = await findInvoicesToFinalize(database.kysely, organizationId, ids);
      if (before.length < ids.length) throw new Refusal('not_found', UNKNOWN);
      const drafts = before.filter(({ status }) => status === 'DRAFT').map(({ id }) => id);
      // What one transaction computes is bounded; two in a row would take locks behind those that come last.
      const chunks = await cutByWeight(database.kysely, organizationId, drafts);
      await closeForDrafts(database, organizationId, drafts, options);
      return await write.transaction(async (transaction) => {
        const finalized = await finalizeFirstClosed(transaction, organizationId, chunks, options);
        const outcomes = new Map<string, Outcome>([
          ...finalized.finalized.map((id) => [id, 'finalized'] as const),
          ...finalized.deleted.map((id) => [id, 'deleted'] as const),
          ...finalized.earlierDraft.map((id) => [id, 'earlier_draft'] as const),
          ...[...finalized.notComputed.keys()].map((id) => [id, 'not_computed'] as const),
          ...finalized.notReached.map((id) => [id, 'not_reached'] as const),
        ]);
        const after = await findInvoicesToFinalize(transaction, organizationId, ids);
        const numbers = new Map(after.map(({ id, invoice_number }) => [id, invoice_number]));
        const data = ids.map((id) => {
          const why = finalized.notComputed.get(id);
          return {
            id,
            outcome: outcomes.get(id) ?? 'invoice_not_draft',
            invoice_number: numbers.get(id) ?? null,
            ...(why !== undefined && { not_computed: problemOfOne(why, request, { invoice_id: id }) }),
          };
        });
        return done({ data });
      });
    }),
  );
}
