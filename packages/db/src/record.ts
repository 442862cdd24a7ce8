// Where usage is counted. One statement takes a batch of events and is a transaction by itself: all of it is written, or
// nothing. It may be run any number of times with the same events and counts them once, which is what lets every stage
// before it simply try again.

import type { StagedEvent, UsageEvent } from '@weir/shared/event';
import { touchRecorded } from './alerts/touched-usage.ts';
import { plainArray, textArray } from './array-text.ts';
import { keyHash } from './key-hash.ts';
import { settleHeld, type HeldEvent, type ReusedKey } from './held-keys.ts';
import { holdKnown, isKnowledgeOld, knownForRecording, type KnownForRecording } from './known-for-recording.ts';
import { poolTransaction } from './pool-transaction.ts';
import {
  addTo,
  ALL_ROLLUPS,
  BEGINNING,
  OVERFLOW,
  PARTS,
  PLAIN_ROLLUPS,
  ROLLUPS,
  rowsOfEvents,
  rowsOfFiner,
  type Rollup,
} from './rollups.ts';
import pg from 'pg';
import type { Runs } from './runs.ts';

/** An event that a meter takes, with what its meter adds to it. */
export interface RecordableEvent {
  event: UsageEvent;
  /** Whether the meter counts distinct values of `metadata.user_id`. */
  countsUniqueValues: boolean;
}

/** Outcomes of the events of one batch. Those that were recorded, or known as duplicates, earlier are in neither number. */
export interface Recorded {
  recorded: number;
  duplicates: number;
  /** Events that were not kept: another event with another payload holds their idempotency key. */
  reused: ReusedKey[];
}

/** The parts that add what was recorded to a rollup. */
function addRecorded(rollup: Rollup): string {
  const { table, keeps, isGrouped, madeOf } = rollup;
  const events = keeps === 'values' ? 'valued' : isGrouped === true ? 'grouped' : 'recorded';
  const rows =
    madeOf === undefined
      ? rowsOfEvents(
          rollup,
          isGrouped === true ? `${events} WHERE group_hash IS NOT NULL` : events,
          `pg_backend_pid() % ${PARTS}`,
        )
      : rowsOfFiner(rollup, madeOf, `made_${madeOf.table}`);
  return `made_${table} AS (${rows}),
added_${table} AS (${addTo(rollup, `SELECT * FROM made_${table}`)})`;
}

/** The events as they are given, once what is closed is known. */
const GIVEN = `SELECT t.* FROM (SELECT count(*) FROM closed) AS locked
  CROSS JOIN unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::numeric[], $6::timestamptz[], $7::text[], $8::uuid[], $9::text[], $10::boolean[]`;
const COLUMNS =
  'id, organization_id, meter_id, customer_external_id, quantity, "timestamp", idempotency_key, key_hash, metadata, counts_unique_values';

const INPUT = `input AS MATERIALIZED (${GIVEN}) AS t (${COLUMNS}))`;

/** The same with the group of each event whose meter names keys. */
const INPUT_WITH_GROUPS = `given AS MATERIALIZED (${GIVEN}, $12::text[]) AS t (${COLUMNS}, metadata_keys)),
ungrouped AS MATERIALIZED (
  SELECT organization_id, meter_id, change_id FROM (SELECT count(*) AS closings FROM closed) AS locked
    CROSS JOIN LATERAL ungrouped_meters($2::uuid[], CASE WHEN closings >= 0 THEN $3::uuid[] END) AS meters
),
asked AS MATERIALIZED (
  SELECT id, organization_id, meter_id, ${BEGINNING.day('"timestamp"')} AS day, group_hash(combined) AS group_hash, combined AS group_values
  FROM given CROSS JOIN LATERAL (SELECT group_values(metadata_keys::text[], metadata::json) AS combined OFFSET 0) AS of_event
  WHERE metadata_keys IS NOT NULL AND (organization_id, meter_id) NOT IN (SELECT organization_id, meter_id FROM ungrouped)
),
kept_groups AS MATERIALIZED (
  SELECT * FROM keep_combinations(ARRAY(
    SELECT DISTINCT ROW(organization_id, meter_id, day, group_hash, group_values)::metadata_groups FROM asked))
),
input AS MATERIALIZED (
  SELECT given.*, CASE WHEN asked.id IS NOT NULL THEN coalesce(kept_groups.group_hash, ${OVERFLOW}) END AS group_hash
  FROM given LEFT JOIN asked USING (id) LEFT JOIN kept_groups ON (kept_groups.organization_id, kept_groups.meter_id, kept_groups.day,
    kept_groups.group_hash) = (asked.organization_id, asked.meter_id, asked.day, asked.group_hash)
)`;

