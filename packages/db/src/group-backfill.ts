// Groups the usage that was recorded before the keys of its meter were changed, in slices, and nobody waits for it: while a meter
// is at the first two stages, the record statement notes its events (ungrouped_events) and touches no group of it.
// - clearing: what is kept by the keys of before is deleted, one day (UTC) after the other.
// - grouping: the events that were there when the keys were changed are grouped, by customer, hour and id. Those that are noted
//   came later, and are left out.
// - catching_up: the noted ones are grouped, while the record statement groups what comes from here on.
// Groups are made of events: while a month is detached that may have some of the meter's, nothing is grouped.
// A slice is a transaction that moves the mark too: killed anywhere, it was made or was not. Other keys begin all of it again.

import type pg from 'pg';
import { RECORDING_LOCK } from './advisory-locks.ts';
import { valueHash } from './aggregations.ts';
import { isLockTimeout, type Database } from './database.ts';
import { SILENCE_MS_MAX } from './known-for-recording.ts';
import { monthToAttach, MonthTakenOut } from './months-taken-out.ts';
import { dropConnection, poolTransaction } from './pool-transaction.ts';
import { addTo, BEGINNING, GROUP_ROLLUPS, OVERFLOW, PARTS, ROLLUPS, rowsOfEvents, rowsOfFiner } from './rollups.ts';
import { inStream, ofAll, own } from './usage/usage-rows.ts';

/** Some tenths of a second of work. Each has 8 KB of metadata at most, so a slice is some megabytes. */
const SLICE_EVENTS_MAX = 2_000;

/** Far longer than a slice takes. */
const SLICE_MS_MAX = 60_000;

/**
 * As long as a statement takes that records much. Whoever records next waits with this for the lock of the closings, so it is
 * better to try again than to wait for a statement that hangs.
 */
const LOCK_WAIT_MS_MAX = 250;

interface Meter {
  organization_id: string;
  meter_id: string;
}

interface Pending {
  change_id: string;
  stage: 'clearing' | 'grouping' | 'catching_up';
  customer_external_id: string;
  /** As Postgres writes it: the beginning is -infinity. */
  hour: string;
  event_id: string;
  has_keys: boolean;
}

/** Where a stage has come to: `id` is that of an event of the hour, or the last one of all. */
interface Mark {
  customer: string;
  hour: string;
  id: string;
}

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

export interface BackfillOptions {
  sliceEventsMax?: number;
  /** Told of each meter that waits for a month to be attached. */
  onTakenOut?: (error: MonthTakenOut, meter: Meter) => void;
}

/**
 * Makes slices until no meter has any left, or the time is over; at least one. All meters have their turn, so that none waits for
 * the millions of another. Safe to run in several processes at once, and to be cut off anywhere. Returns how many meters were
 * done with. A meter of which events are in a month that was taken out waits for it. Throws what Postgres says of a meter, once the others
 * have had their turns; its slice is made another time then.
 */
export async function backfillGroups(
  { pool }: Database,
  milliseconds: number,
  { sliceEventsMax = SLICE_EVENTS_MAX, onTakenOut = () => {} }: BackfillOptions = {},
): Promise<number> {
  const until = performance.now() + milliseconds;
  const { rows } = await pool.query<Meter>(
    'SELECT organization_id, meter_id FROM metadata_backfills ORDER BY random()',
  );
  const errors: unknown[] = [];
  let turns = rows;
  let done = 0;
  while (turns.length > 0) {
    const again: Meter[] = [];
    for (const meter of turns) {
      const outcome = await makeSlice(pool, meter, sliceEventsMax).catch((error: unknown) => {
        if (error instanceof MonthTakenOut) onTakenOut(error, meter);
        else errors.push(error);
      });
      if (outcome === 'done') done += 1;
      if (outcome === 'made') again.push(meter);
      if (performance.now() > until) again.length = 0;
      if (performance.now() > until) break;
    }
    turns = again;
  }
  if (errors.length > 0) throw errors[0];
  return done;
}

/** `busy`: it is in the hands of somebody else, or records too much just now. */
type Outcome = 'made' | 'done' | 'busy';

