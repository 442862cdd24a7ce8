// An invoice as it was in the moment in which it was finalized, whatever was paid, credited or voided since.

import { amountOf, amountText } from '@weir/billing/amounts';
import { sql } from 'kysely';
import type { Queries } from '../../database.ts';
import type { Invoice } from './invoices.ts';

type Changing = 'status' | 'credits_applied' | 'amount_paid' | 'amount_due' | 'paid_at';

/** What a finalized invoice was answered to be when it was finalized, of all that may change afterwards. */
export async function readAsIssued(
  db: Queries,
  organizationId: string,
  { id, currency, total, finalized_at }: Invoice,
): Promise<Pick<Invoice, Changing>> {
  // What was drawn later was given by an invoice below zero that was finalized later. All other grants are drawn by who is finalized.
  const { rows } = await sql<{ credits: string }>`
    SELECT coalesce(sum(entry.amount), 0) AS credits
    FROM credit_entries AS entry
    CROSS JOIN LATERAL (
      SELECT invoice_id AS given_by FROM credit_grants
      WHERE organization_id = ${organizationId}::uuid AND credit_grants.id = entry.grant_id
    ) AS granted
    WHERE entry.invoice_id = ${id}::uuid AND (entry.organization_id = ${organizationId}::uuid) IS TRUE AND entry.kind = 'DRAW'
      AND NOT EXISTS (
        SELECT FROM invoices AS giving WHERE giving.organization_id = ${organizationId}::uuid AND giving.id = granted.given_by
          AND giving.finalized_at > ${finalized_at}::timestamptz)`.execute(db);
  const credits = amountOf(rows[0]?.credits ?? '0', currency);
  const due = amountOf(total, currency) - credits;
  const isPaid = due <= 0n;
  return {
    status: isPaid ? 'PAID' : 'OPEN',
    credits_applied: amountText(credits, currency),
    amount_paid: amountText(0n, currency),
    amount_due: amountText(isPaid ? 0n : due, currency),
    paid_at: isPaid ? finalized_at : null,
  };
}