/** Once each, also where a batch holds an event twice. */
const GROUPED = `grouped AS MATERIALIZED (SELECT DISTINCT ON (id) recorded.*, group_hash FROM recorded JOIN input USING (id)),
noted AS (
  INSERT INTO ungrouped_events (organization_id, meter_id, change_id, event_id)
  SELECT organization_id, meter_id, change_id, id FROM recorded JOIN ungrouped USING (organization_id, meter_id)
),`;

// The order of the parts is the promise:
// - closed: what is closed of the organizations of the batch, read behind locks that hold off their next closing until this
//   statement has committed. An event is thus in the usage that a closing sees, or it is late for it: never neither. Nothing is
//   inserted before (input waits for it), so that no statement waits for these locks while it holds a row; but the direct way has
//   claimed keys (pending-claims.ts) in its transaction by then. Whoever holds one of these locks alone must never ask for those.
// - ungrouped: meters whose usage of before is being grouped by new keys. Like what is closed it is read behind the locks. Their
//   events are noted, and grouped when that is done (group-backfill.ts): it must not count them twice, nor make anybody wait.
// - asked, kept_groups: the combination of values of each other event whose meter names keys of the metadata, and which of them
//   are kept by themselves. New ones are kept behind a lock, which again nobody waits for while holding a row but these.
// - keyed: an idempotency key goes to the first event that brings it. Rows are inserted in the order of their key here
//   and in the rollups below, so that two workers with the same keys wait for each other instead of deadlocking.
// - held: keys that were taken before this statement began. When this event itself holds it, the batch was delivered
//   before (or the event is replayed), and the primary key of events decides whether it still has to be written. What
//   becomes of an event whose key another one holds is settled by a statement of its own (held-keys.ts): it asks for the
//   holder, and even to be ready for that with every partition of events would cost each statement.
// - recorded: only rows that were really inserted go on to the rollups. This is the "exactly once".
// - A key that is neither keyed nor held was committed by another worker while this statement ran. Its event is
//   returned as unsettled, and settled by running the statement again, which then sees that key.
// - late: events of a time that is closed, with the number of the closing that they are late for. Of recorded, hence written once.
// - valued: values are made of their events once, for all that keep them.
// - made_…, added_…: the rows of each rollup, and how they are added to it, in the order of their keys.
// - watched, touched: what alerts are to look at, once for each customer and meter.
const recordStatement = ({ hasGroups, isWatched }: { hasGroups: boolean; isWatched: boolean }): string => `
WITH closed AS MATERIALIZED (
  SELECT organization_id, number, until FROM closings_of($2::uuid[], $11::uuid[])
),
${hasGroups ? INPUT_WITH_GROUPS : INPUT},
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
late AS (
  INSERT INTO late_events (organization_id, meter_id, customer_external_id, "timestamp", event_id, closing, quantity)
  SELECT r.organization_id, r.meter_id, r.customer_external_id, r."timestamp", r.id, c.number, r.quantity
  FROM recorded r JOIN closed c USING (organization_id)
  WHERE r."timestamp" < c.until
),
valued AS MATERIALIZED (
  SELECT r.organization_id, r.meter_id, r.customer_external_id, r."timestamp", unique_value_hash(r.metadata) AS value_hash
    ${hasGroups ? ', group_hash' : ''}
  FROM recorded r JOIN input i USING (id)
  WHERE i.counts_unique_values
),
${hasGroups ? GROUPED : ''}
${(hasGroups ? ALL_ROLLUPS : PLAIN_ROLLUPS).map(addRecorded).join(',\n')}
${isWatched ? `,\n${touchRecorded(`made_${ROLLUPS.customerUsageDays.table}`)}` : ''}
SELECT
  (SELECT count(*)::int FROM recorded) AS recorded,
  ARRAY(SELECT ARRAY[id, holder]::text[] FROM held WHERE holder <> id) AS held,
  ARRAY(SELECT id::text FROM input WHERE key_hash IS NOT NULL
        AND id NOT IN (SELECT event_id FROM keyed) AND id NOT IN (SELECT id FROM held)) AS unsettled`;

