// Takes events out of the count, and records others in their place, in one transaction: corrections, rollups, what is late, and the
// new events. Whoever reads sees all of it or nothing of it.
//
// What holds others off, in the order in which the record statement takes it:
// - the closings of the organization, so that no closing falls between the number that a correction carries and its commit. Where a
//   meter counts distinct values nobody may record either: a record statement looks at which values are there before it waits for a
//   row, and would leave out one that is taken away meanwhile. Those that wait have looked, so they are made to begin again. Nor where a
//   meter names keys: that statement writes to the rows of groups first, of which only it knows which they are.
// - the rows of quarters, days and hours, behind which a record statement that is under way commits first. A part of a quarter that is
//   begun meanwhile is not held; where it is written to again while it is read, all is begun anew (take-usage.ts).
// Nobody who records waits for long: this gives way where it would have to wait, and is tried again, and what it does with either of these
// in hand is bounded.

import type { UsageEvent } from '@weir/shared/event';
import { newId } from '@weir/shared/ids';
import { countsValues, type AggregationType } from '@weir/shared/meter';
import { sql } from 'kysely';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { touchUsage } from '../alerts/touched-usage.ts';
import { plainArray, textArray } from '../array-text.ts';
import { InOtherHands, type Database, type Queries } from '../database.ts';
import { EVENT_JSON } from '../event-json.ts';
import { announceChange, holdKnown, holdRecording, limitWaits } from '../known-for-recording.ts';
import { tableOf } from '../months-taken-out.ts';
import { findMoveInTheWay, findMoveOfHours } from '../moves/usage-moves.ts';
import { countAccepted } from '../accepted.ts';
import { organizationsOf, recordOnce, whileRetried } from '../record.ts';
import { BEGINNING, ROLLUPS } from '../rollups.ts';
import { runsOf, type Runs } from '../runs.ts';
import { validate } from '../validate.ts';
import { boundQueries, limitStatements } from './bounded-queries.ts';
import { findVoided, type Correction } from './corrections.ts';
import { statementsFor, type Taken } from './take-usage.ts';
import { findTakenOut } from './taken-out.ts';

/** What a new event has in place of the one that is void; what is missing stays. */
export interface Amendment {
  /** A plain decimal. */
  quantity?: string | undefined;
  /** ISO 8601 UTC, to the microsecond. */
  timestamp?: string | undefined;
  /** JSON text; null: none. */
  metadata?: string | null | undefined;
}

export interface AskedCorrection {
  eventId: string;
  reason: string;
  /** Without it, nothing counts in place of the event. */
  amendment?: Amendment | undefined;
}

/** Why one of what was asked for cannot be done. Nothing of it is done then. */
export type RefusedCorrection = { index: number } & (
  | { why: 'not_recorded' }
  /** What is left of its hour cannot be told: others of it are in a month that was taken out. `table` is the partition to attach. */
  | { why: 'hour_taken_out'; table: string }
  /** `id` is that of its correction. */
  | { why: 'voided'; id: string }
  /** The meter does not take the new metadata. */
  | { why: 'not_taken'; reason: string }
);

/** An event that is void by a correction, or that counts in the place of one. */
export interface ChangedEvent {
  event: UsageEvent;
  /** How its meter counts. */
  aggregation: AggregationType;
  isNew: boolean;
}

export type Corrected =
  /** `queries` are for what comes after in the transaction: what is asked by them counts among what is done while others are held off. */
  | { outcome: 'corrected'; corrections: Correction[]; changed: ChangedEvent[]; queries: Queries }
  | { outcome: 'refused'; refused: RefusedCorrection[] }
  /** The usage of a customer is being moved or erased. */
  | { outcome: 'moving'; id: string }
  /** Usage of another external id is being moved into an hour of an event. */
  | { outcome: 'moved_into'; id: string }
  /** The usage of a meter is being grouped by new metadata keys. */
  | { outcome: 'grouping' };

/** Below the second after which Postgres looks for a deadlock: it is this that gives way, and no record statement. */
const LOCK_WAIT_MS_MAX = 500;

