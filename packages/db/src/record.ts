// Where usage is counted. One statement takes a batch of events and is a transaction by itself: all of it is written, or
// nothing. It may be run any number of times with the same events and counts them once, which is what lets every stage
// before it simply try again.

import { receivedAt, type StagedEvent } from '@weir/shared/event';
import { EVENT_JSON } from './event-json.ts';
import { hash128 } from '@weir/shared/queue';
import pg from 'pg';

/** An event that a meter takes, with what its meter adds to it. */
export interface RecordableEvent {
  event: StagedEvent;
  /** Whether the meter counts distinct values of `metadata.user_id`. */
  countsUniqueValues: boolean;
}

/** What became of the events of one batch. Those that were recorded earlier are in neither number. */
export interface Recorded {
  recorded: number;
  duplicates: number;
}

// The order of the parts is the promise:
// - keyed: an idempotency key goes to the first event that brings it. Rows are inserted in the order of their key here
//   and in the rollups below, so that two workers with the same keys wait for each other instead of deadlocking.
// - held: keys that were taken before this statement began. When this event itself holds it, the batch was delivered
//   before (or the event is replayed), and the primary key of events decides whether it still has to be written.
// - recorded: only rows that were really inserted go on to the rollups. This is the "exactly once".
// - A key that is neither keyed nor held was committed by another worker while this statement ran. Its event is
//   answered as unsettled, and settled by running the statement again, which then sees that key.
const RECORD = `
WITH input AS MATERIALIZED (
  SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::numeric[], $6::timestamptz[], $7::timestamptz[],
                       $8::text[], $9::bytea[], $10::text[], $11::boolean[])
    AS t (id, organization_id, meter_id, customer_external_id, quantity, "timestamp", received_at,
          idempotency_key, key_hash, metadata, counts_unique_values)
),
keyed AS (
  INSERT INTO idempotency_keys (organization_id, key_hash, event_id)
  SELECT organization_id, key_hash, id FROM input WHERE key_hash IS NOT NULL ORDER BY organization_id, key_hash, id
  ON CONFLICT DO NOTHING
  RETURNING event_id
),
held AS MATERIALIZED (
  SELECT i.id, k.event_id AS holder
  FROM input i JOIN idempotency_keys k USING (organization_id, key_hash)
  WHERE i.id NOT IN (SELECT event_id FROM keyed)
),
recorded AS (
  INSERT INTO events (id, organization_id, meter_id, customer_external_id, quantity, "timestamp", received_at, idempotency_key, metadata)
  SELECT id, organization_id, meter_id, customer_external_id, quantity, "timestamp", received_at, idempotency_key, metadata::jsonb
  FROM input
  WHERE key_hash IS NULL OR id IN (SELECT event_id FROM keyed) OR id IN (SELECT id FROM held WHERE holder = id)
  ON CONFLICT DO NOTHING
  RETURNING id, organization_id, meter_id, customer_external_id, quantity, "timestamp", metadata
),
rolled AS (
  INSERT INTO usage_rollups AS u (organization_id, meter_id, customer_external_id, hour, event_count,
    quantity_sum, quantity_min, quantity_max, last_timestamp, last_event_id, last_quantity)
  SELECT organization_id, meter_id, customer_external_id, date_trunc('hour', "timestamp", 'UTC'), count(*),
    sum(quantity), min(quantity), max(quantity),
    (array_agg("timestamp" ORDER BY "timestamp" DESC, id DESC))[1],
    (array_agg(id ORDER BY "timestamp" DESC, id DESC))[1],
    (array_agg(quantity ORDER BY "timestamp" DESC, id DESC))[1]
  FROM recorded
  GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
  ON CONFLICT (organization_id, meter_id, customer_external_id, hour) DO UPDATE SET
    event_count = u.event_count + excluded.event_count,
    quantity_sum = u.quantity_sum + excluded.quantity_sum,
    quantity_min = least(u.quantity_min, excluded.quantity_min),
    quantity_max = greatest(u.quantity_max, excluded.quantity_max),
    (last_timestamp, last_event_id, last_quantity) = (
      SELECT CASE WHEN newer THEN excluded.last_timestamp ELSE u.last_timestamp END,
             CASE WHEN newer THEN excluded.last_event_id ELSE u.last_event_id END,
             CASE WHEN newer THEN excluded.last_quantity ELSE u.last_quantity END
      FROM (SELECT (excluded.last_timestamp, excluded.last_event_id) > (u.last_timestamp, u.last_event_id) AS newer) AS n)
),
valued AS (
  INSERT INTO unique_values (organization_id, meter_id, customer_external_id, hour, value_hash)
  SELECT DISTINCT r.organization_id, r.meter_id, r.customer_external_id, date_trunc('hour', r."timestamp", 'UTC'), unique_value_hash(r.metadata)
  FROM recorded r JOIN input i USING (id)
  WHERE i.counts_unique_values
  ORDER BY 1, 2, 3, 4, 5
  ON CONFLICT DO NOTHING
),
duplicated AS (
  INSERT INTO duplicate_events (organization_id, id, duplicate_of, event)
  SELECT i.organization_id, i.id, h.holder, ${EVENT_JSON}
  FROM input i JOIN held h USING (id) WHERE h.holder <> i.id
  ORDER BY 1, 2
  ON CONFLICT DO NOTHING
  RETURNING id
)
SELECT
  (SELECT count(*)::int FROM recorded) AS recorded,
  (SELECT count(*)::int FROM duplicated) AS duplicates,
  ARRAY(SELECT id::text FROM input WHERE key_hash IS NOT NULL
        AND id NOT IN (SELECT event_id FROM keyed) AND id NOT IN (SELECT id FROM held)) AS unsettled`;

