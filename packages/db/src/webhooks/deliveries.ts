// Deliveries, as admins see them and ask for them again.

import type { FeedType } from '@weir/billing/feed-events';
import { newId } from '@weir/shared/ids';
import { LIMITS } from '@weir/shared/limits';
import { sql } from 'kysely';
import type { Queries } from '../database.ts';
import { DELETED_MAX, inSlices } from '../delete-in-slices.ts';
import { deleteOfEach, type LeftAlone } from '../left-alone.ts';
import type { Order } from '../order.ts';
import { mapPage, selectPage, type Page, type PageOf } from '../page.ts';
import type { Attempt, DeliveryStatus } from './webhook-tables.ts';

/** What a test is called, which no event of the feed is. */
export const TEST_TYPE = 'webhook.test';

/** One event for one endpoint, and what came of it. */
export interface Delivery {
  id: string;
  endpoint_id: string;
  type: FeedType | typeof TEST_TYPE;
  /** Of the feed; null: a test. */
  sequence: number | null;
  status: DeliveryStatus;
  /** All that were made; the list holds the last of them. */
  attempt_count: number;
  attempts: Attempt[];
  /** Null: as soon as it is its turn, or never. */
  next_attempt_at: string | null;
  delivered_at: string | null;
  created_at: string;
}

/** A test has no sequence. */
const LATEST_EVENTS_FIRST: Order<Delivery> = [
  { field: 'created_at', type: 'timestamptz', descending: true },
  { field: 'sequence', type: 'bigint', descending: true, nullable: true },
  { field: 'id', type: 'uuid', descending: true },
];

/** Newest first. Undefined: the organization has no such endpoint. */
export async function listDeliveries(
  db: Queries,
  organizationId: string,
  endpointId: string,
  { status, ...page }: Page & { status?: DeliveryStatus | undefined },
): Promise<PageOf<Delivery> | undefined> {
  const { rows: endpoints } = await sql`
    SELECT FROM webhook_endpoints
    WHERE organization_id = ${organizationId} AND id = ${endpointId} AND deleted_at IS NULL`.execute(db);
  if (endpoints.length === 0) return undefined;
  const wanted =
    status === undefined
      ? ofEndpoint(organizationId, endpointId, 0)
      : sql`${ofEndpoint(organizationId, endpointId, 1)} AND status = ${status}`;
  // Any time is. Where Postgres has not looked, it believes that few are, and walks along the index and does not sort all of them.
  const rows = sql<DeliveryRow>`(${selection} WHERE ${wanted} AND created_at BETWEEN '-infinity' AND 'infinity')`;
  return mapPage(
    await selectPage(db.selectFrom(rows.as('deliveries')).selectAll(), LATEST_EVENTS_FIRST, page),
    deliveryOf,
  );
}

/** Has it sent once more, and again by the schedule while that fails, whatever came of it before or comes of a further attempt under way. */
export async function retryDelivery(db: Queries, organizationId: string, id: string): Promise<Delivery | undefined> {
  const isOfOne = sql`EXISTS (SELECT FROM webhook_endpoints AS endpoints
    WHERE endpoints.organization_id = ${organizationId} AND endpoints.id = endpoint_id AND endpoints.deleted_at IS NULL)`;
  // One that has not been sent at all, or is just being sent for the first time, keeps its place.
  await sql`UPDATE webhook_deliveries SET status = 'PENDING', tries = 0, next_attempt_at = now(), delivered_at = NULL
    WHERE organization_id = ${organizationId} AND id = ${id} AND next_attempt_at IS NOT NULL AND ${isOfOne}`.execute(
    db,
  );
  const { rows } = await sql<DeliveryRow>`
    ${selection} WHERE deliveries.organization_id = ${organizationId} AND deliveries.id = ${id} AND ${isOfOne}`.execute(
    db,
  );
  return rows.map(deliveryOf)[0];
}

/**
 * Has a test sent, once, within a transaction. Undefined where there is no such endpoint; 'full': as many as may wait for it do, which
 * nothing else bounds: a receiver that hangs is sent a few a minute, and with very many that wait it would be sent no event.
 */