/** As long as a person waits, and no longer than an API that is told to stop has. */
const MS_MAX = 3_000;

/**
 * All statements together may take as long from when others are held off to when the correction is made, those that wait for rows before
 * as long, and each that its caller has for the end of the transaction as long again: what waits is usage of others, too. Below the time after which a worker gives a batch up.
 */
const STOP_MS_MAX = 2_000;

/** What is held off: all that the organization records, or what others record into the same quarters, days and hours. */
export type Stopped = 'organization' | 'same rows';

/** Who is told how long recording is held off. */
export interface StopWatch {
  /** Just before that of the organization is, and when all of the rows are held. */
  onStop: (stopped: Stopped) => void;
  /** At the end of each transaction, also of one that held nothing off. */
  onEnd: () => void;
}

/** Between two looks at an event it was given to another customer, usage that it is in was recorded, or others held it for long. */
class Overtaken extends InOtherHands {
  constructor(cause?: unknown) {
    super('usage that the events are in is recorded or moved again and again', { cause });
  }
}

/** Who gave way waits for so long: at random, so that two of them do not meet again. */
const PAUSE_MS = 10;
const PAUSE_MS_MAX = 40;

/** Does again what another transaction was in the way of. Throws what is unavailable (database.ts) when somebody is in the way for long. */
export async function whileInTheWay<Value>(attempt: () => Promise<Value>): Promise<Value> {
  const until = performance.now() + MS_MAX;
  for (;;) {
    try {
      return await whileRetried(attempt);
    } catch (error) {
      const isCollision =
        error instanceof Overtaken || (error instanceof pg.DatabaseError && /^(40|55P03)/.test(error.code ?? ''));
      if (!isCollision || performance.now() > until) throw error;
    }
    await delay(PAUSE_MS + Math.random() * (PAUSE_MS_MAX - PAUSE_MS));
  }
}

interface FoundEvent {
  event: UsageEvent;
  aggregation: AggregationType;
  isGrouped: boolean;
}

/**
 * Makes corrections, each of another event, all of them or none. `transaction` has done nothing but for its request before; where the
 * outcome is another than `corrected` it is to be rolled back. See {@link whileInTheWay} for what it throws, and a StopTooLong where others
 * would be held off for long.
 */