async function makeSlice(pool: pg.Pool, meter: Meter, eventsMax: number): Promise<Outcome> {
  try {
    return await poolTransaction(pool, (client) => makeNext(client, meter, eventsMax), dropConnection);
  } catch (error) {
    if (isLockTimeout(error)) return 'busy';
    throw error;
  }
}

const FIND = `
SELECT change_id, stage, customer_external_id, hour::text AS hour, event_id, EXISTS (SELECT FROM meters
    WHERE (meters.organization_id, meters.id) = ($1, $2) AND metadata_keys <> '{}') AS has_keys
FROM metadata_backfills WHERE (organization_id, meter_id) = ($1, $2) FOR UPDATE SKIP LOCKED`;

async function makeNext(client: pg.PoolClient, meter: Meter, eventsMax: number): Promise<Outcome> {
  await client.query(
    `SELECT set_config('lock_timeout', $1, true), set_config('statement_timeout', $2, true),
       set_config('idle_in_transaction_session_timeout', $3, true)`,
    [LOCK_WAIT_MS_MAX, SLICE_MS_MAX, SILENCE_MS_MAX].map(String),
  );
  const ids = [meter.organization_id, meter.meter_id];
  const [pending] = (await client.query<Pending>(FIND, ids)).rows;
  if (pending === undefined) return 'busy';
  const slice = { client, ids, pending, eventsMax };
  if (pending.stage !== 'clearing') await expectAllThere(slice);
  switch (pending.stage) {
    case 'clearing': {
      if (await clear(slice)) return 'made';
      if (!pending.has_keys) return await finish(slice);
      await setMark(slice, 'grouping', { customer: '', hour: '-infinity', id: LAST_ID });
      return 'made';
    }
    case 'grouping': {
      if (await group(slice)) return 'made';
      // Who records now has committed when this is granted, with what it noted. Nobody notes anything after it.
      await client.query(`SELECT pg_advisory_xact_lock(${RECORDING_LOCK}, closing_slot($1::uuid))`, ids.slice(0, 1));
      await setMark(slice, 'catching_up', { customer: '', hour: '-infinity', id: LAST_ID });
      return 'made';
    }
    case 'catching_up': {
      return (await catchUp(slice)) ? 'made' : await finish(slice);
    }
  }
}

interface Slice {
  client: pg.PoolClient;
  ids: string[];
  pending: Pending;
  eventsMax: number;
}

/** With the ids as $1 and $2. The pool's own limit may be shorter than what a slice is given. */
function statement({ ids }: Slice, text: string, values: unknown[] = []) {
  return { text, values: [...ids, ...values], query_timeout: SLICE_MS_MAX };
}

async function setMark(slice: Slice, stage: Pending['stage'], { customer, hour, id }: Mark): Promise<void> {
  const move = `UPDATE metadata_backfills SET (stage, customer_external_id, hour, event_id) = ($3, $4, $5, $6)
    WHERE (organization_id, meter_id) = ($1, $2)`;
  await slice.client.query(statement(slice, move, [stage, customer, hour, id]));
}

async function finish(slice: Slice): Promise<Outcome> {
  const remove = 'DELETE FROM metadata_backfills WHERE (organization_id, meter_id) = ($1, $2)';
  await slice.client.query(statement(slice, remove));
  return 'done';
}

const OF_METER = own({ organization: '$1::uuid', meter: '$2::uuid' });

/**
 * Finds a `month` without a partition in which events of the meter may be, from its first usage on; no row, or null, where all of them are
 * there. With the organization and the meter as $1 and $2.
 */
export const FIND_MISSING_MONTH = `SELECT ${monthToAttach('quarter', '= $1::uuid', 'ARRAY[last_event_id]')} AS month FROM (
  SELECT quarter, last_event_id FROM ${ROLLUPS.meterUsageQuarters.table} WHERE ${OF_METER} ORDER BY quarter LIMIT 1) AS first_used`;

