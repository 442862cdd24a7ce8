// The events of a move that are void. Those whose hour has events that count go with it (move-slice.ts); an hour of which every event
// is void has no row in any rollup, so the rest is found through the corrections, where a look at its own events does not tell that there
// is none. No correction is made meanwhile: one of usage that is being moved is refused, and whoever looked before the request has
// committed by now (perform-moves.ts).

import { sql } from 'kysely';
import { isOf } from '../aggregations.ts';
import type { Queries } from '../database.ts';
import { everInStream } from '../usage/usage-rows.ts';
import { BEFORE_ALL, type RunningMove } from './usage-moves.ts';

/** Corrections, or events, that one statement looks at. */
const PAGE = 5_000;

/** Moves what is left of void events, and takes what was said about them where the customer is erased: a page of them. */
export async function moveVoided(db: Queries, move: RunningMove, after: string): Promise<string | undefined> {
  const { organization_id, from_external_id: from, to_external_id: to, kind } = move;
  const isErased = kind === 'ERASE';
  if (after === '') {
    await moveLate(db, move);
    if (await hasNoneVoid(db, move)) return undefined;
  }
  // What is void is in no group.
  const less = sql`, idempotency_key = NULL,
    metadata = (SELECT erased_metadata(events.metadata, '{}', ${sql.raw(isOf('aggregation_type', 'values'))}) FROM meters
      WHERE meters.organization_id = events.organization_id AND meters.id = events.meter_id)`;
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
    ), moved AS (
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

/**
 * Whether it is seen that no event which the walk is for is void, by the events themselves: an organization may have a million
 * corrections, and a thousand moves. Not so where there are more events than a page, nor where corrections are fewer than the meters
 * of which it would be asked.
 */
async function hasNoneVoid(db: Queries, move: RunningMove): Promise<boolean> {
  const { organization_id, from_external_id: from, to_external_id: to, kind } = move;
  // Of an erasure what is said about those that are moved already goes as well.
  const customers = kind === 'ERASE' ? [from, to] : [from];
  const scope = { organization: 'asked.organization_id', meter: 'asked.id' };
  const { rows } = await sql<{ is_none: boolean }>`
    WITH asked AS MATERIALIZED (
      SELECT organization_id, id FROM meters WHERE organization_id = ${organization_id}::uuid
    ), few AS MATERIALIZED (
      SELECT FROM corrections WHERE organization_id = ${organization_id}::uuid ORDER BY event_id LIMIT (SELECT count(*) FROM asked)
    ), own AS MATERIALIZED (
      SELECT found.id FROM asked CROSS JOIN unnest(${customers}::text[]) AS customer CROSS JOIN LATERAL (
        SELECT id FROM events WHERE ${sql.raw(everInStream(scope, 'customer'))} OFFSET 0
      ) AS found LIMIT ${PAGE}
    )
    SELECT CASE WHEN (SELECT count(*) FROM few) < (SELECT count(*) FROM asked) THEN false
      ELSE (SELECT count(*) FROM own) < ${PAGE} AND NOT EXISTS (SELECT FROM own CROSS JOIN LATERAL (
        SELECT FROM corrections WHERE organization_id = ${organization_id}::uuid AND event_id = own.id OFFSET 0) AS found)
      END AS is_none`.execute(db);
  return rows[0]?.is_none === true;
}

/**
 * Late changes that are left under the former id of what is void, also where the events are in a month that was taken out. What was
 * recorded since the request is void in nothing.
 */
async function moveLate(db: Queries, { organization_id, from_external_id, to_external_id, kind }: RunningMove) {
  const isOwn = sql`organization_id = ${organization_id}::uuid
    AND meter_id = ANY (ARRAY(SELECT id FROM meters WHERE organization_id = ${organization_id}::uuid))
    AND customer_external_id = ${from_external_id}::text AND (voids IS NOT NULL OR EXISTS (SELECT FROM corrections
      WHERE corrections.organization_id = ${organization_id}::uuid AND corrections.event_id = late_events.event_id))`;
  // What it counted for under the former id was billed to nobody, or the usage would not be moved.
  if (kind === 'MOVE') await sql`DELETE FROM late_events WHERE ${isOwn}`.execute(db);
  else await sql`UPDATE late_events SET customer_external_id = ${to_external_id} WHERE ${isOwn}`.execute(db);
}
