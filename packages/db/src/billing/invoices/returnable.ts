// What may come back of a due: what was asked for. Lines of void invoices were waived, so nobody paid them; and what had been given back of
// them before was given for nothing.

import { dueKey, type Due } from '@weir/billing/due';
import { amountOf } from '@weir/billing/amounts';
import type { Amount } from '@weir/rating/money';
import { sql } from 'kysely';
import type { Queries } from '../../database.ts';
import type { LineOfDue } from '../subscriptions/dues.ts';

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
        AND cycle = due.cycle AND charge_id = due.charge_id AND rebilled IS NULL OFFSET 0
    ) AS l
    CROSS JOIN LATERAL (
      SELECT currency FROM invoices
      WHERE organization_id = l.organization_id AND id = l.invoice_id AND status NOT IN ('DRAFT', 'VOID') OFFSET 0
    ) AS i
    GROUP BY 1, 2, 3, 4`.execute(db);
  // Of a due whose invoices are all void there is no row.
  const returnable = new Map(dues.map((due) => [dueKey(due), 0n]));
  for (const row of rows) returnable.set(dueKey(row), amountOf(row.amount, row.currency));
  return returnable;
}

/** What other invoices have given back of what one invoice billed. */
export interface GivenBack {
  /** Their lines that gave it. */
  lines: LineOfDue[];
  /** By the invoice that gave it. */
  amounts: Map<string, Amount>;
  /** Others billed something of such a due as well, before or since: what was given back may be of that, or is asked for again. */
  isBilledElsewhere: boolean;
}

/** What lines of other invoices have taken off again of what this one billed, and took from nobody else: once it is void, nobody has paid it. */
export async function readGivenBack(
  db: Queries,
  organizationId: string,
  { id, currency }: { id: string; currency: string },
): Promise<GivenBack> {
  const { rows } = await sql<LineOfDue & { is_billed_elsewhere: boolean }>`
    WITH others AS MATERIALIZED (
      SELECT l.id, l.invoice_id, l.amount, own.subscription_id, own.cycle, own.charge_id
      FROM (
        SELECT DISTINCT subscription_id, cycle, charge_id FROM invoice_lines
        WHERE invoice_id = ${id}::uuid AND (organization_id = ${organizationId}::uuid) IS TRUE AND charge_id IS NOT NULL
      ) AS own
      CROSS JOIN LATERAL (
        SELECT id, invoice_id, amount FROM invoice_lines WHERE organization_id = ${organizationId}::uuid
          AND subscription_id = own.subscription_id AND cycle = own.cycle AND charge_id = own.charge_id
          AND invoice_id <> ${id}::uuid AND rebilled IS NULL OFFSET 0
      ) AS l
      CROSS JOIN LATERAL (
        SELECT FROM invoices
        WHERE organization_id = ${organizationId}::uuid AND id = l.invoice_id AND status NOT IN ('DRAFT', 'VOID') OFFSET 0
      ) AS i
    ), given AS MATERIALIZED (
      SELECT subscription_id, cycle, charge_id, bool_or(amount > 0) AS is_billed_elsewhere
      FROM others GROUP BY 1, 2, 3 HAVING sum(amount) < 0
    )
    SELECT others.*, given.is_billed_elsewhere
    FROM given JOIN others USING (subscription_id, cycle, charge_id)
    WHERE others.amount < 0 ORDER BY others.id`.execute(db);
  const amounts = new Map<string, Amount>();
  for (const { invoice_id, amount } of rows)
    amounts.set(invoice_id, (amounts.get(invoice_id) ?? 0n) - amountOf(amount, currency));
  return {
    lines: rows,
    amounts,
    isBilledElsewhere: rows.some(({ is_billed_elsewhere }) => is_billed_elsewhere),
  };
}
