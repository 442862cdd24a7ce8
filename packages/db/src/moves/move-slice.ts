// Moves a slice of the usage of one meter and customer to another external id: some hours of it, with their events and every rollup
// of customers, in one transaction. So whoever reads sees each hour under the one id or under the other, and the rollups of whole
// meters, which do not know customers, are not touched at all.
//
// Nobody else waits for it. The row of an hour is what holds this and the record statements of that customer and hour apart: they
// write to it before any other rollup, and all that they write commits with it. So with the row locked, all events of the hour that
// are committed are all there are, and one that records to it waits, and then begins a new row.
//
// Such a statement has looked before it waited at which distinct values are there already, and leaves those out that are taken away
// meanwhile. So values are made of the events that are moved, and `repairValues` adds those that are missing where events stayed behind.
// They are made of the rows as well: a month that is lost for good has no events here, and its values are in these alone.

import { type AggregationType, countsValues } from '@weir/shared/meter';
import type pg from 'pg';
import { TOUCH, touchValues } from '../alerts/touched-usage.ts';
import { dropConnection, poolTransaction } from '../pool-transaction.ts';
import {
  addTo,
  ALL_ROLLUPS,
  BEGINNING,
  columnsOf,
  keyOf,
  ROLLUPS,
  rowsOfEvents,
  rowsOfFiner,
  type Rollup,
} from '../rollups.ts';
import { everInStream, IS_VOID, own, quartersOf } from '../usage/usage-rows.ts';
import { FIND_MONTH, notMoved } from './month-in-the-way.ts';
import type { RunningMove } from './usage-moves.ts';

/** Events of a slice: some tenths of a second. One hour of a customer is never cut. */
const SLICE_EVENTS_MAX = 5_000;

/** Hours that are looked at for a slice. */
const SLICE_HOURS_MAX = 500;

/** Below the second after which Postgres looks for a deadlock: it is this that gives way, and no record statement. */
const LOCK_WAIT_MS_MAX = 500;

/** An hour of millions of events has to be moved some time. */
const SLICE_MS_MAX = 600_000;

const { customerUsageHours: HOURS, customerUsageDays: DAYS } = ROLLUPS;

const ORGANIZATION = '$1::uuid';
const METER = '$2::uuid';
const FROM = '$3::text';
const TO = '$4::text';
/** The first instants of the hours of the slice, ascending. */
const WHICH = '$5::timestamptz[]';
/** The keys that the meter is grouped by. */
const KEYS = '$6::text[]';

const METER_SCOPE = { organization: ORGANIZATION, meter: METER };
const OF_FROM = own({ ...METER_SCOPE, customer: FROM });
const IN_HOURS = `hour = ANY (${WHICH})`;
const IN_DAYS = `day IN (SELECT ${BEGINNING.day('hour')} FROM unnest(${WHICH}) AS hour)`;

/** The events of a customer in the hours of the slice, void or not. */
const eventsOf = (customer: string): string => `${everInStream(METER_SCOPE, customer)}
  AND "timestamp" >= (${WHICH})[1] AND "timestamp" < (${WHICH})[cardinality(${WHICH})] + interval '1 hour'
  AND ${BEGINNING.hour('"timestamp"')} = ANY (${WHICH})`;

// The meter keeps its keys meanwhile: what is left of metadata goes by them, and each event's group.
const LOCK_METER = `SELECT metadata_keys, aggregation_type FROM meters WHERE organization_id = ${ORGANIZATION} AND id = ${METER} FOR SHARE`;
const FIND_BACKFILL = `SELECT FROM metadata_backfills WHERE organization_id = ${ORGANIZATION} AND meter_id = ${METER}`;

/** Usage of the slice that is grouped by what names the erased customer, by the values that would stay. The move is `$7`. */
const FIND_NAMED = `SELECT FROM events WHERE ${eventsOf(FROM)} AND NOT ${IS_VOID}
  AND EXISTS (SELECT FROM unnest(group_values(${KEYS}, metadata)) AS kept (value) WHERE name_hash(kept.value) = ANY ((
    SELECT name_hashes FROM usage_moves WHERE organization_id = ${ORGANIZATION} AND id = $7::uuid)::bytea[])) LIMIT 1`;

const HOLD_CLOSING = `SELECT number, until::text FROM closings_of(ARRAY[${ORGANIZATION}])`;

