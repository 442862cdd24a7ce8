// Moves a slice of the usage of one meter and customer to another external id: some hours of it, or a part of one that has very many
// events, with every rollup of customers (moved-rollups.ts), in one transaction. The rollups of whole meters, which do not know customers,
// are not touched at all.
//
// Others wait for no more than one slice. The row of an hour is what holds this and the record statements of that customer and hour apart:
// all that they write commits with it. So with the row locked, all events of the hour that are committed are all there are, and one that
// records to it waits, and then begins a new row. Nobody corrects what comes to the new id meanwhile: a correction that holds rows before
// it looks at events holds the closings too, as this does.
//
// Such a statement has looked before it waited at which distinct values are there already, and leaves those out that are taken away
// meanwhile. So values are made of the events that are moved, and `repairValues` adds those that are missing where events stayed behind.

import { countsValues } from '@weir/shared/meter';
import type pg from 'pg';
import { TOUCH, touchValues } from '../alerts/touched-usage.ts';
import { completeFrom } from '../months-taken-out.ts';
import { dropConnection, poolTransaction } from '../pool-transaction.ts';
import { BEGINNING } from '../rollups.ts';
import { everInStream, IS_VOID } from '../usage/usage-rows.ts';
import { FIND_MONTH, notMoved } from './month-in-the-way.ts';
import {
  DAYS,
  EVENTS_OF_FROM,
  FOUND,
  FROM,
  HOURS,
  IN_DAYS,
  IN_HOURS,
  isInHours,
  KEYS,
  METER,
  METER_SCOPE,
  OF_FROM,
  ORGANIZATION,
  repairsFor,
  statementsFor,
  statementsOfParts,
  TO,
  WHICH,
  type CountingMeter,
} from './moved-rollups.ts';
import type { RunningMove } from './usage-moves.ts';

/** Events of a slice, and values: some tenths of a second. */
export const SLICE_EVENTS_MAX = 2_000;

/** Hours that are looked at for a slice. */
const SLICE_HOURS_MAX = 500;

/** Below the second after which Postgres looks for a deadlock: it is this that gives way, and no record statement. */
const LOCK_WAIT_MS_MAX = 500;

/** Of a slice. One that takes as long is cut off: others wait for it. */
const SLICE_MS_MAX = 60_000;

/** Of what nobody waits for: an hour of millions of events is read some time. */
const READ_MS_MAX = 600_000;

// The meter keeps its keys meanwhile: what is left of metadata goes by them, and each event's group.
const LOCK_METER = `SELECT metadata_keys, aggregation_type FROM meters WHERE organization_id = ${ORGANIZATION} AND id = ${METER} FOR SHARE`;
const FIND_BACKFILL = `SELECT FROM metadata_backfills WHERE organization_id = ${ORGANIZATION} AND meter_id = ${METER}`;

/** Usage that is grouped by what names the erased customer, by the values that would stay. The move is `$8`. */
const FIND_NAMED = `SELECT FROM events WHERE ${FOUND} AND NOT ${IS_VOID}
  AND EXISTS (SELECT FROM unnest(group_values(${KEYS}, metadata)) AS kept (value) WHERE name_hash(kept.value) = ANY ((
    SELECT name_hashes FROM usage_moves WHERE organization_id = ${ORGANIZATION} AND id = $8::uuid)::bytea[])) LIMIT 1`;

const HOLD_CLOSING = `SELECT number, until::text FROM closings_of(ARRAY[${ORGANIZATION}])`;

// Of the former id, and in the order of tables that the record statement has. Those of the new one are written to last, and held until the
// commit that follows: its events may be of the present, and those of many others are recorded with them.
const LOCK_DAYS = `SELECT count(*) FROM (SELECT FROM ${DAYS.table} WHERE ${OF_FROM} AND ${IN_DAYS} ORDER BY day FOR UPDATE) AS locked`;
const LOCK_HOURS = `SELECT hour::text, event_count, last_event_id::text FROM ${HOURS.table} WHERE ${OF_FROM} AND ${IN_HOURS}
  ORDER BY hour FOR UPDATE`;

/** In the order of their index alone, so that the last one is moved last, and a part does not sort what is left. */
const FIND_EVENTS = `SELECT id::text FROM events WHERE ${EVENTS_OF_FROM} ORDER BY "timestamp" LIMIT $7::int`;

