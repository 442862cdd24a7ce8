// What may come back of a due: what was asked for. Lines of void invoices were waived, so nobody paid them.

import { minorDigits } from '@weir/rating/currencies';
import type { Amount } from '@weir/rating/money';
import { sql } from 'kysely';
import type { Queries } from '../page.ts';
import type { DueRow } from './dues.ts';
import { amountOf } from './invoices.ts';

/**
 * What the lines of these dues on finalized invoices that are not void add up to, by {@link dueKey}. Whoever settles holds their
 * subscriptions, and so does whoever voids.
 */
export async function readReturnable(
  db: Queries,
  organizationId: string,
  dues: readonly DueRow[],
): Promise<Map<string, Amount>> {
  if (dues.length === 0) return new Map();
  const { rows } = await sql<{
    subscription_id: string;
    cycle: number;
    charge_id: string;
    currency: string;
    amount: string;
  }>`
    SELECT l.subscription_id, l.cycle, l.charge_id, i.currency, sum(l.amount) AS amount
    FROM unnest(
      ${dues.map(({ subscription_id }) => subscription_id)}::uuid[],
      ${dues.map(({ cycle }) => cycle)}::integer[],
      ${dues.map(({ charge_id }) => charge_id)}::uuid[]
    ) AS due (subscription_id, cycle, charge_id)
    JOIN invoice_lines l ON l.organization_id = ${organizationId}::uuid AND l.subscription_id = due.subscription_id
      AND l.cycle = due.cycle AND l.charge_id = due.charge_id
    JOIN invoices i ON i.organization_id = l.organization_id AND i.id = l.invoice_id AND i.status NOT IN ('DRAFT', 'VOID')
    GROUP BY 1, 2, 3, 4`.execute(db);
  // Of a due whose invoices are all void there is no row.
  const returnable = new Map(dues.map((due) => [dueKey(due), 0n]));
  for (const row of rows) returnable.set(dueKey(row), amountOf(row.amount, minorDigits(row.currency)));
  return returnable;
}

/** Names a due within its organization. */
export function dueKey({
  subscription_id,
  cycle,
  charge_id,
}: Pick<DueRow, 'subscription_id' | 'cycle' | 'charge_id'>): string {
  return `${subscription_id} ${cycle} ${charge_id}`;
}
