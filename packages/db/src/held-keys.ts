// Events whose idempotency key another event holds. With the same payload one is a duplicate, which is what a retry becomes
// that comes after the door has forgotten the key. With another payload somebody used the key for two things, and calling
// that a duplicate would lose the second one without a word.

import type { UsageEvent } from '@weir/shared/event';
import { plainArray, textArray } from './array-text.ts';
import { EVENT_JSON } from './event-json.ts';
import type pg from 'pg';
import { keyHash } from './key-hash.ts';
import { ERASED } from './moves/usage-moves.ts';
import type { Runs } from './runs.ts';

/** An event, and the id of the other event that holds its idempotency key. */
export interface HeldEvent {
  event: UsageEvent;
  holder: string;
}

/** A held event whose holder has another payload. */
export type ReusedKey = HeldEvent;

// When an event was received, which is the time that it has where none was given.
const receivedAt = (id: string) =>
  `to_timestamp(('x' || translate(left(${id}::text, 13), '-', ''))::bit(48)::bigint / 1000.0)`;

/**
 * So many ids of before are looked at for the holders of a batch, from the nearest one on. What is behind them counts as another
 * customer's: it is rejected, and not lost.
 */
const FORMER_IDS_MAX = 200_000;

// The payload is what the fingerprint of the door is made of (apps/api/src/ingest/read-event.ts): a time that was left out is no part of
// it, nor are white space and the order of keys in metadata. A holder that is not in events any more, since its month was
// taken out, can be compared with nothing; the event is a duplicate then.
//
// Who sends an event again whose usage was moved sends it as it was: under an id from which moves lead to that of the holder. An erasure takes
// that id and the metadata away, so it may be anybody then, but for who has a record, or usage of the meter from before it was
// taken away: that is somebody else for sure.
//
// Ids of before are found by the index of moves, and compared all at once, since there may be many: INTERSECT hashes or sorts, whatever
// Postgres believes of how many there are. The statement has no name, so that it is planned each time, for the partitions of these holders
// as large as they are now.
const REUSED = `
WITH RECURSIVE input AS MATERIALIZED (
  SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::numeric[], $7::timestamptz[], $8::text[], $9::text[])
    AS t (id, holder, organization_id, meter_id, customer_external_id, quantity, "timestamp", idempotency_key, metadata)
),
other AS MATERIALIZED (
  SELECT * FROM (
    SELECT i.id, i.organization_id, i.meter_id, i.customer_external_id AS sent, e.customer_external_id AS held,
      e.metadata::jsonb IS NOT DISTINCT FROM i.metadata::jsonb AS has_same_metadata,
      e.meter_id = i.meter_id AND e.quantity = i.quantity
        AND (e."timestamp" = i."timestamp" OR (e."timestamp" = ${receivedAt('e.id')} AND i."timestamp" = ${receivedAt('i.id')}))
        AS is_same_usage
    FROM input i JOIN events e ON (e.organization_id, e.id) = (i.organization_id, i.holder)
    WHERE e.id = ANY ($2::uuid[])
  ) AS compared
  WHERE NOT (is_same_usage AND has_same_metadata AND sent = held)
),
former AS (
  SELECT organization_id, held, held AS sent, false AS is_erased, NULL::timestamptz AS taken_at FROM other WHERE is_same_usage
  UNION
  SELECT former.organization_id, former.held, moves.from_external_id, former.is_erased OR moves.kind = 'ERASE',
    CASE WHEN coalesce(moves.from_external_id, '${ERASED}') = '${ERASED}' THEN moves.finished_at END
  FROM former CROSS JOIN LATERAL (
    SELECT kind, from_external_id, finished_at FROM usage_moves
    WHERE usage_moves.organization_id = former.organization_id AND usage_moves.to_external_id = former.sent OFFSET 0) AS moves
),
ids AS MATERIALIZED (SELECT * FROM former LIMIT ${FORMER_IDS_MAX}),
named AS MATERIALIZED (
  SELECT organization_id, held, sent, is_erased FROM other CROSS JOIN (VALUES (false), (true)) AS either (is_erased) WHERE is_same_usage
  INTERSECT SELECT organization_id, held, sent, is_erased FROM ids
),
erased AS MATERIALIZED (
  SELECT organization_id, held, is_erased, min(taken_at) AS taken_at FROM ids WHERE taken_at IS NOT NULL GROUP BY 1, 2, 3
),
reused AS MATERIALIZED (
  SELECT id FROM other
  EXCEPT SELECT id FROM other JOIN named USING (organization_id, held, sent)
  WHERE is_same_usage AND (has_same_metadata OR is_erased)
  EXCEPT SELECT id FROM other JOIN erased USING (organization_id, held)
  WHERE is_same_usage AND (has_same_metadata OR is_erased)
    AND NOT EXISTS (SELECT FROM customers c WHERE (c.organization_id, c.external_id) = (other.organization_id, other.sent))
    AND NOT EXISTS (SELECT FROM customer_usage_days d
      WHERE (d.organization_id, d.meter_id, d.customer_external_id) = (other.organization_id, other.meter_id, other.sent)
        AND d.day <= erased.taken_at - interval '1 day')
)`;

