// The payments of an invoice: rows that are added, and taken back where they were a mistake. What stands of them is its amount_paid.

import type { Amount } from '@weir/rating/money';
import { amountOf, amountText } from '@weir/billing/amounts';
import { newId } from '@weir/shared/ids';
import { sql, type Selectable } from 'kysely';
import type { Queries } from '../../database.ts';
import type { Tables } from '../../schema.ts';
import type { InvoiceRow } from './invoices.ts';

/** A row of payments. */
export type PaymentRow = Selectable<Tables['payments']>;

/** A payment as it is answered. Its amount has exactly the minor digits of the currency. */
export interface Payment {
  id: string;
  amount: string;
  paid_at: string;
  reference: string | null;
  created_at: string;
  /** Null: it stands. */
  taken_back_at: string | null;
  /** Why it was taken back. */
  note: string | null;
}

/** Puts a row into the form in which it is answered. */
export function paymentOf(row: PaymentRow, currency: string): Payment {
  return {
    id: row.id,
    amount: amountText(amountOf(row.amount, currency), currency),
    paid_at: row.paid_at,
    reference: row.reference,
    created_at: row.created_at,
    taken_back_at: row.taken_back_at,
    note: row.note,
  };
}

/** All payments of an invoice, in the order in which they were recorded. */
export async function listPayments(db: Queries, organizationId: string, invoiceId: string): Promise<PaymentRow[]> {
  return await db
    .selectFrom('payments')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('invoice_id', '=', invoiceId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/** Records a payment. Expects the invoice locked, and that no more is paid of it than is due. */
export async function insertPayment(
  transaction: Queries,
  { organization_id, id: invoice_id, currency }: InvoiceRow,
  payment: { amount: Amount; paidAt: string; reference: string | null },
): Promise<PaymentRow> {
  return await transaction
    .insertInto('payments')
    .values({
      organization_id,
      invoice_id,
      id: newId(),
      amount: amountText(payment.amount, currency),
      paid_at: payment.paidAt,
      // Now, and not when the transaction began: of two at once, one waits for the invoice.
      created_at: sql<string>`billing_clock()`,
      reference: payment.reference,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Takes a payment back that stands. Expects the invoice locked. */
export async function markTakenBack(
  transaction: Queries,
  { organization_id, invoice_id, id }: PaymentRow,
  note: string | null,
): Promise<PaymentRow> {
  return await transaction
    .updateTable('payments')
    .set({ taken_back_at: sql<string>`billing_now()`, note })
    .where('organization_id', '=', organization_id)
    .where('invoice_id', '=', invoice_id)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}
