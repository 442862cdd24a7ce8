// The events of a move that are void. Those whose hour has events that count go with it (move-slice.ts); an hour of which every event
// is void has no row in any rollup, so the rest is found through the corrections. None is made meanwhile: a correction of usage that is
// being moved is refused, and whoever looked before the request has committed by now (perform-moves.ts).

import { sql } from 'kysely';
import { isOf } from '../aggregations.ts';
import type { Queries } from '../database.ts';
import { BEFORE_ALL, type RunningMove } from './usage-moves.ts';

/** Corrections that one statement looks at. */
const PAGE = 5_000;

/** Moves what is left of void events, and takes what was said about them where the customer is erased: a page of them. */
export async function moveVoided(db: Queries, move: RunningMove, after: string): Promise<string | undefined> {
  const { organization_id, from_external_id: from, to_external_id: to, kind } = move;
  const isErased = kind === 'ERASE';
  const ofLate = sql`late.organization_id = ${organization_id}::uuid AND late.meter_id = own.meter_id
    AND late.customer_external_id = ${from}::text AND late."timestamp" = own."timestamp"
    AND (late.event_id = own.id OR late.voids = own.id)`;
  const less = sql`, idempotency_key = NULL,
    metadata = (SELECT erased_metadata(events.metadata, metadata_keys, ${sql.raw(isOf('aggregation_type', 'values'))}) FROM meters
      WHERE meters.organization_id = events.organization_id AND meters.id = events.meter_id)`;
  // What it counted for under the former id was billed to nobody, or the usage would not be moved.
  const late = isErased
    ? sql`UPDATE late_events AS late SET customer_external_id = ${to} FROM own WHERE ${ofLate}`
    : sql`DELETE FROM late_events AS late USING own WHERE ${ofLate}`;
  const { rows } = await sql<{ last: string | null; looked_at: number }>`
    WITH page AS MATERIALIZED (
      SELECT event_id FROM corrections WHERE organization_id = ${organization_id}::uuid AND event_id > ${after || BEFORE_ALL}::uuid
      ORDER BY event_id LIMIT ${PAGE}
    ), own AS MATERIALIZED (
      SELECT found.* FROM page CROSS JOIN LATERAL (
        SELECT id, meter_id, "timestamp", customer_external_id FROM events
        WHERE organization_id = ${organization_id}::uuid AND id = page.event_id
          AND customer_external_id IN (${from}, ${to}) OFFSET 0
      ) AS found
    ), late AS (${late}), moved AS (
      UPDATE events SET customer_external_id = ${to} ${isErased ? less : sql``} FROM own
      WHERE events.organization_id = ${organization_id}::uuid AND events.id = own.id AND own.customer_external_id = ${from}
      RETURNING events.id
    ), counted AS (
      UPDATE usage_moves SET events = events + (SELECT count(*) FROM moved)
      WHERE organization_id = ${organization_id}::uuid AND id = ${move.id}::uuid
    ), said AS (
      UPDATE corrections SET reason = '[erased]' FROM own
      WHERE ${isErased} AND corrections.organization_id = ${organization_id}::uuid AND corrections.event_id = own.id
    )
    SELECT max(event_id::text) AS last, count(*)::int AS looked_at FROM page`.execute(db);
  const [{ last, looked_at } = { last: null, looked_at: 0 }] = rows;
  return last === null || looked_at < PAGE ? undefined : last;
}