/**
 * A batch without events of meters that name keys pays nothing for those that do, nor one without organizations that have alerts for
 * those: it has a statement of its own.
 */
const RECORD = { name: 'record', text: recordStatement({ hasGroups: false, isWatched: false }) };
const RECORD_GROUPS = { name: 'record-groups', text: recordStatement({ hasGroups: true, isWatched: false }) };
const RECORD_WATCHED = { name: 'record-watched', text: recordStatement({ hasGroups: false, isWatched: true }) };
const RECORD_GROUPS_WATCHED = {
  name: 'record-groups-watched',
  text: recordStatement({ hasGroups: true, isWatched: true }),
};

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
  const { recorded, held, unsettled } = await whileRetried((mustHold) =>
    mustHold ? recordBehindLocks(pool, events) : recordOnce(knownForRecording(pool), pool, events),
  );
  if (held.length === 0 && unsettled.length === 0) return { recorded, duplicates: 0, reused: [] };
  const settled = await settleHeld(pool, held);
  const later = await recordEvents(pool, unsettled);
  return {
    recorded: recorded + later.recorded,
    duplicates: settled.duplicates + later.duplicates,
    reused: [...settled.reused, ...later.reused],
  };
}

/** What the statement made of some events. */
export interface RecordedOnce<Event extends RecordableEvent> {
  recorded: number;
  held: HeldEvent[];
  /** Another one took their key meanwhile: given again, they are held. */
  unsettled: Event[];
}

/** Records by what is known for sure. It takes some trips more, and nobody who changes what is known comes before it again and again. */
async function recordBehindLocks<Event extends RecordableEvent>(
  pool: pg.Pool,
  events: readonly Event[],
): Promise<RecordedOnce<Event>> {
  return await poolTransaction(pool, async (client) => {
    const known = await holdKnown(pool, client, organizationsOf(events));
    return await recordOnce(known, client, events);
  });
}

/** The organizations of some events, once each. */
export const organizationsOf = (events: readonly Pick<RecordableEvent, 'event'>[]): Set<string> =>
  new Set(events.map(({ event }) => event.organization_id));

/**
 * Runs the record statement once, on a connection or on all of a pool. Throws what Postgres says; {@link whileRetried} knows for which
 * errors it is worth another try.
 */
export async function recordOnce<Event extends RecordableEvent>(
  { versions, organizations }: KnownForRecording,
  connection: Runs,
  events: readonly Event[],
): Promise<RecordedOnce<Event>> {
  const known = organizations.size === 0 ? [] : events.map(({ event }) => organizations.get(event.organization_id));
  const isWatched = known.some((organization) => organization?.hasAlerts === true);
  const keys = events.map(({ event }, index) => known[index]?.keysOf.get(event.meter_id) ?? null);
  const hasGroups = keys.some((names) => names !== null);
  const values = [...columnsOf(events), versions];
  if (hasGroups) values.push(textArray(keys));
  const plain = isWatched ? RECORD_WATCHED : RECORD;
  const grouped = isWatched ? RECORD_GROUPS_WATCHED : RECORD_GROUPS;
  const { rows } = await connection.query<RecordRow>({ ...(hasGroups ? grouped : plain), values });
  const [row] = rows;
  if (row === undefined) throw new Error('the record statement returns one row, and returned none');
  const { recorded, held, unsettled } = row;
  if (held.length === 0 && unsettled.length === 0) return { recorded, held: [], unsettled: [] };
  const [holders, open] = [new Map(held), new Set(unsettled)];
  return {
    recorded,
    held: events.flatMap(({ event }): HeldEvent[] => {
      const holder = holders.get(event.id);
      return holder === undefined ? [] : [{ event, holder }];
    }),
    unsettled: events.filter(({ event }) => open.has(event.id)),
  };
}

/** So many partitions may be made in the way of one batch. With more, one is not as Postgres routes rows to it. */
const MISROUTED_MAX = 10;

/**
 * Does again, as a whole, what was refused for what was known of the database and is not so any more. With `mustHold` an attempt is to
 * record by {@link holdKnown}: it is refused for that no second time, however often what is known changes.
 */