export async function correctEvents(
  { pool }: Database,
  transaction: Queries,
  organizationId: string,
  actor: string,
  asked: readonly AskedCorrection[],
  onStop: StopWatch['onStop'] = () => {},
): Promise<Corrected> {
  await limitWaits(transaction, LOCK_WAIT_MS_MAX);
  const ids = asked.map(({ eventId }) => eventId);
  const found = await findEvents(transaction, organizationId, ids);
  const known = await findVoided(transaction, organizationId, ids);
  const refused = refusedOf(asked, found, known);
  if (refused.length > 0) return { outcome: 'refused', refused };
  const events = [...found.values()];
  const amended = asked.map((each) => amendedEvent(found, each));
  const fresh = amended.flatMap((event) => (event === undefined ? [] : [event]));

  const hasValues = events.some(({ aggregation }) => countsValues(aggregation));
  const isGrouped = events.some((event) => event.isGrouped);
  const isStop = hasValues || isGrouped;
  if (isStop) {
    onStop('organization');
    await holdRecording(transaction, organizationId);
  }
  const inTime = (tooLong?: (cause?: unknown) => Error) =>
    boundQueries(transaction, performance.now() + STOP_MS_MAX, tooLong);
  // Who waits for rows meets others, however few events there are: that it takes long is no reason to send fewer.
  const waiting = isStop ? inTime() : inTime((cause) => new Overtaken(cause));
  const closed = await readClosed(waiting, organizationId);
  const inTheWay = await findInTheWay(waiting, organizationId, events);
  if (inTheWay !== undefined) return inTheWay;
  for (const [text, values] of locksOf(organizationId, [...events.map(({ event }) => event), ...fresh]))
    await runsOf(waiting).query(text, values);
  if (!isStop) onStop('same rows');
  const queries = isStop ? waiting : inTime();
  const runs = runsOf(queries);
  const locked = await findEvents(queries, organizationId, ids);
  for (const { event } of events)
    if (locked.get(event.id)?.event.customer_external_id !== event.customer_external_id) throw new Overtaken();
  const takenOut = await findTakenOut(
    queries,
    organizationId,
    events.map(({ event }) => event),
  );
  if (takenOut.size > 0) {
    const ofThose = [...ids.entries()].flatMap(([index, id]): RefusedCorrection[] => {
      const month = takenOut.get(id);
      return month === undefined ? [] : [{ index, why: 'hour_taken_out', table: tableOf(month) }];
    });
    return { outcome: 'refused', refused: ofThose };
  }

  const corrections = await insertCorrections(queries, organizationId, {
    asked,
    found,
    amended,
    actor,
    closing: closed.number,
  });
  if (corrections.length < asked.length) {
    const voided = await findVoided(queries, organizationId, ids);
    const own = new Set(corrections.map(({ event_id }) => event_id));
    return {
      outcome: 'refused',
      refused: refusedOf(asked, found, new Map([...voided].filter(([id]) => !own.has(id)))),
    };
  }

  let valuesGone = 0;
  for (const text of statementsFor({ isGrouped, hasValues })) {
    const { rows } = await runs.query<Taken>(text, [organizationId, plainArray(ids)]);
    const { gone = 0, missed = 0 } = rows[0] ?? {};
    if (missed > 0) throw new Overtaken();
    valuesGone += gone;
  }
  await runs.query(INSERT_LATE, [organizationId, plainArray(ids), closed.number, closed.until]);
  await touchUsage(
    queries,
    organizationId,
    events.map(({ event }) => ({ customerExternalId: event.customer_external_id, meterId: event.meter_id })),
  );
  await record(pool, runs, fresh, found);
  if (valuesGone > 0) await announceChange(queries, organizationId);
  // What is left of the time may be too little for a commit that waits for a standby.
  await limitStatements(transaction, STOP_MS_MAX);
  return { outcome: 'corrected', corrections, changed: changedOf(events, fresh), queries };
}

/** A new event is of the meter of the one that it counts in the place of. */
function changedOf(events: readonly FoundEvent[], fresh: readonly UsageEvent[]): ChangedEvent[] {
  const aggregations = aggregationsOf(events);
  const newOnes = fresh.flatMap((event): ChangedEvent[] => {
    const aggregation = aggregations.get(event.meter_id);
    return aggregation === undefined ? [] : [{ event, aggregation, isNew: true }];
  });
  return [...events.map(({ event, aggregation }) => ({ event, aggregation, isNew: false })), ...newOnes];
}

/** How each of the meters counts. */
const aggregationsOf = (found: Iterable<FoundEvent>): Map<string, AggregationType> =>
  new Map([...found].map(({ event, aggregation }) => [event.meter_id, aggregation]));

async function findEvents(
  db: Queries,
  organizationId: string,
  ids: readonly string[],
): Promise<Map<string, FoundEvent>> {
  const { rows } = await sql<{ event: string; aggregation: AggregationType; is_grouped: boolean }>`
    SELECT found.event, aggregation_type AS aggregation, metadata_keys <> '{}' AS is_grouped
    FROM unnest(${plainArray(ids)}::uuid[]) AS asked (event_id)
    CROSS JOIN LATERAL (
      SELECT ${sql.raw(EVENT_JSON)} AS event, meter_id FROM events
      WHERE organization_id = ${organizationId}::uuid AND id = asked.event_id OFFSET 0
    ) AS found
    JOIN meters ON meters.organization_id = ${organizationId}::uuid AND meters.id = found.meter_id`.execute(db);
  return new Map(
    rows.map(({ event: text, aggregation, is_grouped: isGrouped }) => {
      const event = JSON.parse(text) as UsageEvent;
      return [event.id, { event, aggregation, isGrouped }];
    }),
  );
}

