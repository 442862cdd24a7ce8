import { invoiceOf, type InvoiceRow } from './invoices.ts';

/** What the feed says of an invoice. */
export function invoiceData(row: InvoiceRow): Record<string, unknown> {
  const invoice = invoiceOf(row);
  return {
    id: invoice.id,
    invoice_number: invoice.invoice_number,
    kind: invoice.kind,
    status: invoice.status,
    subscription_id: invoice.subscription_id,
    customer_id: invoice.customer_id,
    cycle: invoice.cycle,
    currency: invoice.currency,
    total: invoice.total,
    credits_applied: invoice.credits_applied,
    amount_paid: invoice.amount_paid,
    amount_due: invoice.amount_due,
    period_start: invoice.period_start,
    period_end: invoice.period_end,
    issue_date: invoice.issue_date,
    due_date: invoice.due_date,
    paid_at: invoice.paid_at,
    reference: invoice.reference,
    note: invoice.note,
  };
}