/** The error of usage that is not grouped without a month. */
export const notGrouped = (month: string): MonthTakenOut =>
  new MonthTakenOut('Usage is not grouped by other keys', month);

/** Throws where events may be away. None is taken out from here to the end of the transaction. */
async function expectAllThere(slice: Slice): Promise<void> {
  await slice.client.query('LOCK TABLE ONLY events IN ACCESS SHARE MODE');
  const { rows } = await slice.client.query<{ month: string | null }>(statement(slice, FIND_MISSING_MONTH));
  if (rows[0]?.month != null) throw notGrouped(rows[0].month);
}
const OF_ALL = ofAll({ organization: '$1::uuid', meter: '$2::uuid' });

/** What is kept by keys, with the column of its time, and its rows of the meter by an index that leads to a time. */
const KEPT = [
  ...GROUP_ROLLUPS.map(({ table, grain, scope }) => ({ table, grain, rows: scope === 'customer' ? OF_ALL : OF_METER })),
  { table: 'metadata_groups', grain: 'day', rows: OF_METER },
];

const NEXT_DAY = `
SELECT ${BEGINNING.day('min(time)')}::text AS day FROM (${KEPT.map(
  ({ table, grain, rows }) =>
    `SELECT min(${grain}) AS time FROM ${table} WHERE ${rows} AND ${grain} >= $3::timestamptz`,
).join(' UNION ALL ')}) AS times`;

/** Deletes some of what the keys of before have left. False where nothing is left. */
async function clear(slice: Slice): Promise<boolean> {
  const { pending, eventsMax } = slice;
  const old = `${OF_METER} AND change_id <> $3`;
  if (await deleteSome(slice, 'ungrouped_events', old, [pending.change_id])) return true;
  const [next] = (await slice.client.query<{ day: string | null }>(statement(slice, NEXT_DAY, [pending.hour]))).rows;
  if (next?.day == null) return false;
  for (const { table, grain, rows } of KEPT) {
    const ofDay = `${rows} AND ${grain} >= $3::timestamptz AND ${grain} < $3::timestamptz + interval '24 hours'`;
    // There may be more of the day.
    if ((await deleteSome(slice, table, ofDay, [next.day])) === eventsMax) break;
  }
  await setMark(slice, 'clearing', { customer: '', hour: next.day, id: LAST_ID });
  return true;
}

/** Deletes up to a slice of rows. Nobody else writes to what is deleted here. */
async function deleteSome(slice: Slice, table: string, condition: string, values: string[]): Promise<number> {
  const rows = `SELECT ctid FROM ${table} WHERE ${condition} LIMIT ${slice.eventsMax}`;
  const remove = `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(${rows}))`;
  return (await slice.client.query(statement(slice, remove, values))).rowCount ?? 0;
}

/** Adds the events of `found` to the groups, as the record statement does: in the same order, so that neither deadlocks. */
const ADD_FOUND = `
meter AS MATERIALIZED (
  SELECT metadata_keys, aggregation_type FROM meters WHERE (organization_id, id) = ($1::uuid, $2::uuid)
),
asked AS MATERIALIZED (
  SELECT found.*, ${BEGINNING.day('"timestamp"')} AS day, group_hash(combined) AS asked_hash, combined AS group_values
  FROM meter CROSS JOIN found
    CROSS JOIN LATERAL (SELECT group_values(meter.metadata_keys, found.metadata) AS combined OFFSET 0) AS of_event
),
kept_groups AS MATERIALIZED (
  SELECT day, group_hash FROM keep_combinations(ARRAY(
    SELECT DISTINCT ROW(organization_id, meter_id, day, asked_hash, group_values)::metadata_groups FROM asked))
),
grouped AS MATERIALIZED (
  SELECT organization_id, meter_id, customer_external_id, "timestamp", id, quantity, coalesce(group_hash, ${OVERFLOW}) AS group_hash,
    ${valueHash('(SELECT aggregation_type FROM meter)')}
  FROM asked LEFT JOIN kept_groups ON (kept_groups.day, kept_groups.group_hash) = (asked.day, asked_hash)
),
${GROUP_ROLLUPS.map((rollup) => {
  const { table, keeps, madeOf } = rollup;
  const events = keeps === 'values' ? 'grouped WHERE value_hash IS NOT NULL' : 'grouped';
  const rows =
    madeOf === undefined
      ? rowsOfEvents(rollup, events, `pg_backend_pid() % ${PARTS}`)
      : rowsOfFiner(rollup, madeOf, `made_${madeOf.table}`);
  return `made_${table} AS (${rows}),\nadded_${table} AS (${addTo(rollup, `SELECT * FROM made_${table}`)})`;
}).join(',\n')}`;