function refusedOf(
  asked: readonly AskedCorrection[],
  found: ReadonlyMap<string, FoundEvent>,
  voided: ReadonlyMap<string, string>,
): RefusedCorrection[] {
  return asked.flatMap(({ eventId, amendment }, index): RefusedCorrection[] => {
    const event = found.get(eventId);
    if (event === undefined) return [{ index, why: 'not_recorded' }];
    const id = voided.get(eventId);
    if (id !== undefined) return [{ index, why: 'voided', id }];
    if (amendment === undefined) return [];
    const reason = validate({ ...amendedBy(event.event, amendment), aggregation: event.aggregation });
    return reason === undefined ? [] : [{ index, why: 'not_taken', reason }];
  });
}

/** The event with what is new, under its own id. Its key stays with the one that is void. */
function amendedBy(event: UsageEvent, { quantity, timestamp, metadata }: Amendment): UsageEvent {
  const { metadata: former, idempotency_key: _, ...rest } = event;
  const text = metadata === undefined ? former : (metadata ?? undefined);
  return {
    ...rest,
    ...(quantity !== undefined && { quantity }),
    ...(timestamp !== undefined && { timestamp }),
    ...(text !== undefined && { metadata: text }),
  };
}

function amendedEvent(
  found: ReadonlyMap<string, FoundEvent>,
  { eventId, amendment }: AskedCorrection,
): UsageEvent | undefined {
  const event = found.get(eventId)?.event;
  if (event === undefined || amendment === undefined) return undefined;
  return { ...amendedBy(event, amendment), id: newId() };
}

interface Closed {
  number: string;
  until: string;
}

/** Holds the next closing off. What is returned is what is committed then. */
async function readClosed(db: Queries, organizationId: string): Promise<Closed> {
  const { rows } = await sql<Closed>`
    SELECT number, until::text FROM closings_of(ARRAY[${organizationId}::uuid])`.execute(db);
  return rows[0] ?? { number: '0', until: '-infinity' };
}

/** Neither begins while the closings are held: both hold them alone before they rely on what is recorded. */
async function findInTheWay(
  db: Queries,
  organizationId: string,
  events: readonly FoundEvent[],
): Promise<Corrected | undefined> {
  const customers = new Set(events.map(({ event }) => event.customer_external_id));
  const moving = await findMoveInTheWay(db, organizationId, ...customers);
  if (moving !== undefined) return { outcome: 'moving', id: moving };
  const into = await findMoveOfHours(
    db,
    organizationId,
    events.map(({ event }) => event),
  );
  if (into !== undefined) return { outcome: 'moved_into', id: into };
  const meters = [...new Set(events.map(({ event }) => event.meter_id))];
  const { rows } = await sql`SELECT FROM metadata_backfills
    WHERE organization_id = ${organizationId}::uuid AND meter_id = ANY (${meters}::uuid[]) LIMIT 1`.execute(db);
  return rows.length > 0 ? { outcome: 'grouping' } : undefined;
}

/**
 * The rows of usage that events are in, in the order in which the record statement writes to them, with those of the events that will
 * be recorded: asked for later, they would be locked in another order.
 */
function locksOf(organizationId: string, events: readonly UsageEvent[]): [text: string, values: unknown[]][] {
  const values = [
    organizationId,
    plainArray(events.map(({ meter_id }) => meter_id)),
    textArray(events.map(({ customer_external_id }) => customer_external_id)),
    plainArray(events.map(({ timestamp }) => timestamp)),
  ];
  const { customerUsageHours, customerUsageDays, meterUsageQuarters } = ROLLUPS;
  // Postgres runs the parts of a WITH that write and are not read last to first.
  const locks = [meterUsageQuarters, customerUsageDays, customerUsageHours].map(
    ({ table, grain, scope }): [string, unknown[]] => {
      const key = ['meter_id', ...(scope === 'customer' ? ['customer_external_id'] : []), grain];
      const touched = `SELECT DISTINCT meter_id, customer_external_id, ${BEGINNING[grain]('"timestamp"')} AS ${grain}
        FROM unnest($2::uuid[], $3::text[], $4::timestamptz[]) AS t (meter_id, customer_external_id, "timestamp")`;
      const text = `SELECT count(*) FROM (SELECT DISTINCT ${key.join(', ')} FROM (${touched}) AS touched ORDER BY ${key.join(', ')}) AS asked
        CROSS JOIN LATERAL (SELECT FROM ${table} AS kept WHERE organization_id = $1::uuid
          AND ${key.map((name) => `kept.${name} = asked.${name}`).join(' AND ')} FOR UPDATE) AS locked`;
      return [text, values];
    },
  );
  // As those do that write to rollups: a repair holds all of them off here, where nobody has a row in hand yet.
  return [[`LOCK TABLE ${customerUsageHours.table} IN ROW EXCLUSIVE MODE`, []], ...locks];
}