// In the order of keys and of tables that the record statement has.
const LOCK_HOURS = `SELECT hour::text, customer_external_id = ${FROM} AS is_moved, event_count, last_event_id::text FROM ${HOURS.table}
  WHERE organization_id = ${ORGANIZATION} AND meter_id = ${METER} AND customer_external_id IN (${FROM}, ${TO}) AND ${IN_HOURS}
  ORDER BY customer_external_id, hour FOR UPDATE`;
const LOCK_DAYS = `SELECT count(*) FROM (SELECT FROM ${DAYS.table}
  WHERE organization_id = ${ORGANIZATION} AND meter_id = ${METER} AND customer_external_id IN (${FROM}, ${TO}) AND ${IN_DAYS}
  ORDER BY customer_external_id, day FOR UPDATE) AS locked`;

/** What was moved, by the hour. */
const BY_HOUR = `SELECT ${BEGINNING.hour('"timestamp"')}::text AS hour, count(*)::int AS events, (count(*) FILTER (WHERE NOT is_void))::int AS counted
FROM moved GROUP BY 1`;

/** Late events stay as late as they were: the dues that do not count them are renamed as well. What is void is in no group. */
const ERASE_EVENTS = `
WITH moved AS (
  UPDATE events SET customer_external_id = ${TO}, idempotency_key = NULL, 
    metadata = erased_metadata(metadata, CASE WHEN ${IS_VOID} THEN '{}' ELSE ${KEYS} END, $7::boolean)
  WHERE ${eventsOf(FROM)} RETURNING "timestamp", ${IS_VOID} AS is_void
), late AS (
  UPDATE late_events SET customer_external_id = ${TO}
  WHERE ${OF_FROM} AND "timestamp" >= (${WHICH})[1] AND "timestamp" < (${WHICH})[cardinality(${WHICH})] + interval '1 hour'
    AND ${BEGINNING.hour('"timestamp"')} = ANY (${WHICH})
)
${BY_HOUR}`;

/**
 * Of a time that is closed they are late for whom they come to, as if they were recorded now: what was billed to it stays as it was,
 * and the next invoice has them. The closing is held off, as by a record statement.
 */
const MOVE_EVENTS = `
WITH moved AS (
  UPDATE events SET customer_external_id = ${TO} WHERE ${eventsOf(FROM)} RETURNING id, "timestamp", quantity, ${IS_VOID} AS is_void
), no_more_late AS (
  DELETE FROM late_events
  WHERE ${OF_FROM} AND "timestamp" >= (${WHICH})[1] AND "timestamp" < (${WHICH})[cardinality(${WHICH})] + interval '1 hour'
    AND ${BEGINNING.hour('"timestamp"')} = ANY (${WHICH})
), late AS (
  INSERT INTO late_events (organization_id, meter_id, customer_external_id, "timestamp", event_id, closing, quantity)
  SELECT ${ORGANIZATION}, ${METER}, ${TO}, "timestamp", id, $7::bigint, quantity FROM moved WHERE "timestamp" < $8::timestamptz AND NOT is_void
)
${BY_HOUR}`;

/** The rows of hours as they are, added to those that are there. */
function moveRows(rollup: Rollup): string {
  const columns = [...keyOf(rollup), ...columnsOf(rollup)];
  const renamed = columns.map((name) => (name === 'customer_external_id' ? `${TO} AS ${name}` : name));
  return `WITH gone AS (DELETE FROM ${rollup.table} WHERE ${OF_FROM} AND ${IN_HOURS} RETURNING ${columns.join(', ')})
    ${addTo(rollup, `SELECT ${renamed.join(', ')} FROM gone ORDER BY ${keyOf(rollup).join(', ')}`)}`;
}

/** What the hours that are moved add up to, by day. They are read before they are gone. */
const ADD_DAYS = addTo(
  DAYS,
  rowsOfFiner(
    DAYS,
    HOURS,
    `(SELECT ${[...keyOf(HOURS), ...columnsOf(HOURS)]
      .map((name) => (name === 'customer_external_id' ? `${TO} AS ${name}` : name))
      .join(', ')} FROM ${HOURS.table} WHERE ${OF_FROM} AND ${IN_HOURS}) AS moved`,
  ),
);