export async function insertTest(
  transaction: Queries,
  organizationId: string,
  endpointId: string,
): Promise<Delivery | 'full' | undefined> {
  // Two at once would count the same ones.
  const { rows: locked } = await sql`SELECT FROM webhook_endpoints
    WHERE organization_id = ${organizationId} AND id = ${endpointId} AND deleted_at IS NULL FOR NO KEY UPDATE`.execute(
    transaction,
  );
  if (locked.length === 0) return undefined;
  const id = newId();
  await sql`INSERT INTO webhook_deliveries (organization_id, id, endpoint_id, next_attempt_at)
    SELECT ${organizationId}, ${id}, ${endpointId}, now() WHERE ${LIMITS.waitingTests} > (
      SELECT count(*) FROM webhook_deliveries WHERE organization_id = ${organizationId} AND endpoint_id = ${endpointId}
        AND status = 'PENDING' AND sequence IS NULL)`.execute(transaction);
  const { rows } = await sql<DeliveryRow>`
    ${selection} WHERE deliveries.organization_id = ${organizationId} AND deliveries.id = ${id}`.execute(transaction);
  return rows.map(deliveryOf)[0] ?? 'full';
}

/** By the index of those of an endpoint in the order of their times, 0, or by that of those of each status, 1. */
export const ofEndpoint = (organizationId: string, endpointId: string, seed: 0 | 1) =>
  sql`uuid_hash_extended(endpoint_id, ${sql.lit(seed)}) = uuid_hash_extended(${endpointId}::uuid, ${sql.lit(seed)})
    AND (organization_id = ${organizationId}::uuid AND endpoint_id = ${endpointId}::uuid) IS TRUE`;

/** The type of each is looked up by itself: in a join, Postgres held each delivery against each event of the organization. */
const selection = sql.raw(`
  SELECT deliveries.id, deliveries.endpoint_id, deliveries.sequence, coalesce((
      SELECT type FROM billing_events AS events
      WHERE events.organization_id = deliveries.organization_id AND events.sequence = deliveries.sequence
    ), '${TEST_TYPE}') AS type,
    deliveries.status, deliveries.attempt_count, deliveries.attempts,
    CASE WHEN deliveries.status = 'PENDING' THEN deliveries.next_attempt_at END AS next_attempt_at,
    deliveries.delivered_at, deliveries.created_at
  FROM webhook_deliveries AS deliveries`);

type DeliveryRow = Omit<Delivery, 'sequence'> & { sequence: string | null };

const deliveryOf = (row: DeliveryRow): Delivery => ({
  ...row,
  sequence: row.sequence === null ? null : Number(row.sequence),
});

/**
 * Deletes what is done with and too old, or too much. Returns how many; what is left is for the next time. Whether an endpoint has too
 * many is not asked while it is left alone.
 */
export async function deleteOldDeliveries(
  db: Queries,
  leftAlone: LeftAlone,
  keptMax: number = LIMITS.deliveries,
): Promise<number> {
  const { rows: endpoints } = await sql<{ organization_id: string; id: string }>`
    SELECT organization_id, id FROM webhook_endpoints WHERE deleted_at IS NULL`.execute(db);
  return await deleteOfEach(endpoints, async ({ organization_id, id }) => {
    const isLeftAlone = leftAlone.has(id);
    const lastTooMany = isLeftAlone
      ? sql`NULL`
      : sql`(SELECT created_at FROM webhook_deliveries WHERE ${ofEndpoint(organization_id, id, 0)}
          ORDER BY created_at DESC OFFSET ${keptMax} LIMIT 1)`;
    const deleted = await inSlices(async () => {
      // Of one that is asked for again meanwhile Postgres asks once more what stands outside of the list.
      const { numAffectedRows = 0n } = await sql`
        DELETE FROM webhook_deliveries WHERE organization_id = ${organization_id} AND id = ANY (ARRAY(
          SELECT id FROM webhook_deliveries
          WHERE ${ofEndpoint(organization_id, id, 0)} AND status <> 'PENDING'
            AND created_at <= greatest(now() - make_interval(days => ${LIMITS.deliveryDays}), ${lastTooMany})
          ORDER BY created_at LIMIT ${DELETED_MAX})) AND status <> 'PENDING'`.execute(db);
      return Number(numAffectedRows);
    });
    // At this pace a day adds three times what is kept. Who gets faster between two looks has more for up to a day.
    if (!isLeftAlone && deleted <= keptMax / 100) leftAlone.add(id);
    return deleted;
  });
}
