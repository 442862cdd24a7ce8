import { Room, ROW_BYTES } from '@weir/billing/chunk-weight';
import { sql } from 'kysely';
import type { Queries } from '../../database.ts';
import { invoicesById } from '../invoices/invoices.ts';

/**
 * What is computed in one transaction, in bytes of terms as text and of rows: some tenths of a second, for which the next organization
 * waits. In memory it takes some five times as much. 500 invoices with a few plain charges each fit.
 */
const COMPUTED_BYTES_MAX = 3_000_000;

/** Cuts drafts into chunks that can be computed in one transaction each, in the order given. One alone may be heavier. */
export async function cutByWeight(
  db: Queries,
  organizationId: string,
  invoiceIds: readonly string[],
): Promise<string[][]> {
  const weights = await weigh(db, organizationId, invoiceIds);
  const chunks: string[][] = [];
  let room = new Room(0);
  for (const id of invoiceIds) {
    const bytes = weights.get(id) ?? 0;
    const chunk = chunks.at(-1);
    if (chunk === undefined || !room.isLeft) {
      chunks.push([id]);
      room = new Room(COMPUTED_BYTES_MAX);
    } else chunk.push(id);
    room.take(bytes);
  }
  return chunks;
}

/** Bytes by invoice. Each charge is measured once, and not its copy in every due. */
async function weigh(db: Queries, organizationId: string, ids: readonly string[]): Promise<Map<string, number>> {
  const { rows } = await sql<{ id: string; bytes: number }>`
    WITH parts AS MATERIALIZED (
      SELECT invoice.id, due.charge_id FROM ${invoicesById(organizationId, ids)} CROSS JOIN LATERAL (
        SELECT charge_id FROM dues
        WHERE dues.organization_id = invoice.organization_id AND dues.subscription_id = invoice.subscription_id
          AND (dues.cycle = invoice.cycle - 1 OR dues.cycle = invoice.cycle AND dues.meter_id IS NULL) OFFSET 0
      ) AS due
    ), weights AS MATERIALIZED (
      SELECT id, octet_length(terms::text) AS bytes FROM charges
      WHERE organization_id = ${organizationId}::uuid AND id IN (SELECT charge_id FROM parts)
    )
    SELECT parts.id, sum(weights.bytes + ${ROW_BYTES}::integer)::float8 AS bytes
    FROM parts JOIN weights ON weights.id = parts.charge_id GROUP BY parts.id`.execute(db);
  return new Map(rows.map(({ id, bytes }) => [id, bytes]));
}
