// What admins added to drafts. It is kept as the lines that it is, and stands behind those of dues.

import type { ComputedInvoice, ComputedLine } from '@weir/billing/lines';
import { sql, type RawBuilder, type Selectable } from 'kysely';
import type { Queries } from '../../database.ts';
import type { Tables } from '../../schema.ts';

/** How many lines there are of each invoice, and what they add up to; nothing of one without any. */
export async function sumAdjustments(
  db: Queries,
  organizationId: string,
  invoiceIds: readonly string[],
): Promise<Map<string, { count: number; amount: string }>> {
  const { rows } = await sql<{ invoice_id: string; count: number; amount: string }>`
    SELECT named.invoice_id, added.count, added.amount FROM unnest(${invoiceIds}::uuid[]) AS named (invoice_id)
    CROSS JOIN LATERAL (
      SELECT count(*)::integer AS count, sum(amount) AS amount FROM ${adjustmentsOfNamed(organizationId)} AS own
    ) AS added
    WHERE added.count > 0`.execute(db);
  return new Map(rows.map(({ invoice_id, ...sum }) => [invoice_id, sum]));
}

/** Some lines of a draft, from the one at `from` on, which counts from 0; the first of all has the position `behind`. */
export async function readAdjustments(
  db: Queries,
  organizationId: string,
  invoiceId: string,
  { from, limit, behind }: { from: number; limit: number; behind: number },
): Promise<ComputedLine[]> {
  const rows = await adjustmentsOf(db, organizationId, invoiceId)
    .orderBy('position')
    .orderBy('id')
    .offset(from)
    .limit(limit)
    .execute();
  return rows.map((row, index) => ({ ...lineOfRow(row), position: behind + from + index }));
}

/** One line of a draft. */
export async function findAdjustment(
  db: Queries,
  organizationId: string,
  invoiceId: string,
  id: string,
): Promise<ComputedLine | undefined> {
  const row = await adjustmentsOf(db, organizationId, invoiceId).where('id', '=', id).executeTakeFirst();
  return row === undefined ? undefined : lineOfRow(row);
}

function lineOfRow(row: Selectable<Tables['invoice_lines']>): ComputedLine {
  const { organization_id: _, created_at: __, ...line } = row;
  return { ...line, due: null, detail: null, billed: null };
}

/** Those of the invoice of `named`: by the index of its lines, whatever Postgres believes. */
function adjustmentsOfNamed(organizationId: string): RawBuilder<unknown> {
  return sql`(
        SELECT id, position, amount FROM invoice_lines WHERE invoice_id = named.invoice_id
          AND (organization_id = ${organizationId}::uuid) IS TRUE AND kind = 'ADJUSTMENT' OFFSET 0)`;
}

function adjustmentsOf(db: Queries, organizationId: string, invoiceId: string) {
  return db
    .selectFrom('invoice_lines')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('invoice_id', '=', invoiceId)
    .where('kind', '=', 'ADJUSTMENT');
}

/** So many lines are written by a statement: some tenths of a second. Before there was a limit a draft could have any number of them. */
const WRITTEN_AT_ONCE = 10_000;

/** Gives the lines of invoices that are being finalized the positions behind those of dues. */
export async function moveAdjustments(
  transaction: Queries,
  organizationId: string,
  invoices: readonly ComputedInvoice[],
): Promise<void> {
  const moved = invoices.filter(({ added }) => added > 0);
  if (moved.length === 0) return;
  const { rows: placed } = await sql<{ id: string; position: number }>`
    SELECT id, (behind + row_number() OVER (PARTITION BY named.invoice_id ORDER BY position, id) - 1)::integer AS position
    FROM unnest(${moved.map(({ id }) => id)}::uuid[], ${moved.map(({ lines, added }) => lines - added)}::integer[])
      AS named (invoice_id, behind)
    CROSS JOIN LATERAL ${adjustmentsOfNamed(organizationId)} AS added`.execute(transaction);
  for (let from = 0; from < placed.length; from += WRITTEN_AT_ONCE) {
    const some = placed.slice(from, from + WRITTEN_AT_ONCE);
    await sql`
      UPDATE invoice_lines l SET position = placed.position
      FROM unnest(${some.map(({ id }) => id)}::uuid[], ${some.map(({ position }) => position)}::integer[])
        AS placed (id, position)
      WHERE l.organization_id = ${organizationId}::uuid AND l.id = placed.id`.execute(transaction);
  }
}