/** What was moved, by the hour. */
const BY_HOUR = `SELECT ${BEGINNING.hour('"timestamp"')}::text AS hour, count(*)::int AS events, (count(*) FILTER (WHERE NOT is_void))::int AS counted
FROM moved GROUP BY 1`;

/** Which late events go along: of a part those that are moved, and else all that the hours have left. */
const whichLate = (isPart: boolean, from: string): string =>
  isPart
    ? `${from} moved WHERE ${OF_FROM} AND late."timestamp" = moved."timestamp" AND event_id = moved.id`
    : `WHERE ${OF_FROM} AND ${isInHours('late."timestamp"')}`;

/** Late events stay as late as they were: the dues that do not count them are renamed as well. What is void is in no group. */
const eraseEvents = (isPart: boolean): string => `
WITH moved AS (
  UPDATE events SET customer_external_id = ${TO}, idempotency_key = NULL,
    metadata = erased_metadata(metadata, CASE WHEN ${IS_VOID} THEN '{}' ELSE ${KEYS} END, $8::boolean)
  WHERE ${FOUND} RETURNING id, "timestamp", ${IS_VOID} AS is_void
), late AS (
  UPDATE late_events AS late SET customer_external_id = ${TO} ${whichLate(isPart, 'FROM')}
)
${BY_HOUR}`;

/**
 * Of a time that is closed they are late for whom they come to, as if they were recorded now: what was billed to it stays as it was,
 * and the next invoice has them. The closing is held off, as by a record statement.
 */
const moveEvents = (isPart: boolean): string => `
WITH moved AS (
  UPDATE events SET customer_external_id = ${TO} WHERE ${FOUND} RETURNING id, "timestamp", quantity, ${IS_VOID} AS is_void
), no_more_late AS (
  DELETE FROM late_events AS late ${whichLate(isPart, 'USING')}
), late AS (
  INSERT INTO late_events (organization_id, meter_id, customer_external_id, "timestamp", event_id, closing, quantity)
  SELECT ${ORGANIZATION}, ${METER}, ${TO}, "timestamp", id, $8::bigint, quantity FROM moved WHERE "timestamp" < $9::timestamptz AND NOT is_void
)
${BY_HOUR}`;

/** Whether events of the hours, of which the first is the earliest, may be in a month that was taken out. */
const MAY_MISS = `SELECT ${completeFrom(`(${WHICH})[1]`, `= ${ORGANIZATION}`)} > (${WHICH})[1] AS may_miss`;

/** The hours that have counted more events than there are. */
const FIND_SHORT = `SELECT hour::text, event_count, last_event_id::text FROM ${HOURS.table} AS kept CROSS JOIN LATERAL (
    SELECT count(*) AS found FROM events WHERE ${everInStream(METER_SCOPE, FROM)}
      AND "timestamp" >= kept.hour AND "timestamp" < kept.hour + interval '1 hour' AND NOT ${IS_VOID} OFFSET 0) AS counted
  WHERE ${OF_FROM} AND ${IN_HOURS} AND found < event_count ORDER BY hour`;

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

/** Hours of a move whose events are lost for good: nothing of them is moved any more. */
class LostHours extends Error {
  override readonly name = 'LostHours';
  readonly hours: readonly string[];

  constructor(hours: readonly string[]) {
    super('events of an hour are lost, and no month is missing');
    this.hours = hours;
  }
}

/** There are more events, or values, than a slice has, and it was not looked at whether all events are there. */
class TooMany extends Error {
  override readonly name = 'TooMany';
}

/** The hours that have counted more events than were moved. With its row locked nobody else's are under way. */
function shortHours(hours: readonly LockedHour[], moved: readonly MovedHour[]): LockedHour[] {
  const counted = new Map<string, number>();
  for (const each of moved) counted.set(each.hour, (counted.get(each.hour) ?? 0) + each.counted);
  return hours.filter(({ hour, event_count }) => (counted.get(hour) ?? 0) < Number(event_count));
}

/** Throws where a month is missing that may have the events of the first of these hours. */
async function expectMonth(run: Run, { organization_id, kind }: RunningMove, [first]: LockedHour[]): Promise<void> {
  const values = [organization_id, first?.hour, first?.last_event_id];
  const [{ month } = { month: null }] = await run<{ month: string | null }>(FIND_MONTH, values);
  if (month !== null) throw notMoved(kind, month);
}

