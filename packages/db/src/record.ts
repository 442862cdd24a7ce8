// Where usage is counted. One statement takes a batch of events and is a transaction by itself: all of it is written, or
// nothing. It may be run any number of times with the same events and counts them once, which is what lets every stage
// before it simply try again.

import type { StagedEvent, UsageEvent } from '@weir/shared/event';
import { plainArray, textArray } from './array-text.ts';
import { settleHeld, type HeldEvent, type ReusedKey } from './held-keys.ts';
import { hash128 } from '@weir/shared/hash';
import pg from 'pg';

/** An event that a meter takes, with what its meter adds to it. */
export interface RecordableEvent {
  event: UsageEvent;
  /** Whether the meter counts distinct values of `metadata.user_id`. */
  countsUniqueValues: boolean;
}

/** What became of the events of one batch. Those that were recorded, or known as duplicates, earlier are in neither number. */
export interface Recorded {
  recorded: number;
  duplicates: number;
  /** Events that were not kept: another event with another payload holds their idempotency key. */
  reused: ReusedKey[];
}

/** Into so many parts the sums of a whole meter are split: so many connections can write to a busy one at the same time. */
const PARTS = 4;

// What a rollup keeps of single events, and of the rows of a finer one.
const OF_EVENTS = `count(*) AS event_count, sum(quantity) AS quantity_sum, min(quantity) AS quantity_min, max(quantity) AS quantity_max,
    (array_agg("timestamp" ORDER BY "timestamp" DESC, id DESC))[1] AS last_timestamp,
    (array_agg(id ORDER BY "timestamp" DESC, id DESC))[1] AS last_event_id,
    (array_agg(quantity ORDER BY "timestamp" DESC, id DESC))[1] AS last_quantity`;
const OF_ROLLUPS = `sum(event_count), sum(quantity_sum), min(quantity_min), max(quantity_max),
    (array_agg(last_timestamp ORDER BY last_timestamp DESC, last_event_id DESC))[1],
    (array_agg(last_event_id ORDER BY last_timestamp DESC, last_event_id DESC))[1],
    (array_agg(last_quantity ORDER BY last_timestamp DESC, last_event_id DESC))[1]`;
const AMOUNTS = 'event_count, quantity_sum, quantity_min, quantity_max, last_timestamp, last_event_id, last_quantity';

/** Adds rows to a rollup: `kept` is what the row that is there already is called. */
function addTo(key: string): string {
  return `ON CONFLICT (${key}) DO UPDATE SET
    event_count = kept.event_count + excluded.event_count,
    quantity_sum = kept.quantity_sum + excluded.quantity_sum,
    quantity_min = least(kept.quantity_min, excluded.quantity_min),
    quantity_max = greatest(kept.quantity_max, excluded.quantity_max),
    (last_timestamp, last_event_id, last_quantity) = (
      SELECT CASE WHEN newer THEN excluded.last_timestamp ELSE kept.last_timestamp END,
             CASE WHEN newer THEN excluded.last_event_id ELSE kept.last_event_id END,
             CASE WHEN newer THEN excluded.last_quantity ELSE kept.last_quantity END
      FROM (SELECT (excluded.last_timestamp, excluded.last_event_id) > (kept.last_timestamp, kept.last_event_id) AS newer) AS n)`;
}

