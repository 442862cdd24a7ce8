// Cuts what has to be computed into parts that fit into memory, by the weight of their dues and grants: docs/decisions/0053. Lines that
// admins added are not held, but all of them are written when they are finalized, and weigh for that.

import { COMPUTED_BYTES_MAX, GRANT_BYTES, Room, ROW_BYTES } from '@weir/billing/chunk-weight';
import { sql, type RawBuilder } from 'kysely';
import type { Queries } from '../../database.ts';
import { isLiveOf } from '../live-grant.ts';
import { sumAdjustments } from './adjustments.ts';
import { invoicesById } from './invoices.ts';

/** Cuts drafts into chunks that can be computed in one transaction each, in the order given. One alone may be heavier. */
export async function cutByWeight(
  db: Queries,
  organizationId: string,
  invoiceIds: readonly string[],
): Promise<string[][]> {
  const weights = await weigh(db, organizationId, invoicesById(organizationId, invoiceIds));
  const grants = await weighGrants(db, organizationId, invoiceIds);
  const added = await sumAdjustments(db, organizationId, invoiceIds);
  return cut(
    invoiceIds,
    (id) => (weights.get(id) ?? 0) + (added.get(id)?.count ?? 0) * ROW_BYTES,
    (id) => grants.get(id),
  );
}

/** A boundary of a subscription; null: none, as of a settlement. */
interface Boundary {
  subscription_id: string;
  cycle: number | null;
}

/**
 * The same for what an invoice of each boundary would have, whether or not there is one: the dues of the period that ends there, and
 * the fixed ones of the period that begins.
 */
export async function cutBoundaries<Each extends Boundary>(
  db: Queries,
  organizationId: string,
  boundaries: readonly Each[],
): Promise<Each[][]> {
  if (boundaries.length === 0) return [];
  const subscriptions = boundaries.map(({ subscription_id }) => subscription_id);
  const cycles = boundaries.map(({ cycle }) => cycle);
  const asked = sql`(
    SELECT ${organizationId}::uuid AS organization_id, subscription_id || ' ' || cycle AS id, subscription_id, cycle
    FROM unnest(${subscriptions}::uuid[], ${cycles}::integer[]) AS asked (subscription_id, cycle)) AS invoice`;
  const weights = await weigh(db, organizationId, asked);
  return cut(boundaries, ({ subscription_id, cycle }) => weights.get(`${subscription_id} ${cycle}`) ?? 0);
}

/** What several of a chunk have together: it weighs once. */
interface Shared {
  bytes: number;
}

function cut<Each>(
  all: readonly Each[],
  weightOf: (each: Each) => number,
  sharedOf: (each: Each) => Shared | undefined = () => undefined,
): Each[][] {
  const chunks: Each[][] = [];
  let room = new Room(0);
  let taken = new Set<Shared>();
  for (const each of all) {
    const chunk = chunks.at(-1);
    if (chunk === undefined || !room.isLeft) {
      chunks.push([each]);
      room = new Room(COMPUTED_BYTES_MAX);
      taken = new Set();
    } else chunk.push(each);
    room.take(weightOf(each));
    const shared = sharedOf(each);
    if (shared === undefined || taken.has(shared)) continue;
    taken.add(shared);
    room.take(shared.bytes);
  }
  return chunks;
}

/** Bytes by `id` of what is asked about as `invoice`. Each charge is measured once, and not its copy in every due. */
async function weigh(db: Queries, organizationId: string, asked: RawBuilder<unknown>): Promise<Map<string, number>> {
  const ofInvoice = sql`dues.organization_id = invoice.organization_id AND dues.subscription_id = invoice.subscription_id`;
  // Each period is asked for by itself: a subscription may have hundreds of others. A full join can only be hashed or merged.
  const { rows } = await sql<{ id: string; bytes: number }>`
    WITH parts AS MATERIALIZED (
      SELECT invoice.id, due.charge_id FROM ${asked} CROSS JOIN LATERAL (
        (SELECT charge_id FROM dues WHERE ${ofInvoice} AND dues.cycle = invoice.cycle - 1 OFFSET 0)
        UNION ALL (SELECT charge_id FROM dues WHERE ${ofInvoice} AND dues.cycle = invoice.cycle AND meter_id IS NULL OFFSET 0)
      ) AS due
    ), weights AS MATERIALIZED (
      SELECT id, octet_length(terms::text) AS bytes FROM charges
      WHERE organization_id = ${organizationId}::uuid AND id = ANY (ARRAY(SELECT DISTINCT charge_id FROM parts))
    )
    SELECT parts.id, sum(weights.bytes + ${ROW_BYTES}::integer)::float8 AS bytes
    FROM parts FULL JOIN weights ON weights.id = parts.charge_id GROUP BY parts.id`.execute(db);
  return new Map(rows.map(({ id, bytes }) => [id, bytes]));
}

/** The live grants that a draft may draw, by its id. Those of one customer and currency have them together. */
async function weighGrants(
  db: Queries,
  organizationId: string,
  invoiceIds: readonly string[],
): Promise<Map<string, Shared>> {
  const { rows } = await sql<{ ids: string[]; bytes: number }>`
    SELECT pocket.ids, (live.count * ${GRANT_BYTES}::integer)::float8 AS bytes FROM (
      SELECT customer_id, currency, array_agg(id::text) AS ids
      FROM ${invoicesById(organizationId, invoiceIds)} GROUP BY customer_id, currency
    ) AS pocket CROSS JOIN LATERAL (
      SELECT count(*) AS count FROM credit_grants
      WHERE ${isLiveOf(organizationId, sql`pocket.customer_id`, sql`pocket.currency`)} OFFSET 0
    ) AS live
    WHERE live.count > 0`.execute(db);
  return new Map(rows.flatMap(({ ids, bytes }) => sharedBy(ids, { bytes })));
}

function sharedBy(ids: readonly string[], shared: Shared): [string, Shared][] {
  return ids.map((id) => [id, shared]);
}