/** What the hours that stay add up to. */
const REMAINING = rowsOfFiner(
  DAYS,
  HOURS,
  `${HOURS.table} WHERE ${OF_FROM} AND ${BEGINNING.day('hour')} IN (SELECT ${BEGINNING.day('moved')} FROM unnest(${WHICH}) AS moved)
     AND hour >= ${BEGINNING.day(`(${WHICH})[1]`)} AND hour < ${BEGINNING.day(`(${WHICH})[cardinality(${WHICH})]`)} + interval '24 hours'`,
);
const TAKE_DAYS = `
WITH remaining AS MATERIALIZED (${REMAINING}), gone AS (
  DELETE FROM ${DAYS.table} WHERE ${OF_FROM} AND ${IN_DAYS} AND day NOT IN (SELECT day FROM remaining)
)
UPDATE ${DAYS.table} AS kept SET ${columnsOf(DAYS)
  .map((name) => `${name} = remaining.${name}`)
  .join(', ')}
FROM remaining WHERE ${keyOf(DAYS)
  .map((name) => `kept.${name} = remaining.${name}`)
  .join(' AND ')}`;

/** The distinct values of a customer's events in the hours of the slice. */
function valuesOf(customer: string, rollup: Rollup): string {
  const group =
    rollup.isGrouped === true
      ? `, group_of(organization_id, meter_id, ${KEYS}, "timestamp", metadata) AS group_hash`
      : '';
  return rowsOfEvents(
    rollup,
    `(SELECT organization_id, meter_id, customer_external_id, "timestamp", unique_value_hash(metadata) AS value_hash ${group}
      FROM events WHERE ${eventsOf(customer)} AND NOT ${IS_VOID} OFFSET 0) AS found`,
  );
}

/** The quarters of the hours of the slice, by day. All usage of them is moved. */
const MASKS = `moved AS MATERIALIZED (
  SELECT ${BEGINNING.day('hour')} AS day, bit_or(${quartersOf('hour', "hour + interval '1 hour'")}) AS mask
  FROM unnest(${WHICH}) AS hour GROUP BY 1
)`;

/** Adds the values of hours whose events are moved already to those that are there. */
function bringValues(rollup: Rollup): string {
  const key = keyOf(rollup).map((name) =>
    name === 'customer_external_id' ? `${TO} AS customer_external_id` : `kept.${name}`,
  );
  const ofRows = `WITH ${MASKS} SELECT ${key.join(', ')}, quarters & mask AS quarters FROM ${rollup.table} AS kept, moved
    WHERE ${ofKept} AND kept.day = moved.day AND quarters & mask <> B'0'::bit(96)`;
  return addTo(rollup, rowsOfFiner(rollup, rollup, `((${valuesOf(TO, rollup)}) UNION ALL (${ofRows})) AS found`));
}

function takeValues({ table }: Rollup): string {
  return `
WITH ${MASKS}, gone AS (
  DELETE FROM ${table} AS kept USING moved WHERE ${ofKept} AND kept.day = moved.day AND quarters & ~mask = B'0'::bit(96)
)
UPDATE ${table} AS kept SET quarters = quarters & ~mask FROM moved
WHERE ${ofKept} AND kept.day = moved.day AND quarters & mask <> B'0'::bit(96) AND quarters & ~mask <> B'0'::bit(96)`;
}
const ofKept = `kept.organization_id = ${ORGANIZATION} AND kept.meter_id = ${METER} AND kept.customer_external_id = ${FROM}`;

/** Those of customers but for hours and days, in the order in which every statement writes to them. Usage is moved by the hour. */
const CUSTOMER_ROLLUPS = ALL_ROLLUPS.filter(
  (rollup) => rollup.scope === 'customer' && rollup !== HOURS && rollup !== DAYS,
);

interface LockedMeter {
  metadata_keys: string[];
  aggregation_type: AggregationType;
}

const keepsValues = (meter: LockedMeter, { keeps, isGrouped }: Rollup): boolean =>
  keeps === 'values' && countsValues(meter.aggregation_type) && (isGrouped !== true || meter.metadata_keys.length > 0);

interface LockedHour {
  hour: string;
  event_count: string;
  last_event_id: string;
}

interface MovedHour {
  hour: string;
  events: number;
  /** Those that are not void. */
  counted: number;
}

/** Hours of a move whose events are lost for good: nothing of them is moved. */
class LostHours extends Error {
  override readonly name = 'LostHours';
  readonly hours: readonly string[];

  constructor(hours: readonly string[]) {
    super('events of an hour are lost, and no month is missing');
    this.hours = hours;
  }
}