interface MovedEvents {
  ids: string[];
  hours: MovedHour[];
  isPart: boolean;
}

/** Finds events and moves them, or finds that they are grouped by what names the erased customer. */
type MoveFound = () => Promise<MovedEvents | 'named'>;

/**
 * Moves the events of hours, as many as a slice has, and throws where it does not find all that they have counted. What is lost for good is
 * erased as it is: with no month missing nothing is left that could name anybody. Of a part nothing is known yet, see {@link expectAll}.
 *
 * The statement takes the months that there are before it has its locks. One that was being attached it waits for, and leaves out. From
 * then on nobody attaches one or takes one out before this transaction ends, for the locks on `events` and on its default partition. So
 * events are lost that a second statement does not find either.
 */
async function moveAllFound(
  run: Run,
  move: RunningMove,
  hours: readonly LockedHour[],
  moveFound: MoveFound,
): ReturnType<MoveFound> {
  const found = await moveFound();
  if (found === 'named') return found;
  // What no month is missing for, is missing for none of the hours behind it.
  const short = found.isPart ? [] : shortHours(hours, found.hours);
  if (short.length === 0) return found;
  await expectMonth(run, move, short);
  const more = await moveFound();
  // They are found at once by the next try.
  if (more === 'named' || more.isPart) throw new TooMany();
  const moved = { ids: [...found.ids, ...more.ids], hours: [...found.hours, ...more.hours], isPart: false };
  const lost = shortHours(hours, moved.hours);
  if (move.kind === 'MOVE' && lost.length > 0) throw new LostHours(lost.map(({ hour }) => hour));
  return moved;
}

/**
 * Throws the same where events of an hour that is moved in parts are missing, before the first part of it goes that a look moves. An hour of
 * millions is read once for a move, and in each look only while a month may be missing: that all of it was there is written down.
 */
async function expectAll(pool: pg.Pool, move: RunningMove, meterId: string, hour: string): Promise<void> {
  const place = `${meterId} ${hour}`;
  await inTransaction(pool, READ_MS_MAX, async (run) => {
    const values = [...scopeOf(move, meterId), [hour]];
    // What is lost for good is erased as it is. A month may have been taken out since the hour was read.
    if (move.kind === 'ERASE' || move.stage_after === place) {
      const [first] = await run<{ may_miss: boolean | null }>(MAY_MISS, values);
      if (first?.may_miss !== true) return;
    }
    const short = await run<LockedHour>(FIND_SHORT, values);
    if (short.length > 0) {
      await expectMonth(run, move, short);
      // Those of a month that was just being attached are found now.
      const lost = move.kind === 'MOVE' && (await run<LockedHour>(FIND_SHORT, values)).length > 0;
      if (lost) throw new LostHours([hour]);
    }
    await run(WRITE_WHOLE, [move.organization_id, move.id, place]);
  });
}

/** The next hours of a meter's usage after one, few enough for a slice or a single one; none: that was the last. */
export async function nextHours(
  pool: pg.Pool,
  { organization_id, from_external_id }: RunningMove,
  meterId: string,
  { after, eventsMax }: { after: string; eventsMax: number },
): Promise<string[]> {
  const { rows } = await pool.query<{ hour: string; event_count: string }>(
    `SELECT hour::text, event_count FROM ${HOURS.table} WHERE ${OF_FROM} AND hour > $4::timestamptz ORDER BY hour LIMIT ${SLICE_HOURS_MAX}`,
    [organization_id, meterId, from_external_id, after],
  );
  const hours: string[] = [];
  let events = 0;
  for (const { hour, event_count } of rows) {
    events += Number(event_count);
    if (hours.length > 0 && events > eventsMax) break;
    hours.push(hour);
  }
  return hours;
}

/**
 * Moves what there is in these hours, slice by slice, each of which is done or not at all. 'busy' while the usage of the meter is being
 * grouped by new keys, customer by customer, or is grouped by what names an erased one: the rest is left. 'over' where something is left,
 * and `isOver`. Else it returns how many hours stay under the former id as they are, since events of them are lost for good. Throws what
 * Postgres says, also where it would wait for long; and MonthTakenOut where events of it are in one.
 */