interface RecordRow extends Recorded {
  unsettled: string[];
}

/**
 * Records a batch: each event whose idempotency key is free (or its own) is written and added to its rollup once, however
 * often it is given; one whose key an earlier event holds is kept as its duplicate. Throws what Postgres says; nothing of
 * the batch is written then, and it can be given again.
 */
export async function recordEvents(pool: pg.Pool, events: readonly RecordableEvent[]): Promise<Recorded> {
  if (events.length === 0) return { recorded: 0, duplicates: 0 };
  const [row] = await record(pool, events);
  if (row === undefined) throw new Error('the record statement answers one row, and answered none');
  if (row.unsettled.length === 0) return row;
  const unsettled = new Set(row.unsettled);
  const settled = await recordEvents(
    pool,
    events.filter(({ event }) => unsettled.has(event.id)),
  );
  return { recorded: row.recorded + settled.recorded, duplicates: row.duplicates + settled.duplicates };
}

async function record(pool: pg.Pool, events: readonly RecordableEvent[]): Promise<RecordRow[]> {
  try {
    const { rows } = await pool.query<RecordRow>({ name: 'record', text: RECORD, values: columnsOf(events) });
    return rows;
  } catch (error) {
    if (!isMisrouted(error)) throw error;
    return record(pool, events);
  }
}

/**
 * Whether a row was on its way to the default partition when the partition for it was made. Postgres then reports a check
 * that the row violates, as if the event were to blame; a new statement finds the new partition.
 */
function isMisrouted(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '23514' && error.constraint === undefined;
}

function columnsOf(events: readonly RecordableEvent[]): unknown[][] {
  const columns: unknown[][] = Array.from({ length: 11 }, () => []);
  for (const { event, countsUniqueValues } of events) {
    const row = [
      event.id,
      event.organization_id,
      event.meter_id,
      event.customer_external_id,
      event.quantity,
      event.timestamp,
      receivedAt(event.id),
      event.idempotency_key ?? null,
      event.idempotency_key === undefined ? null : hash128(event.idempotency_key),
      event.metadata ?? null,
      countsUniqueValues,
    ];
    row.forEach((value, column) => columns[column]?.push(value));
  }
  return columns;
}

/** An event that will not be counted as it is, and a sentence that says why. */
export interface RejectedEvent {
  event: StagedEvent;
  reason: string;
}

/**
 * Keeps events that are not counted, so that they can be read, corrected and replayed. An event that is rejected again
 * is kept as it was sent last; one that was recorded meanwhile stays recorded.
 */
export async function rejectEvents(pool: pg.Pool, rejected: readonly RejectedEvent[]): Promise<void> {
  if (rejected.length === 0) return;
  await pool.query({
    name: 'reject',
    text: `
      INSERT INTO rejected_events (organization_id, id, meter_id, customer_external_id, reason, event)
      SELECT organization_id, id, meter_id, customer_external_id, reason, event
      FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::timestamptz[])
        AS t (organization_id, id, meter_id, customer_external_id, reason, event, received_at)
      WHERE NOT EXISTS (SELECT FROM events e WHERE (e.organization_id, e.id, e.received_at) = (t.organization_id, t.id, t.received_at))
        AND NOT EXISTS (SELECT FROM duplicate_events d WHERE (d.organization_id, d.id) = (t.organization_id, t.id))
      ORDER BY organization_id, id
      ON CONFLICT (organization_id, id) DO UPDATE SET reason = excluded.reason, event = excluded.event, rejected_at = now()`,
    values: [
      rejected.map(({ event }) => event.organization_id),
      rejected.map(({ event }) => event.id),
      rejected.map(({ event }) => event.meter_id),
      rejected.map(({ event }) => event.customer_external_id),
      rejected.map(({ reason }) => reason),
      rejected.map(({ event }) => JSON.stringify(event)),
      rejected.map(({ event }) => receivedAt(event.id)),
    ],
  });
}

/** Takes replayed events off the rejected ones, once each of them is recorded or known to be a duplicate. */
export async function deleteRejected(pool: pg.Pool, events: readonly StagedEvent[]): Promise<void> {
  if (events.length === 0) return;
  await pool.query(
    'DELETE FROM rejected_events USING unnest($1::uuid[], $2::uuid[]) AS t (organization_id, id) WHERE (rejected_events.organization_id, rejected_events.id) = (t.organization_id, t.id)',
    [events.map((event) => event.organization_id), events.map((event) => event.id)],
  );
}
