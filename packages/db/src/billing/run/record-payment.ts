// Records what was paid of an invoice, in one payment or several, and takes back what was recorded by mistake. Weir takes no money: it
// is told. Each of these is a step in a transaction of the caller, who rolls it back where nothing was done.

import { amountOf, amountText } from '@weir/billing/amounts';
import type { InvoiceStatus } from '@weir/billing/kinds';
import type { Amount } from '@weir/rating/money';
import { instantInZone } from '@weir/shared/date-or-instant';
import { LIMITS } from '@weir/shared/limits';
import { sql, type RawBuilder } from 'kysely';
import type { Queries } from '../../database.ts';
import { amountDueOf, type InvoiceRow } from '../invoices/invoices.ts';
import { insertPayment, listPayments, markTakenBack, paymentOf, type PaymentRow } from '../invoices/payments.ts';
import { changeInvoice, notOpen, type InvoiceOfActor, type NotOpen } from './invoice-states.ts';

/** What is told of a payment. */
export interface NewPayment {
  /** Null: all that is due. */
  amount: Amount | null;
  /** An instant, or a date, which is its first instant in the zone of the subscription; null: now. */
  paidAt: string | null;
  /** Two payments of an invoice that stand do not have the same one. */
  reference: string | null;
}

export type PaymentOutcome =
  | { outcome: 'done' | 'not_found' | 'paid_in_future' | 'too_many' }
  | NotOpen
  /** A payment with its reference stands already. */
  | { outcome: 'recorded'; id: string; reference: string; status: InvoiceStatus }
  | { outcome: 'above_due'; due: string };

/**
 * Records a payment of an invoice that is OPEN or UNCOLLECTIBLE. It is PAID once nothing is due. `paid_in_future` where Postgres's clock is
 * before `paidAt`.
 */
export async function recordPayment(
  transaction: Queries,
  which: InvoiceOfActor,
  { amount, paidAt, reference }: NewPayment,
): Promise<PaymentOutcome> {
  return await changeInvoice<PaymentOutcome>(transaction, which, async (row, timeZone) => {
    const { status } = row;
    const payments = await listPayments(transaction, which.organizationId, row.id);
    const same = payments.find((each) => stands(each) && reference !== null && each.reference === reference);
    if (same !== undefined && reference !== null) return { outcome: 'recorded', id: same.id, reference, status };
    if (status !== 'OPEN' && status !== 'UNCOLLECTIBLE') return await notOpen(transaction, row);
    const { currency } = row;
    const due = amountDueOf(row, amountOf(row.total, currency));
    const paid = amount ?? due;
    if (paid > due) return { outcome: 'above_due', due: amountText(due, currency) };
    if (payments.length >= LIMITS.payments) return { outcome: 'too_many' };
    const at = await timeOfPayment(transaction, paidAt, timeZone);
    if (at === undefined) return { outcome: 'paid_in_future' };
    const payment = await insertPayment(transaction, row, { amount: paid, paidAt: at, reference });
    const isPaid = paid === due;
    return {
      changes: {
        amount_paid: amountText(amountOf(row.amount_paid, currency) + paid, currency),
        ...(isPaid && { status: 'PAID' as const, paid_at: lastPaidAt(row), reference }),
      },
      types: isPaid ? ['invoice.payment_recorded', 'invoice.paid'] : ['invoice.payment_recorded'],
      payment: paymentOf(payment, currency),
    };
  });
}

export type TakenBackOutcome = { outcome: 'done' | 'not_found' } | { outcome: 'taken_back'; at: string };

/**
 * Takes a payment back that was recorded by mistake. An invoice that was PAID by it is what it was before: OPEN, past due where that is
 * over by now, or UNCOLLECTIBLE. `taken_back`: it was before.
 */
export async function takePaymentBack(
  transaction: Queries,
  which: InvoiceOfActor,
  { paymentId, note }: { paymentId: string; note: string | null },
): Promise<TakenBackOutcome> {
  return await changeInvoice<TakenBackOutcome>(transaction, which, async (row) => {
    const payments = await listPayments(transaction, which.organizationId, row.id);
    const payment = payments.find(({ id }) => id === paymentId);
    if (payment === undefined) return { outcome: 'not_found' };
    if (payment.taken_back_at !== null) return { outcome: 'taken_back', at: payment.taken_back_at };
    const { currency } = row;
    const isOpenAgain = row.status === 'PAID';
    return {
      changes: {
        amount_paid: amountText(amountOf(row.amount_paid, currency) - amountOf(payment.amount, currency), currency),
        ...(isOpenAgain && { ...statusBefore(row), paid_at: null, reference: null }),
      },
      types: ['invoice.payment_taken_back'],
      payment: paymentOf(await markTakenBack(transaction, payment, note), currency),
    };
  });
}

function stands({ taken_back_at }: PaymentRow): boolean {
  return taken_back_at === null;
}

/** When the last of the payments that stand was made: they need not be recorded in that order. */
function lastPaidAt({ organization_id, id }: InvoiceRow): RawBuilder<string> {
  return sql<string>`(SELECT max(paid_at) FROM payments
    WHERE organization_id = ${organization_id}::uuid AND invoice_id = ${id}::uuid AND taken_back_at IS NULL)`;
}

function statusBefore({ uncollectible_at }: InvoiceRow): { status: InvoiceStatus } {
  return { status: uncollectible_at === null ? 'OPEN' : 'UNCOLLECTIBLE' };
}

/** Undefined where it is in the future. */
async function timeOfPayment(
  transaction: Queries,
  paidAt: string | null,
  timeZone: string,
): Promise<string | undefined> {
  const { rows } = await sql<{ paid_at: string; is_ahead: boolean }>`
    SELECT at AS paid_at, at > now AS is_ahead
    FROM (SELECT coalesce(${paidAt === null ? null : instantInZone(paidAt, timeZone)}::timestamptz, billing_now()) AS at, billing_now() AS now) AS times`.execute(
    transaction,
  );
  return rows[0]?.is_ahead === false ? rows[0].paid_at : undefined;
}
