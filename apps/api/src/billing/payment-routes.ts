// What was paid of an invoice, as those say it who took the money.

import { findInvoiceRow } from '@weir/db/billing/invoices/invoices';
import {
  recordPayment,
  takePaymentBack,
  type PaymentOutcome,
  type TakenBackOutcome,
} from '@weir/db/billing/run/record-payment';
import { minorDigits } from '@weir/rating/currencies';
import { Refusal } from '@weir/shared/errors';
import { text } from '@weir/shared/text';
import { LIMITS } from '@weir/shared/limits';
import { z } from 'zod';
import { decimal } from '../http/decimals.ts';
import { dateOrInstant, idInPath, idOf, nothing } from '../http/fields.ts';
import { NO_SUCH_THING, found, invalidFields, problemResponses } from '../http/problem.ts';
import type { App } from '../http/typed-app.ts';
import { done, gone, writing } from '../http/writing/writing.ts';
import { invoiceWithLines } from './invoice-shape.ts';
import { getInvoice, noteBody, refuseNotOpen, whichOf } from './invoice-state-routes.ts';
import { amountOfText } from './signed-amount.ts';
import type { RouteDeps } from '../route-deps.ts';

const paymentInPath = z.strictObject({ id: idOf(), payment_id: idOf() });

const payBody = z
  .strictObject({
    amount: decimal({
      whole: LIMITS.priceDigits,
      fraction: LIMITS.amountFraction,
      isAbove0: true,
      description:
        'In units of the currency, with at most its minor digits, and not above amount_due. Default: all of it.',
    })
      .nullable()
      .default(null),
    paid_at: dateOrInstant.nullable().default(null).meta({
      description: 'An instant, or a date in the time zone of the subscription. Not in the future. Default: now.',
    }),
    reference: text(1, LIMITS.key)
      .nullable()
      .default(null)
      .meta({ description: 'What paid it, such as the id of a processor: whoever says it again is told.' }),
  })
  .nullish();

export function paymentRoutes(app: App, { database, guards }: RouteDeps): void {
  app.post(
    '/api/v1/invoices/:id/pay',
    {
      onRequest: guards.biller,
      config: { decimals: new Set(['amount']) },
      schema: {
        operationId: 'payInvoice',
        tags: ['Billing'],
        summary: 'Record a payment of an invoice: of all of its amount_due, or of a part',
        description:
          'It is PAID once nothing is due. Safe to repeat with a reference: where a payment of the invoice has it, the answer is 409 with ' +
          'the reference, and nothing is added. Whoever pays what is paid gets 409 with the reference of the last payment.',
        params: idInPath,
        body: payBody,
        response: {
          200: invoiceWithLines,
          ...problemResponses('invoice_not_open', 'payment_recorded', 'payment_above_due'),
        },
      },
    },
    writing(database, (request, write) => {
      const which = whichOf(request);
      const { amount = null, paid_at: paidAt = null, reference = null } = request.body ?? {};
      return write.transaction(async (transaction) => {
        const invoice = found(await findInvoiceRow(transaction, which.organizationId, which.id));
        const paid = amount === null ? null : amountOfText(amount, minorDigits(invoice.currency));
        refuseUnpaid(await recordPayment(transaction, which, { amount: paid, paidAt, reference }));
        return done(await getInvoice(transaction, which));
      });
    }),
  );

  app.delete(
    '/api/v1/invoices/:id/payments/:payment_id',
    {
      onRequest: guards.biller,
      schema: {
        operationId: 'deletePayment',
        tags: ['Billing'],
        summary: 'Take a payment back that was recorded by mistake',
        description:
          'It stays in the payments of the invoice, with the note, and counts no more. An invoice that was PAID by it is OPEN again, or ' +
          'UNCOLLECTIBLE where it had been given up. Weir takes no money, and gives none back.',
        params: paymentInPath,
        body: noteBody,
        response: { 204: nothing, ...problemResponses('payment_taken_back') },
      },
    },
    writing(database, (request, write) => {
      const taking = { paymentId: request.params.payment_id, note: request.body?.note ?? null };
      return write.transaction(async (transaction) => {
        refuseStanding(await takePaymentBack(transaction, whichOf(request), taking));
        return gone();
      });
    }),
  );
}

const TOO_MANY =
  `would be a payment more than the ${LIMITS.payments} that an invoice takes, with those that were taken back: mark it uncollectible, ` +
  'or where none stands void it with rebill, and record them on the invoice that takes its place';

function refuseUnpaid(paid: PaymentOutcome): void {
  switch (paid.outcome) {
    case 'done':
      return;
    case 'not_found':
      throw new Refusal('not_found', NO_SUCH_THING);
    case 'not_open':
      return refuseNotOpen(paid);
    case 'recorded':
      // Whoever pays all of it and asks again finds it paid, as without a part.
      if (paid.status === 'PAID') return refuseNotOpen({ ...paid, status: 'PAID', rebilled: false });
      throw new Refusal('payment_recorded', 'A payment of the invoice has this reference already.', {
        id: paid.id,
        reference: paid.reference,
      });
    case 'above_due':
      throw new Refusal('payment_above_due', `Of the invoice ${paid.due} is due: pay that, or less.`, {
        amountDue: paid.due,
      });
    case 'too_many':
      throw invalidFields([{ path: '', message: TOO_MANY }]);
    case 'paid_in_future':
      throw invalidFields([{ path: 'paid_at', message: 'must not be in the future' }]);
  }
}

function refuseStanding(taken: TakenBackOutcome): void {
  switch (taken.outcome) {
    case 'done':
      return;
    case 'not_found':
      throw new Refusal('not_found', NO_SUCH_THING);
    case 'taken_back':
      throw new Refusal('payment_taken_back', `The payment was taken back at ${taken.at}.`);
  }
}