const SETTLE = `${REUSED},
duplicated AS (
  INSERT INTO duplicate_events (organization_id, id, duplicate_of, event)
  SELECT organization_id, id, holder, ${EVENT_JSON}
  FROM input
  WHERE id NOT IN (SELECT id FROM reused)
    -- One that was replayed with another key may be recorded under that one.
    AND NOT EXISTS (SELECT FROM events e WHERE (e.organization_id, e.id) = (input.organization_id, input.id) AND e.id = ANY ($1::uuid[]))
  ORDER BY 1, 2
  ON CONFLICT DO NOTHING
  RETURNING id
)
SELECT (SELECT count(*)::int FROM duplicated) AS duplicates, ARRAY(SELECT id::text FROM reused) AS reused`;

/**
 * Keeps each event as a duplicate of its holder if both have the same payload, and returns the others, which are not kept.
 * However often it is given the same events, it says the same of each. Throws what Postgres says; nothing is kept then.
 */
export async function settleHeld(
  pool: pg.Pool,
  held: readonly HeldEvent[],
): Promise<{ duplicates: number; reused: ReusedKey[] }> {
  if (held.length === 0) return { duplicates: 0, reused: [] };
  const { rows } = await pool.query<{ duplicates: number; reused: string[] }>(SETTLE, valuesOf(held));
  const reused = new Set(rows[0]?.reused);
  return { duplicates: rows[0]?.duplicates ?? 0, reused: held.filter(({ event }) => reused.has(event.id)) };
}

/** Which of these events have another payload than the holder of their key, by their ids. Nothing is kept. */
export async function findReused(connection: Runs, held: readonly HeldEvent[]): Promise<Set<string>> {
  if (held.length === 0) return new Set();
  const { rows } = await connection.query<{ id: string }>(`${REUSED} SELECT id::text FROM reused`, valuesOf(held));
  return new Set(rows.map(({ id }) => id));
}

/** Which of these events have an idempotency key that another one was recorded with. */
export async function findHeld(connection: Runs, events: readonly UsageEvent[]): Promise<HeldEvent[]> {
  const hashes = new Map<UsageEvent, string>();
  for (const event of events)
    if (event.idempotency_key !== undefined) hashes.set(event, keyHash(event.organization_id, event.idempotency_key));
  if (hashes.size === 0) return [];
  const { rows } = await connection.query<{ hash: string; holder: string }>(
    `SELECT replace(key_hash::text, '-', '') AS hash, event_id AS holder FROM idempotency_keys WHERE key_hash = ANY ($1::uuid[])`,
    [plainArray([...hashes.values()])],
  );
  const holders = new Map(rows.map(({ hash, holder }) => [hash, holder]));
  return events.flatMap((event): HeldEvent[] => {
    const holder = holders.get(hashes.get(event) ?? '');
    return holder === undefined || holder === event.id ? [] : [{ event, holder }];
  });
}

function valuesOf(held: readonly HeldEvent[]): string[] {
  return [
    plainArray(held.map(({ event }) => event.id)),
    plainArray(held.map(({ holder }) => holder)),
    plainArray(held.map(({ event }) => event.organization_id)),
    plainArray(held.map(({ event }) => event.meter_id)),
    textArray(held.map(({ event }) => event.customer_external_id)),
    plainArray(held.map(({ event }) => event.quantity)),
    plainArray(held.map(({ event }) => event.timestamp)),
    textArray(held.map(({ event }) => event.idempotency_key ?? null)),
    textArray(held.map(({ event }) => event.metadata ?? null)),
  ];
}
