// What a customer owes.

import { amountOf, amountText } from '@weir/billing/amounts';
import { sql } from 'kysely';
import type { Queries } from '../../database.ts';

/** What is due of the open invoices of a customer in one currency. */
export interface Owed {
  currency: string;
  amount_due: string;
  /** The part of it whose due date has ended. */
  past_due: string;
}

/** In each currency in which something is open. What was given up as uncollectible is asked of nobody. */
export async function readOwed(db: Queries, organizationId: string, customerId: string): Promise<Owed[]> {
  // By the index of customers and no other.
  const { rows } = await sql<Owed>`
    SELECT currency, sum(due) AS amount_due, coalesce(sum(due) FILTER (WHERE is_past_due), 0) AS past_due
    FROM (
      SELECT currency, status, is_past_due, total - credits_applied - amount_paid AS due
      FROM invoices WHERE customer_id = ${customerId}::uuid AND (organization_id = ${organizationId}::uuid) IS TRUE OFFSET 0
    ) AS invoices WHERE status = 'OPEN' GROUP BY currency ORDER BY currency`.execute(db);
  return rows.map(({ currency, amount_due, past_due }) => ({
    currency,
    amount_due: amountText(amountOf(amount_due, currency), currency),
    past_due: amountText(amountOf(past_due, currency), currency),
  }));
}