// The order of the parts is the promise:
// - keyed: an idempotency key goes to the first event that brings it. Rows are inserted in the order of their key here
//   and in the rollups below, so that two workers with the same keys wait for each other instead of deadlocking.
// - held: keys that were taken before this statement began. When this event itself holds it, the batch was delivered
//   before (or the event is replayed), and the primary key of events decides whether it still has to be written. What
//   becomes of an event whose key another one holds is settled by a statement of its own (held-keys.ts): it asks for the
//   holder, and even to be ready for that with every partition of events would cost each statement.
// - recorded: only rows that were really inserted go on to the rollups. This is the "exactly once".
// - A key that is neither keyed nor held was committed by another worker while this statement ran. Its event is
//   answered as unsettled, and settled by running the statement again, which then sees that key.
// - valued: values are made of their events once, for all that keep them.
// - valued_by_meter_day, valued_by_meter_quarter: a value that is there already, in these quarters or with an earlier first
//   event, as nearly all are, is left out before the insert, which would lock its row for the other workers.
const RECORD = `
WITH input AS MATERIALIZED (
  SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::numeric[], $6::timestamptz[],
                       $7::text[], $8::uuid[], $9::text[], $10::boolean[])
    AS t (id, organization_id, meter_id, customer_external_id, quantity, "timestamp", idempotency_key, key_hash, metadata, counts_unique_values)
),
keyed AS (
  INSERT INTO idempotency_keys (key_hash, event_id)
  SELECT key_hash, id FROM input WHERE key_hash IS NOT NULL ORDER BY key_hash, id
  ON CONFLICT DO NOTHING
  RETURNING event_id
),
held AS MATERIALIZED (
  SELECT i.id, k.event_id AS holder
  FROM input i JOIN idempotency_keys k USING (key_hash)
  WHERE i.id NOT IN (SELECT event_id FROM keyed)
),
recorded AS (
  INSERT INTO events (id, organization_id, meter_id, customer_external_id, quantity, "timestamp", idempotency_key, metadata)
  SELECT id, organization_id, meter_id, customer_external_id, quantity, "timestamp", idempotency_key, metadata::json
  FROM input
  WHERE key_hash IS NULL OR id IN (SELECT event_id FROM keyed) OR id IN (SELECT id FROM held WHERE holder = id)
  ORDER BY organization_id, id
  ON CONFLICT DO NOTHING
  RETURNING id, organization_id, meter_id, customer_external_id, quantity, "timestamp", metadata
),
hours AS MATERIALIZED (
  SELECT organization_id, meter_id, customer_external_id, date_trunc('hour', "timestamp", 'UTC') AS hour, ${OF_EVENTS}
  FROM recorded GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
),
by_hour AS (
  INSERT INTO usage_rollups AS kept (organization_id, meter_id, customer_external_id, hour, ${AMOUNTS})
  SELECT organization_id, meter_id, customer_external_id, hour, ${AMOUNTS} FROM hours
  ${addTo('organization_id, meter_id, customer_external_id, hour')}
),
by_day AS (
  INSERT INTO usage_days AS kept (organization_id, meter_id, customer_external_id, day, ${AMOUNTS})
  SELECT organization_id, meter_id, customer_external_id, date_trunc('day', hour, 'UTC'), ${OF_ROLLUPS}
  FROM hours GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
  ${addTo('organization_id, meter_id, customer_external_id, day')}
),
by_quarter AS (
  INSERT INTO meter_quarters AS kept (organization_id, meter_id, quarter, part, ${AMOUNTS})
  SELECT organization_id, meter_id, date_bin('15 minutes', "timestamp", TIMESTAMPTZ '2000-01-01 00:00:00Z'), pg_backend_pid() % ${PARTS}, ${OF_EVENTS}
  FROM recorded GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ${addTo('organization_id, meter_id, quarter, part')}
),
valued AS MATERIALIZED (
  SELECT r.organization_id, r.meter_id, r.customer_external_id, r."timestamp", unique_value_hash(r.metadata) AS value_hash
  FROM recorded r JOIN input i USING (id)
  WHERE i.counts_unique_values
),
valued_by_hour AS (
  INSERT INTO unique_values (organization_id, meter_id, customer_external_id, hour, value_hash)
  SELECT DISTINCT organization_id, meter_id, customer_external_id, date_trunc('hour', "timestamp", 'UTC'), value_hash
  FROM valued ORDER BY 1, 2, 3, 4, 5
  ON CONFLICT DO NOTHING
),
valued_by_day AS (
  INSERT INTO unique_days (organization_id, meter_id, customer_external_id, day, value_hash)
  SELECT DISTINCT organization_id, meter_id, customer_external_id, date_trunc('day', "timestamp", 'UTC'), value_hash
  FROM valued ORDER BY 1, 2, 3, 4, 5
  ON CONFLICT DO NOTHING
),
valued_by_meter_day AS (
  INSERT INTO meter_value_days AS kept (organization_id, meter_id, day, value_hash, quarters)
  SELECT * FROM (
    SELECT organization_id, meter_id, date_trunc('day', "timestamp", 'UTC') AS day, value_hash, bit_or(quarter_bit("timestamp")) AS quarters
    FROM valued GROUP BY 1, 2, 3, 4
  ) AS v
  WHERE NOT EXISTS (SELECT FROM meter_value_days AS m
    WHERE (m.organization_id, m.meter_id, m.day, m.value_hash) = (v.organization_id, v.meter_id, v.day, v.value_hash)
      AND m.quarters & v.quarters = v.quarters)
  ORDER BY 1, 2, 3, 4
  ON CONFLICT (organization_id, meter_id, day, value_hash) DO UPDATE
  SET quarters = kept.quarters | excluded.quarters WHERE kept.quarters & excluded.quarters <> excluded.quarters
),
valued_by_meter_quarter AS (
  INSERT INTO meter_value_quarters AS kept (organization_id, meter_id, quarter, value_hash, first_timestamp)
  SELECT * FROM (
    SELECT organization_id, meter_id, date_bin('15 minutes', "timestamp", TIMESTAMPTZ '2000-01-01 00:00:00Z') AS quarter, value_hash,
      min("timestamp") AS first_timestamp
    FROM valued GROUP BY 1, 2, 3, 4
  ) AS v
  WHERE NOT EXISTS (SELECT FROM meter_value_quarters AS m
    WHERE (m.organization_id, m.meter_id, m.quarter, m.value_hash) = (v.organization_id, v.meter_id, v.quarter, v.value_hash)
      AND m.first_timestamp <= v.first_timestamp)
  ORDER BY 1, 2, 3, 4
  ON CONFLICT (organization_id, meter_id, quarter, value_hash) DO UPDATE
  SET first_timestamp = excluded.first_timestamp WHERE excluded.first_timestamp < kept.first_timestamp
)
SELECT
  (SELECT count(*)::int FROM recorded) AS recorded,
  ARRAY(SELECT ARRAY[id, holder]::text[] FROM held WHERE holder <> id) AS held,
  ARRAY(SELECT id::text FROM input WHERE key_hash IS NOT NULL
        AND id NOT IN (SELECT event_id FROM keyed) AND id NOT IN (SELECT id FROM held)) AS unsettled`;

