// Computes what a subscription comes to before an invoice says so: its usage of the open period, the next invoice as of now, after its end
// what came late, and before that what is to be billed again.

import { closeForSettling, settleClosed } from '@weir/db/billing/run/settlements';
import { readInvoiceWithin, type InvoiceWithLines } from '@weir/db/billing/invoices/read-invoices';
import { previewInvoice, readSubscriptionUsage, type ChargeUsage } from '@weir/db/billing/invoices/upcoming';
import { Refusal } from '@weir/shared/errors';
import { z } from 'zod';
import { answerOf, idInPath } from '../http/fields.ts';
import { NO_SUCH_THING, found, problemResponses } from '../http/problem.ts';
import { inTurns, type Turns } from '../http/load/turns.ts';
import { credentialOf } from '../http/load/caller.ts';
import type { App } from '../http/typed-app.ts';
import { done, made, writing } from '../http/writing/writing.ts';
import { invoicePreview, invoiceWithLines } from './invoice-shape.ts';
import type { RouteDeps } from '../route-deps.ts';

const chargeUsage = answerOf<ChargeUsage>()({
  charge_id: z.uuid(),
  meter_id: z.uuid(),
  quantity: z.string(),
  amount: z.string(),
}).meta({ id: 'ChargeUsage' });

export function upcomingRoutes(app: App, { database, guards, turns }: RouteDeps & { turns: Turns }): void {
  app.get(
    '/api/v1/subscriptions/:id/usage',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'getSubscriptionUsage',
        tags: ['Billing'],
        summary: 'The quantity and the amount of each charge for usage, in the open period as of now',
        description:
          'In a trial usage is counted and costs nothing: the charges are those of the first period after it.',
        params: idInPath,
        response: { 200: z.object({ data: z.array(chargeUsage) }), ...problemResponses('month_taken_out') },
      },
    },
    async (request) => {
      const data = found(await readSubscriptionUsage(database, request.caller.organizationId, request.params.id));
      return { data };
    },
  );

  app.post(
    '/api/v1/subscriptions/:id/preview-invoice',
    {
      onRequest: guards.biller,
      schema: {
        operationId: 'previewInvoice',
        tags: ['Billing'],
        summary: 'The next invoice of a subscription, as of now',
        description: 'Makes nothing: it has no id and no number, and neither have its lines.',
        params: idInPath,
        response: { 200: invoicePreview, ...problemResponses('subscription_ended', 'month_taken_out') },
      },
    },
    writing(database, ({ caller, params }, write) =>
      write.computed(async () => {
        const preview = await previewInvoice(database, caller.organizationId, params.id, (work) =>
          inTurns(turns, work),
        );
        switch (preview.outcome) {
          case 'done':
            return done(preview.invoice);
          case 'not_found':
            throw new Refusal('not_found', NO_SUCH_THING);
          case 'subscription_ended':
            throw new Refusal(
              'subscription_ended',
              'The subscription has ended, and has no next invoice: its last one is in its list of invoices.',
            );
        }
      }),
    ),
  );

  app.post(
    '/api/v1/subscriptions/:id/settle',
    {
      onRequest: guards.biller,
      schema: {
        operationId: 'settleSubscription',
        tags: ['Billing'],
        summary:
          'Bill at once what came late for a subscription that has ended, or what void invoices of any have left for the next one',
        description:
          'Makes an ADJUSTMENT invoice and finalizes it. What comes to nothing waits, and invoice is null. While an invoice of the ' +
          'subscription is a draft, that takes it: 409 earlier_draft. Of a subscription that has just ended with its period, the ' +
          'request may have made this draft itself, and it stays. One that goes on has its next invoice for what comes late: where no void ' +
          'invoice has left anything for that (`is_rebilling`), it is 409 subscription_not_ended.',
        params: idInPath,
        response: {
          200: z.object({ invoice: z.null() }),
          201: z.object({ invoice: invoiceWithLines }),
          ...problemResponses('subscription_not_ended', 'earlier_draft', 'usage_moving', 'month_taken_out'),
        },
      },
    },
    writing(database, async ({ caller, params }, write) => {
      const { organizationId } = caller;
      const { id } = params;
      const problem = await closeForSettling(database, organizationId, id);
      return await write.transaction<{ invoice: InvoiceWithLines | null }>(async (transaction) => {
        const by = { actor: credentialOf(caller), now: true };
        const settled = problem ?? (await settleClosed(transaction, organizationId, id, by));
        switch (settled.outcome) {
          case 'settled':
          case 'drafted': {
            const invoice = await readInvoiceWithin(transaction, organizationId, settled.invoiceId);
            if (invoice === undefined) throw new Error('an invoice is gone that was just finalized');
            return made({ invoice });
          }
          case 'nothing':
            return done({ invoice: null });
          case 'not_found':
            throw new Refusal('not_found', NO_SUCH_THING);
          case 'subscription_not_ended':
            throw new Refusal(
              'subscription_not_ended',
              'The subscription has not ended, and no void invoice has left anything for the next one: what comes late is on that.',
            );
          case 'earlier_draft':
            throw new Refusal(
              'earlier_draft',
              'An invoice of the subscription is a draft, and takes what comes late and what is to be billed again: finalize it.',
            );
          case 'usage_moving':
            throw new Refusal(
              'usage_moving',
              'The customer of the subscription is just being erased: try again when that is done.',
            );
        }
      });
    }),
  );
}