// $3 to $5 are the mark, $6 how many events, $7 the change of keys. The rows of hours say how many of them are a slice; one that
// has more events is cut by their ids. Whether an event was noted is asked for each by itself, whatever Postgres believes.
const GROUP = `
WITH hours AS MATERIALIZED (
  SELECT customer, hour FROM (
    SELECT customer, hour, sum(event_count) OVER (ORDER BY customer, hour) - event_count AS events_before FROM (
      SELECT customer_external_id AS customer, hour, event_count FROM ${ROLLUPS.customerUsageHours.table}
      WHERE ${OF_METER} AND (customer_external_id, hour, '${LAST_ID}'::uuid) > ($3::text, $4::timestamptz, $5::uuid)
      ORDER BY customer_external_id, hour LIMIT $6::integer) AS next) AS counted
  WHERE events_before < $6
),
found AS MATERIALIZED (
  SELECT events.* FROM hours CROSS JOIN LATERAL (
    SELECT hours.hour, events.* FROM events
    WHERE ${inStream({ organization: '$1::uuid', meter: '$2::uuid' }, 'hours.customer')}
      AND "timestamp" >= hours.hour AND "timestamp" < hours.hour + interval '1 hour'
      AND (hours.customer, hours.hour, id) > ($3, $4, $5)
      AND (SELECT true FROM ungrouped_events AS noted WHERE (noted.organization_id, noted.meter_id, noted.change_id, noted.event_id)
        = ($1, $2, $7::uuid, events.id)) IS NOT TRUE
    OFFSET 0) AS events
  ORDER BY customer_external_id, hour, id LIMIT $6
),
${ADD_FOUND}
SELECT customer, hour::text AS hour, id::text AS id FROM (
  SELECT customer_external_id AS customer, hour, id FROM found WHERE (SELECT count(*) FROM found) = $6
  UNION ALL SELECT customer, hour, '${LAST_ID}'::uuid FROM hours WHERE (SELECT count(*) FROM found) < $6) AS ends
ORDER BY ends.customer DESC, ends.hour DESC, ends.id DESC LIMIT 1`;

/** Groups the next events that were there when the keys were changed. False where there is none. */
async function group(slice: Slice): Promise<boolean> {
  const { pending, eventsMax } = slice;
  const { customer_external_id: customer, hour, event_id: id, change_id } = pending;
  const [end] = (await slice.client.query<Mark>(statement(slice, GROUP, [customer, hour, id, eventsMax, change_id])))
    .rows;
  if (end === undefined) return false;
  await setMark(slice, 'grouping', end);
  return true;
}

const CATCH_UP = `
WITH taken AS (
  DELETE FROM ungrouped_events WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ungrouped_events WHERE ${OF_METER} AND change_id = $3::uuid LIMIT $4::integer))
  RETURNING event_id
),
found AS MATERIALIZED (
  SELECT events.* FROM taken CROSS JOIN LATERAL (
    SELECT * FROM events WHERE organization_id = $1::uuid AND id = taken.event_id OFFSET 0) AS events
),
${ADD_FOUND}
SELECT count(*)::integer AS taken FROM taken`;

/** Groups some of the events that were noted. False where there is none. */
async function catchUp(slice: Slice): Promise<boolean> {
  const { pending, eventsMax } = slice;
  const { rows } = await slice.client.query<{ taken: number }>(
    statement(slice, CATCH_UP, [pending.change_id, eventsMax]),
  );
  return (rows[0]?.taken ?? 0) > 0;
}