/** The hours that have counted more events than were moved. With its row locked nobody else's are under way. */
function shortHours(hours: readonly LockedHour[], moved: readonly MovedHour[]): LockedHour[] {
  const counted = new Map<string, number>();
  for (const each of moved) counted.set(each.hour, (counted.get(each.hour) ?? 0) + each.counted);
  return hours.filter(({ hour, event_count }) => (counted.get(hour) ?? 0) < Number(event_count));
}

/**
 * Moves the events of hours, and throws where it does not find all that they have counted. What is lost for good is erased as it is: with
 * no month missing nothing is left that could name anybody.
 *
 * The statement takes the months that there are before it has its locks. One that was being attached it waits for, and leaves out. From
 * then on nobody attaches one or takes one out before this transaction ends, for the locks on `events` and on its default partition. So
 * events are lost that a second statement does not find either.
 */
async function moveEvents(
  run: Run,
  { organization_id, kind }: RunningMove,
  hours: readonly LockedHour[],
  [statement, values]: readonly [string, readonly unknown[]],
): Promise<MovedHour[]> {
  const found = await run<MovedHour>(statement, values);
  // What no month is missing for, is missing for none of the hours behind it.
  const [first] = shortHours(hours, found);
  if (first === undefined) return found;
  const [{ month } = { month: null }] = await run<{ month: string | null }>(FIND_MONTH, [
    organization_id,
    first.hour,
    first.last_event_id,
  ]);
  if (month !== null) throw notMoved(kind, month);
  const moved = [...found, ...(await run<MovedHour>(statement, values))];
  const lost = shortHours(hours, moved);
  if (kind === 'MOVE' && lost.length > 0) throw new LostHours(lost.map(({ hour }) => hour));
  return moved;
}

/** The next hours of a meter's usage after one, few enough for a slice; none: that was the last. */
export async function nextHours(
  pool: pg.Pool,
  { organization_id, from_external_id }: RunningMove,
  meterId: string,
  after: string,
): Promise<string[]> {
  const { rows } = await pool.query<{ hour: string; event_count: string }>(
    `SELECT hour::text, event_count FROM ${HOURS.table} WHERE ${OF_FROM} AND hour > $4::timestamptz ORDER BY hour LIMIT ${SLICE_HOURS_MAX}`,
    [organization_id, meterId, from_external_id, after],
  );
  const hours: string[] = [];
  let events = 0;
  for (const { hour, event_count } of rows) {
    events += Number(event_count);
    if (hours.length > 0 && events > SLICE_EVENTS_MAX) break;
    hours.push(hour);
  }
  return hours;
}

/**
 * Moves what there is in these hours, all of it or nothing. Undefined, with nothing done, while the usage of the meter is being grouped by
 * new keys, customer by customer, or is grouped by what names an erased one. Else it returns how many hours stay under the former id as they are, since events of them are lost for
 * good. Throws what Postgres says, also where it would wait for long; and MonthTakenOut where events of it are in one.
 */
export async function moveHours(
  pool: pg.Pool,
  move: RunningMove,
  meterId: string,
  asked: readonly string[],
): Promise<number | undefined> {
  const lost = new Set<string>();
  for (;;) {
    const hours = asked.filter((hour) => !lost.has(hour));
    try {
      return (await moveAll(pool, move, meterId, hours)) ? lost.size : undefined;
    } catch (error) {
      if (!(error instanceof LostHours)) throw error;
      for (const hour of error.hours) lost.add(hour);
    }
  }
}

async function moveAll(pool: pg.Pool, move: RunningMove, meterId: string, asked: readonly string[]): Promise<boolean> {
  return await inTransaction(pool, async (run) => {
    const isErased = move.kind === 'ERASE';
    const scope = [move.organization_id, meterId, move.from_external_id, move.to_external_id];
    const [closed] = isErased ? [] : await run<{ number: string; until: string }>(HOLD_CLOSING, scope);
    const meter = await lockMeter(run, scope);
    if (meter === undefined) return false;
    const locked = await run<LockedHour & { is_moved: boolean }>(LOCK_HOURS, [...scope, asked]);
    const hours = locked.filter(({ is_moved }) => is_moved);
    if (hours.length === 0) return true;
    const slice = [...scope, hours.map(({ hour }) => hour), meter.metadata_keys];
    await run(LOCK_DAYS, slice);
    if (isErased && (await waitsForKey(run, move, slice, meter))) return false;
    const moved = await moveEvents(
      run,
      move,
      hours,
      isErased
        ? [ERASE_EVENTS, [...slice, countsValues(meter.aggregation_type)]]
        : [MOVE_EVENTS, [...slice, closed?.number ?? '0', closed?.until ?? '-infinity']],
    );
    await run(ADD_DAYS, slice);
    await run(moveRows(HOURS), slice);
    await run(TAKE_DAYS, slice);
    for (const rollup of CUSTOMER_ROLLUPS) {
      if (rollup.keeps === 'usage') await run(moveRows(rollup), slice);
      else if (keepsValues(meter, rollup)) {
        await run(bringValues(rollup), slice);
        await run(takeValues(rollup), slice);
      }
    }
    if (!isErased)
      await run(TOUCH, touchValues(move.organization_id, [{ customerExternalId: move.to_external_id, meterId }]));
    await run(COUNT_MOVED, [
      move.organization_id,
      meterId,
      move.id,
      moved.reduce((sum, { events }) => sum + events, 0),
    ]);
    return true;
  });
}