interface RecordRow {
  recorded: number;
  /** The id of an event, and of the other event that holds its key. */
  held: [id: string, holder: string][];
  unsettled: string[];
}

/**
 * Records a batch: each event whose idempotency key is free (or its own) is written and added to its rollup once, however
 * often it is given. One whose key an earlier event holds is kept as its duplicate when it has the same payload; with another
 * payload it is returned as reused, and the caller keeps it. Throws what Postgres says; the batch can be given again then.
 */
export async function recordEvents(pool: pg.Pool, events: readonly RecordableEvent[]): Promise<Recorded> {
  if (events.length === 0) return { recorded: 0, duplicates: 0, reused: [] };
  const [row] = await record(pool, events);
  if (row === undefined) throw new Error('the record statement answers one row, and answered none');
  const { recorded, held, unsettled } = row;
  if (held.length === 0 && unsettled.length === 0) return { recorded, duplicates: 0, reused: [] };
  const holders = new Map(held);
  const heldEvents = events.flatMap(({ event }): HeldEvent[] => {
    const holder = holders.get(event.id);
    return holder === undefined ? [] : [{ event, holder }];
  });
  const settled = await settleHeld(pool, heldEvents);
  const open = new Set(unsettled);
  const later = await recordEvents(
    pool,
    events.filter(({ event }) => open.has(event.id)),
  );
  return {
    recorded: recorded + later.recorded,
    duplicates: settled.duplicates + later.duplicates,
    reused: [...settled.reused, ...later.reused],
  };
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

/** As the function `idempotency_key_hash` of the database makes it: an id is of fixed length, so no two keys make one text. */
function keyHash(organizationId: string, key: string): string {
  return hash128(organizationId + key);
}

function columnsOf(events: readonly RecordableEvent[]): string[] {
  const columns = {
    id: [] as string[],
    organizationId: [] as string[],
    meterId: [] as string[],
    customer: [] as string[],
    quantity: [] as string[],
    timestamp: [] as string[],
    key: [] as (string | null)[],
    keyHash: [] as (string | null)[],
    metadata: [] as (string | null)[],
    countsUniqueValues: [] as boolean[],
  };
  for (const { event, countsUniqueValues } of events) {
    const { id, organization_id: organizationId, idempotency_key: key } = event;
    columns.id.push(id);
    columns.organizationId.push(organizationId);
    columns.meterId.push(event.meter_id);
    columns.customer.push(event.customer_external_id);
    columns.quantity.push(event.quantity);
    columns.timestamp.push(event.timestamp);
    columns.key.push(key ?? null);
    columns.keyHash.push(key === undefined ? null : keyHash(organizationId, key));
    columns.metadata.push(event.metadata ?? null);
    columns.countsUniqueValues.push(countsUniqueValues);
  }
  return [
    plainArray(columns.id),
    plainArray(columns.organizationId),
    plainArray(columns.meterId),
    textArray(columns.customer),
    plainArray(columns.quantity),
    plainArray(columns.timestamp),
    textArray(columns.key),
    plainArray(columns.keyHash),
    textArray(columns.metadata),
    plainArray(columns.countsUniqueValues),
  ];
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
      FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[])
        AS t (organization_id, id, meter_id, customer_external_id, reason, event)
      WHERE NOT EXISTS (SELECT FROM events e WHERE (e.organization_id, e.id) = (t.organization_id, t.id))
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

/** Which of these events are recorded, by their ids. */
export async function findRecorded(pool: pg.Pool, events: readonly StagedEvent[]): Promise<Set<string>> {
  const ids = events.map((event) => event.id);
  const { rows } = await pool.query<{ id: string }>(
    `SELECT e.id::text AS id FROM events e JOIN unnest($1::uuid[], $2::uuid[]) AS t (organization_id, id)
       ON (e.organization_id, e.id) = (t.organization_id, t.id)
     WHERE e.id = ANY ($2::uuid[])`,
    [events.map((event) => event.organization_id), ids],
  );
  return new Set(rows.map(({ id }) => id));
}