interface NewCorrections {
  asked: readonly AskedCorrection[];
  /** Their events, by id. */
  found: ReadonlyMap<string, FoundEvent>;
  amended: readonly (UsageEvent | undefined)[];
  actor: string;
  closing: string;
}

/** Returns those that were written, in the order in which they were asked for: an event that is void by now has one already. */
async function insertCorrections(
  db: Queries,
  organizationId: string,
  { asked, found, amended, actor, closing }: NewCorrections,
): Promise<Correction[]> {
  const events = asked.map(({ eventId }) => found.get(eventId)?.event);
  const { rows } = await sql<Correction>`
    INSERT INTO corrections (organization_id, event_id, id, reason, amended_by, closing, actor, event_meter_id, event_time)
    SELECT ${organizationId}::uuid, event_id, id, reason, amended_by, ${closing}::bigint, ${actor}, meter_id, event_time
    FROM unnest(${plainArray(asked.map(({ eventId }) => eventId))}::uuid[], ${plainArray(asked.map(() => newId()))}::uuid[],
      ${textArray(asked.map(({ reason }) => reason))}::text[], ${plainArray(amended.map((event) => event?.id ?? null))}::uuid[],
      ${plainArray(events.map((event) => event?.meter_id ?? null))}::uuid[],
      ${plainArray(events.map((event) => event?.timestamp ?? null))}::timestamptz[])
      AS t (event_id, id, reason, amended_by, meter_id, event_time)
    ORDER BY event_id ON CONFLICT (organization_id, event_id) DO NOTHING
    RETURNING id, event_id, reason, amended_by, actor, created_at`.execute(db);
  const ofEvent = new Map(rows.map((row) => [row.event_id, row]));
  return asked.flatMap(({ eventId }) => ofEvent.get(eventId) ?? []);
}

/** What was counted at a closing counts at it for ever: a void of a time that is closed is a late change, as a late event is. */
const INSERT_LATE = `
INSERT INTO late_events (organization_id, meter_id, customer_external_id, "timestamp", event_id, closing, quantity, voids)
SELECT organization_id, meter_id, customer_external_id, "timestamp", corrections.id, $3::bigint, quantity, events.id
FROM unnest($2::uuid[]) AS asked (event_id)
CROSS JOIN LATERAL (SELECT * FROM events WHERE organization_id = $1::uuid AND id = asked.event_id OFFSET 0) AS events
JOIN corrections USING (organization_id, event_id)
WHERE "timestamp" < $4::timestamptz`;

/** Records the new events by the statement that records all others, and counts them as accepted. */
async function record(
  pool: pg.Pool,
  runs: Runs,
  events: readonly UsageEvent[],
  found: ReadonlyMap<string, FoundEvent>,
): Promise<void> {
  if (events.length === 0) return;
  const aggregations = aggregationsOf(found.values());
  const recordable = events.map((event) => {
    const aggregation = aggregations.get(event.meter_id);
    return { event, countsUniqueValues: aggregation !== undefined && countsValues(aggregation) };
  });
  const known = await holdKnown(pool, runs, organizationsOf(recordable));
  const { recorded } = await recordOnce(known, runs, recordable);
  if (recorded !== events.length) throw new Error(`of ${events.length} new events ${recorded} were recorded`);
  await countAccepted(runs, events);
}