export async function moveHours(
  pool: pg.Pool,
  move: RunningMove,
  meterId: string,
  { hours: asked, eventsMax, isOver }: { hours: readonly string[]; eventsMax: number; isOver: () => boolean },
): Promise<number | 'busy' | 'over'> {
  const lost = new Set<string>();
  for (let isMany = false, mayBePart = false; ;) {
    const hours = asked.filter((hour) => !lost.has(hour));
    const [first] = hours;
    if (first === undefined) return lost.size;
    try {
      if (isMany && !mayBePart) await expectAll(pool, move, meterId, first);
      mayBePart = isMany;
      const moved = await moveSlice(pool, move, meterId, { asked: hours, eventsMax, mayBePart });
      if (moved === 'busy') return moved;
      if (moved === 'done') return lost.size;
      if (isOver()) return 'over';
    } catch (error) {
      if (error instanceof LostHours) for (const hour of error.hours) lost.add(hour);
      else if (!(error instanceof TooMany)) throw error;
      // Only a single hour is cut.
      else if (hours.length > 1) {
        const left = await moveHalves(pool, move, meterId, { hours, eventsMax, isOver });
        return typeof left === 'number' ? lost.size + left : left;
      } else isMany = true;
    }
  }
}

/** The same where they have more than a slice, which may be events that are void. */
async function moveHalves(
  pool: pg.Pool,
  move: RunningMove,
  meterId: string,
  { hours, ...limits }: { hours: readonly string[]; eventsMax: number; isOver: () => boolean },
): ReturnType<typeof moveHours> {
  const middle = Math.ceil(hours.length / 2);
  const [first, second] = [hours.slice(0, middle), hours.slice(middle)];
  const lost = await moveHours(pool, move, meterId, { ...limits, hours: first });
  if (typeof lost === 'string') return lost;
  // As between slices: what stays is found again in each look.
  if (lost < first.length && limits.isOver()) return 'over';
  const more = await moveHours(pool, move, meterId, { ...limits, hours: second });
  return typeof more === 'string' ? more : lost + more;
}

async function moveSlice(
  pool: pg.Pool,
  move: RunningMove,
  meterId: string,
  { asked, eventsMax, mayBePart }: { asked: readonly string[]; eventsMax: number; mayBePart: boolean },
): Promise<'done' | 'part' | 'busy'> {
  return await inTransaction(pool, SLICE_MS_MAX, async (run) => {
    const isErased = move.kind === 'ERASE';
    const scope = scopeOf(move, meterId);
    const [closed] = isErased ? [] : await run<{ number: string; until: string }>(HOLD_CLOSING, scope);
    const meter = await lockMeter(run, scope);
    if (meter === undefined) {
      await run(WAITS_FOR_NO_KEY, [move.organization_id, meterId, move.id]);
      return 'busy';
    }
    await run(LOCK_DAYS, [...scope, asked]);
    const hours = await run<LockedHour>(LOCK_HOURS, [...scope, asked]);
    if (hours.length === 0) return 'done';
    const slice = [...scope, hours.map(({ hour }) => hour), meter.metadata_keys];
    const find = async () => {
      // One more than are moved tells that these are only a part.
      const found = (await run<{ id: string }>(FIND_EVENTS, [...slice, eventsMax + 1])).map(({ id }) => id);
      const isPart = found.length > eventsMax;
      if (isPart && !mayBePart) throw new TooMany();
      // The last one that counts is left for the last part, and so is the row of the hour: without it nobody looks for the values of parts.
      return { ids: isPart ? found.filter((id) => id !== hours[0]?.last_event_id).slice(0, eventsMax) : found, isPart };
    };
    for (const text of statementsOfParts(meter)) {
      const { ids, isPart } = await find();
      if (isPart) break;
      const [values] = await run<{ taken: number }>(text, [...slice, ids, eventsMax]);
      if ((values?.taken ?? 0) < eventsMax) continue;
      if (!mayBePart) throw new TooMany();
      return 'part';
    }
    const found = await moveAllFound(run, move, hours, async () => {
      const { ids, isPart } = await find();
      if (isErased && (await isNamed(run, move, [...slice, ids], meter))) return 'named';
      const [text, ...values] = isErased
        ? [eraseEvents(isPart), countsValues(meter.aggregation_type)]
        : [moveEvents(isPart), closed?.number ?? '0', closed?.until ?? '-infinity'];
      return { ids, hours: await run<MovedHour>(text, [...slice, ids, ...values]), isPart };
    });
    if (found === 'named') {
      await run(WAITS_FOR_KEY, [move.organization_id, meterId, move.id]);
      return 'busy';
    }
    const { ids, isPart } = found;
    for (const text of statementsFor(meter, isPart)) await run(text, [...slice, ids]);
    if (!isErased)
      await run(TOUCH, touchValues(move.organization_id, [{ customerExternalId: move.to_external_id, meterId }]));
    await run(COUNT_MOVED, [
      move.organization_id,
      meterId,
      move.id,
      found.hours.reduce((sum, { events }) => sum + events, 0),
    ]);
    return isPart ? 'part' : 'done';
  });
}

