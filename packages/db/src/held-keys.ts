// Events whose idempotency key another event holds. With the same payload one is a duplicate, which is what a retry becomes
// that comes after the door has forgotten the key. With another payload somebody used the key for two things, and calling
// that a duplicate would lose the second one without a word.

import type { UsageEvent } from '@weir/shared/event';
import { plainArray, textArray } from './array-text.ts';
import { EVENT_JSON } from './event-json.ts';
import type pg from 'pg';
import { keyHash } from './key-hash.ts';
import { ERASED, type MoveKind } from './moves/usage-moves.ts';

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

/** Whether a move of the organization has this external id at that end. Postgres makes a hash of such a list. */
const ofMoves = (externalId: string, end: string, kind: MoveKind) =>
  `(e.organization_id, ${externalId}::text) IN (SELECT organization_id, ${end} FROM moves WHERE kind = '${kind}')`;

// The payload is what the fingerprint of the door is made of (apps/api/src/ingest/read-event.ts): a time that was left out is no part of
// it, nor are white space and the order of keys in metadata. A holder that is not in events any more, since its month was
// taken out, can be compared with nothing; the event is a duplicate then.
//
// Usage that was moved to another external id is told apart by neither of the two, and of a customer who is erased neither by metadata,
// which are gone: who sends one of these events again sends it as it was. Moves are read once, and not for each event: there may be many.
//
// It has no name, so that it is planned each time, for the partitions of these holders as large as they are now.
const REUSED = `
WITH input AS MATERIALIZED (
  SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::numeric[], $7::timestamptz[], $8::text[], $9::text[])
    AS t (id, holder, organization_id, meter_id, customer_external_id, quantity, "timestamp", idempotency_key, metadata)
),
moves AS MATERIALIZED (
  SELECT organization_id, kind, from_external_id, to_external_id FROM usage_moves WHERE organization_id = ANY ($3::uuid[])
),
reused AS MATERIALIZED (
  SELECT i.id
  FROM input i JOIN events e ON (e.organization_id, e.id) = (i.organization_id, i.holder)
  WHERE e.id = ANY ($2::uuid[]) AND NOT (
    e.meter_id = i.meter_id AND e.quantity = i.quantity
    AND (
      e.customer_external_id = i.customer_external_id AND e.metadata::jsonb IS NOT DISTINCT FROM i.metadata::jsonb
      OR ${ofMoves('e.customer_external_id', 'to_external_id', 'ERASE')}
      OR e.metadata::jsonb IS NOT DISTINCT FROM i.metadata::jsonb AND ${ofMoves('e.customer_external_id', 'to_external_id', 'MOVE')} AND (
        ${ofMoves('i.customer_external_id', 'from_external_id', 'MOVE')} OR ${ofMoves(`'${ERASED}'`, 'from_external_id', 'MOVE')})
    )
    AND (e."timestamp" = i."timestamp" OR (e."timestamp" = ${receivedAt('e.id')} AND i."timestamp" = ${receivedAt('i.id')}))
  )
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
export async function findReused(
  connection: Pick<pg.ClientBase, 'query'>,
  held: readonly HeldEvent[],
): Promise<Set<string>> {
  if (held.length === 0) return new Set();
  const { rows } = await connection.query<{ id: string }>(`${REUSED} SELECT id::text FROM reused`, valuesOf(held));
  return new Set(rows.map(({ id }) => id));
}

/** Which of these events have an idempotency key that another one was recorded with. */
export async function findHeld(
  connection: Pick<pg.ClientBase, 'query'>,
  events: readonly UsageEvent[],
): Promise<HeldEvent[]> {
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