export async function whileRetried<Value>(attempt: (mustHold: boolean) => Promise<Value>): Promise<Value> {
  let mustHold = false;
  for (let misrouted = 0; ;) {
    try {
      return await attempt(mustHold);
    } catch (error) {
      if (isKnowledgeOld(error)) mustHold = true;
      else if (!isMisrouted(error)) throw error;
      // Not as Postgres says it: no event is to blame.
      else if ((misrouted += 1) > MISROUTED_MAX)
        throw new Error('the partitions of events refuse rows that are routed to them', { cause: error });
    }
  }
}

/**
 * Whether a row was on its way to the default partition when the partition for it was made. Postgres then reports a check
 * that the row violates, as if the event were to blame; a new statement finds the new partition.
 */
function isMisrouted(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '23514' && error.constraint === undefined;
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
 * Keeps events that are not counted, so that they can be read, corrected and replayed. One that is replayed and rejected again is kept as
 * it was replayed; one that is only delivered again stays as it is kept, and so does one whose customer was erased: a replay cannot name
 * another customer. One that was recorded meanwhile stays recorded. Returns the ids of those that were not kept before.
 */
export async function rejectEvents(connection: Runs, rejected: readonly RejectedEvent[]): Promise<Set<string>> {
  if (rejected.length === 0) return new Set();
  const { rows } = await connection.query<{ id: string; is_new: boolean }>({
    name: 'reject',
    text: `
      INSERT INTO rejected_events (organization_id, id, meter_id, customer_external_id, reason, event)
      SELECT organization_id, id, meter_id, customer_external_id, reason, event
      FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::boolean[])
        AS t (organization_id, id, meter_id, customer_external_id, reason, event, is_replayed)
      WHERE NOT EXISTS (SELECT FROM events e WHERE (e.organization_id, e.id) = (t.organization_id, t.id))
        AND NOT EXISTS (SELECT FROM duplicate_events d WHERE (d.organization_id, d.id) = (t.organization_id, t.id))
        AND (is_replayed OR NOT EXISTS (SELECT FROM rejected_events r WHERE (r.organization_id, r.id) = (t.organization_id, t.id)))
      ORDER BY organization_id, id
      ON CONFLICT (organization_id, id) DO UPDATE SET reason = excluded.reason, event = excluded.event, rejected_at = now()
        WHERE rejected_events.customer_external_id = excluded.customer_external_id
      RETURNING id, xmax = 0 AS is_new`,
    values: [
      rejected.map(({ event }) => event.organization_id),
      rejected.map(({ event }) => event.id),
      rejected.map(({ event }) => event.meter_id),
      rejected.map(({ event }) => event.customer_external_id),
      rejected.map(({ reason }) => reason),
      rejected.map(({ event }) => JSON.stringify(event)),
      rejected.map(({ event }) => event.replayed === true),
    ],
  });
  await deleteRejectedInVain(
    connection,
    rejected.flatMap(({ event }) => (event.replayed === true ? [event] : [])),
  );
  return new Set(rows.flatMap(({ id, is_new }) => (is_new ? [id] : [])));
}

/**
 * Deletes rejected events that are recorded after all. Another replay of one may have taken its row off while the statement that keeps it
 * waited for that row: it makes a new one then, by what was recorded when it began. This one sees what is by now.
 */
async function deleteRejectedInVain(connection: Runs, replayed: readonly StagedEvent[]): Promise<void> {
  if (replayed.length === 0) return;
  // Each is asked for by itself, whatever Postgres believes of how many events there are.
  const isIn = (table: string): string =>
    `(SELECT true FROM ${table} AS other WHERE (other.organization_id, other.id) = (t.organization_id, t.id) LIMIT 1)`;
  await connection.query(
    `DELETE FROM rejected_events AS kept USING unnest($1::uuid[], $2::uuid[]) AS t (organization_id, id)
     WHERE (kept.organization_id, kept.id) = (t.organization_id, t.id)
       AND coalesce(${isIn('events')}, ${isIn('duplicate_events')}) IS TRUE`,
    [replayed.map((event) => event.organization_id), replayed.map((event) => event.id)],
  );
}

/** Takes replayed events off the rejected ones, once each of them is recorded or known to be a duplicate. */
export async function deleteRejected(connection: Runs, events: readonly StagedEvent[]): Promise<void> {
  if (events.length === 0) return;
  await connection.query(
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
