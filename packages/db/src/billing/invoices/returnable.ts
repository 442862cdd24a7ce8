// What may come back of a due: what was asked for. Lines of void invoices were waived, so nobody paid them.

import { dueKey, type Due } from '@weir/billing/due';
import { amountOf } from '@weir/billing/amounts';
import { minorDigits } from '@weir/rating/currencies';
import type { Amount } from '@weir/rating/money';
import { sql } from 'kysely';
import type { Queries } from '../../database.ts';

/**
 * What the lines of these dues on finalized invoices that are not void add up to, by {@link dueKey}. Whoever settles holds their
 * subscriptions, and so does whoever voids.
 */
export async function readReturnable(
  db: Queries,
  organizationId: string,
  dues: readonly Due[],
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
    CROSS JOIN LATERAL (
      SELECT * FROM invoice_lines WHERE organization_id = ${organizationId}::uuid AND subscription_id = due.subscription_id
        AND cycle = due.cycle AND charge_id = due.charge_id OFFSET 0
    ) AS l
    CROSS JOIN LATERAL (
      SELECT currency FROM invoices
      WHERE organization_id = l.organization_id AND id = l.invoice_id AND status NOT IN ('DRAFT', 'VOID') OFFSET 0
    ) AS i
    GROUP BY 1, 2, 3, 4`.execute(db);
  // Of a due whose invoices are all void there is no row.
  const returnable = new Map(dues.map((due) => [dueKey(due), 0n]));
  for (const row of rows) returnable.set(dueKey(row), amountOf(row.amount, minorDigits(row.currency)));
  return returnable;
}

/**
 * Of grants that an invoice drew what becomes unfounded when it is voided: they gave back, as the other side of an invoice below
 * zero, what this one had billed, and now nobody is asked for that.
 */
export async function readUnfounded(
  db: Queries,
  organizationId: string,
  { id, currency }: { id: string; currency: string },
): Promise<Map<string, Amount>> {
  const digits = minorDigits(currency);
  const { rows } = await sql<{ grant_id: string; gave: string; unpaid: string }>`
    WITH own AS (
      SELECT DISTINCT subscription_id, cycle, charge_id FROM invoice_lines
      WHERE organization_id = ${organizationId}::uuid AND invoice_id = ${id}::uuid AND charge_id IS NOT NULL
    ), billed AS (
      SELECT own.*, i.id AS invoice_id, l.amount
      FROM own JOIN invoice_lines l USING (subscription_id, cycle, charge_id)
      JOIN invoices i ON i.organization_id = l.organization_id AND i.id = l.invoice_id AND i.status NOT IN ('DRAFT', 'VOID')
      WHERE l.organization_id = ${organizationId}::uuid
    ), unpaid AS (
      SELECT sum(greatest(-others, 0) - greatest(-everything, 0)) AS amount FROM (
        SELECT coalesce(sum(amount) FILTER (WHERE invoice_id <> ${id}::uuid), 0) AS others, sum(amount) AS everything
        FROM billed GROUP BY subscription_id, cycle, charge_id
      ) AS dues
    )
    SELECT g.id AS grant_id, sum(greatest(-billed.amount, 0)) AS gave, unpaid.amount AS unpaid
    FROM unpaid, credit_grants g JOIN billed USING (invoice_id)
    WHERE g.organization_id = ${organizationId}::uuid AND unpaid.amount > 0 AND g.id IN (
      SELECT grant_id FROM credit_entries
      WHERE organization_id = ${organizationId}::uuid AND invoice_id = ${id}::uuid)
    GROUP BY g.id, unpaid.amount ORDER BY g.id`.execute(db);
  const unfounded = new Map<string, Amount>();
  let left = amountOf(rows[0]?.unpaid ?? null, digits);
  for (const { grant_id, gave } of rows) {
    const most = amountOf(gave, digits);
    const part = most < left ? most : left;
    unfounded.set(grant_id, part);
    left -= part;
  }
  return unfounded;
}