const COUNT_MOVED = `UPDATE usage_moves SET events = events + $4::bigint, grouped_meter_id = nullif(grouped_meter_id, $2)
  WHERE organization_id = $1 AND id = $3`;
const WRITE_WHOLE = `UPDATE usage_moves SET stage_after = $3 WHERE organization_id = $1 AND id = $2 AND stage IS NULL`;
const WAITS_FOR_KEY = 'UPDATE usage_moves SET grouped_meter_id = $2 WHERE organization_id = $1 AND id = $3';
const WAITS_FOR_NO_KEY =
  'UPDATE usage_moves SET grouped_meter_id = NULL WHERE organization_id = $1 AND id = $3 AND grouped_meter_id = $2';

/**
 * Whether usage is grouped by what names the customer: also by a key that the meter got since the erasure was asked for, of events that
 * were recorded since, and of a day that has more groups than are kept. That groups are made anew without the key is for its admins to
 * say, to whom the erasure tells the meter.
 */
async function isNamed(
  run: Run,
  { id }: RunningMove,
  slice: readonly unknown[],
  { metadata_keys: keys }: CountingMeter,
): Promise<boolean> {
  return keys.length > 0 && (await run(FIND_NAMED, [...slice, id])).length > 0;
}

/** Adds the distinct values of what has stayed behind in these hours where they are missing. False while the usage of the meter is being grouped. */
export async function repairValues(
  pool: pg.Pool,
  move: RunningMove,
  meterId: string,
  hours: string[],
): Promise<boolean> {
  return await inTransaction(pool, READ_MS_MAX, async (run) => {
    const scope = scopeOf(move, meterId);
    const meter = await lockMeter(run, scope);
    if (meter === undefined) return false;
    for (const text of repairsFor(meter)) await run(text, [...scope, hours, meter.metadata_keys]);
    return true;
  });
}

/** The first values of each statement. */
const scopeOf = (move: RunningMove, meterId: string): string[] => [
  move.organization_id,
  meterId,
  move.from_external_id,
  move.to_external_id,
];

type Run = <Row extends object>(text: string, values: readonly unknown[]) => Promise<Row[]>;

/** Undefined while its usage is being grouped. That does not begin before the transaction ends: it changes the row of the meter. */
async function lockMeter(run: Run, scope: readonly unknown[]): Promise<CountingMeter | undefined> {
  const [meter] = await run<CountingMeter>(LOCK_METER, scope);
  if (meter === undefined) throw new Error(`there is usage of the meter ${String(scope[1])}, and no such meter`);
  return (await run(FIND_BACKFILL, scope)).length === 0 ? meter : undefined;
}

async function inTransaction<Result>(
  pool: pg.Pool,
  millisecondsMax: number,
  use: (run: Run) => Promise<Result>,
): Promise<Result> {
  const work = async (client: pg.PoolClient): Promise<Result> => {
    await client.query(`SELECT set_config('lock_timeout', $1, true), set_config('statement_timeout', $2, true)`, [
      String(LOCK_WAIT_MS_MAX),
      String(millisecondsMax),
    ]);
    return await use(async <Row extends object>(text: string, values: readonly unknown[]) => {
      const { rows } = await client.query<Row>({
        ...onlyUsed(text, values),
        query_timeout: millisecondsMax,
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