const COUNT_MOVED = `UPDATE usage_moves SET events = events + $4::bigint, grouped_meter_id = nullif(grouped_meter_id, $2)
  WHERE organization_id = $1 AND id = $3`;

/**
 * Whether usage is grouped by what names the customer: also by a key that the meter got since the erasure was asked for, of events that
 * were recorded since, and of a day that has more groups than are kept. That groups are made anew without the key is for its admins to
 * say, to whom the erasure tells the meter.
 */
async function waitsForKey(
  run: Run,
  { organization_id, id }: RunningMove,
  slice: readonly unknown[],
  { metadata_keys: keys }: LockedMeter,
): Promise<boolean> {
  if (keys.length === 0) return false;
  // From here on no month is attached: what is looked at is what is erased.
  await run('SELECT FROM events LIMIT 0', []);
  if ((await run(FIND_NAMED, [...slice, id])).length === 0) return false;
  await run('UPDATE usage_moves SET grouped_meter_id = $2 WHERE organization_id = $1 AND id = $3', [
    organization_id,
    slice[1],
    id,
  ]);
  return true;
}

/** Adds the distinct values of what has stayed behind in these hours where they are missing. False while the usage of the meter is being grouped. */
export async function repairValues(
  pool: pg.Pool,
  move: RunningMove,
  meterId: string,
  hours: string[],
): Promise<boolean> {
  return await inTransaction(pool, async (run) => {
    const scope = [move.organization_id, meterId, move.from_external_id, move.to_external_id];
    const meter = await lockMeter(run, scope);
    if (meter === undefined) return false;
    for (const rollup of CUSTOMER_ROLLUPS) {
      if (keepsValues(meter, rollup))
        await run(addTo(rollup, valuesOf(FROM, rollup)), [...scope, hours, meter.metadata_keys]);
    }
    return true;
  });
}

type Run = <Row extends object>(text: string, values: readonly unknown[]) => Promise<Row[]>;

/** Undefined while its usage is being grouped. That does not begin before the transaction ends: it changes the row of the meter. */
async function lockMeter(run: Run, scope: readonly unknown[]): Promise<LockedMeter | undefined> {
  const [meter] = await run<LockedMeter>(LOCK_METER, scope);
  if (meter === undefined) throw new Error(`there is usage of the meter ${String(scope[1])}, and no such meter`);
  return (await run(FIND_BACKFILL, scope)).length === 0 ? meter : undefined;
}

async function inTransaction<Result>(pool: pg.Pool, use: (run: Run) => Promise<Result>): Promise<Result> {
  const work = async (client: pg.PoolClient): Promise<Result> => {
    await client.query(`SELECT set_config('lock_timeout', $1, true), set_config('statement_timeout', $2, true)`, [
      String(LOCK_WAIT_MS_MAX),
      String(SLICE_MS_MAX),
    ]);
    return await use(async <Row extends object>(text: string, values: readonly unknown[]) => {
      const { rows } = await client.query<Row>({
        ...onlyUsed(text, values),
        query_timeout: SLICE_MS_MAX,
      } as pg.QueryConfig);
      return rows;
    });
  };
  return await poolTransaction(pool, work, dropConnection);
}

/** Postgres wants each value that is sent to be used. */
function onlyUsed(text: string, values: readonly unknown[]): { text: string; values: unknown[] } {
  const used = [...new Set(text.match(/\$\d/g))].toSorted();
  return {
    text: text.replaceAll(/\$\d/g, (place) => `$${used.indexOf(place) + 1}`),
    values: used.map((place) => values[Number(place.slice(1)) - 1]),
  };
}
