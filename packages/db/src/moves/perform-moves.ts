// What a worker does of moves, again and again until they are done. Nothing is remembered between two looks but what is in the tables:
// an hour that is moved is not found again, and the walks over all else write down how far they are. So whoever dies is followed by
// whoever looks next.
//
// A move is done when a look that began after all that was accepted before the request had been recorded has found nothing more. What
// is sent later under the former id is usage of that id, and stays.

import { sql } from 'kysely';
import type pg from 'pg';
import type { Database, Queries } from '../database.ts';
import { makeRecordersLookAgain } from '../known-for-recording.ts';
import { ROLLUPS } from '../rollups.ts';
import { endErasure, ERASURE_WALKS } from './finish-erasure.ts';
import { moveHours, nextHours, repairValues, SLICE_EVENTS_MAX } from './move-slice.ts';
import { moveVoided } from './move-voided.ts';
import { listRunningMoves, type RunningMove } from './usage-moves.ts';

/** Whether all events of an organization that were accepted before are recorded. */
export type IsRecorded = (organizationId: string, acceptedBefore: string) => Promise<boolean>;

/**
 * Goes on with all moves that are not done, until the time is over; one slice at least. Safe to run in several processes at once, and
 * to be cut off anywhere. Returns those that are done now. One that cannot go on does not hold up the others: `onError` hears of it. Hours
 * of which events are lost for good stay under the former id: `onLost` hears how many there are, once the others are moved.
 */
export async function performMoves(
  database: Database,
  milliseconds: number,
  isRecorded: IsRecorded,
  onError: (error: unknown, move: RunningMove) => void,
  onLost: OnLost = () => {},
  eventsMax: number = SLICE_EVENTS_MAX,
): Promise<RunningMove[]> {
  const until = performance.now() + milliseconds;
  const isOver = () => performance.now() > until;
  const done: RunningMove[] = [];
  for (const move of await listRunningMoves(database.kysely)) {
    try {
      if (await goOn(database, move, isRecorded, { isOver, onLost, eventsMax })) done.push(move);
    } catch (error) {
      onError(error, move);
    }
    if (isOver()) break;
  }
  return done;
}

type OnLost = (hours: number, move: RunningMove) => void;

async function goOn(
  database: Database,
  move: RunningMove,
  isRecorded: IsRecorded,
  { isOver, onLost, eventsMax }: { isOver: () => boolean; onLost: OnLost; eventsMax: number },
): Promise<boolean> {
  const { kysely, pool } = database;
  if (move.moved_at === null) {
    const isAllThere = await isRecorded(move.organization_id, move.created_at);
    let lost = 0;
    const isMoved = await eachSlice(pool, move, eventsMax, async (meterId, hours) => {
      const left = await moveHours(pool, move, meterId, { hours, eventsMax, isOver });
      if (left === 'busy' || left === 'over') return left;
      lost += left;
      // What stays is found again in each look: it must not take the time of what can be moved.
      return left < hours.length && isOver() ? 'over' : 'done';
    });
    if (!isMoved || !isAllThere) return false;
    if (lost > 0) onLost(lost, move);
    await sql`UPDATE usage_moves SET moved_at = now()
      WHERE organization_id = ${move.organization_id}::uuid AND id = ${move.id}::uuid`.execute(kysely);
  }
  if (move.stage === null) {
    // From here on no statement records that began before what was moved was committed.
    if (await hasMoved(kysely, move))
      await kysely.transaction().execute((transaction) => makeRecordersLookAgain(transaction, move.organization_id));
    await goTo(kysely, move, REPAIRING);
  }
  if (move.stage === null || move.stage === REPAIRING) {
    const isWhole = await eachSlice(pool, move, eventsMax, async (meterId, hours) =>
      (await repairValues(pool, move, meterId, hours)) ? 'done' : 'busy',
    );
    if (!isWhole) return false;
  }
  if (!(await walkOn(kysely, move, isOver))) return false;
  return await kysely
    .transaction()
    .execute((transaction) => (move.kind === 'ERASE' ? endErasure : endMove)(transaction, move));
}

/**
 * Whether a move may have moved anything: where it has not, nobody is made to record anew. Usage of months that are lost has no
 * events, and is found under the new id.
 */
async function hasMoved(db: Queries, { organization_id, id, to_external_id }: RunningMove): Promise<boolean> {
  const { rows } = await sql`
    SELECT FROM usage_moves WHERE organization_id = ${organization_id}::uuid AND id = ${id}::uuid AND events > 0
    UNION ALL SELECT FROM meters CROSS JOIN LATERAL (
      SELECT FROM ${sql.table(ROLLUPS.customerUsageHours.table)} AS hours WHERE hours.organization_id = meters.organization_id
        AND hours.meter_id = meters.id AND hours.customer_external_id = ${to_external_id}::text LIMIT 1) AS used
    WHERE meters.organization_id = ${organization_id}::uuid LIMIT 1`.execute(db);
  return rows.length > 0;
}

/** The stage before the walks. */
const REPAIRING = 'values';

/** Goes on with the walks over what is left, one after the other; true: all of them have come to their ends. */
async function walkOn(db: Queries, move: RunningMove, isOver: () => boolean): Promise<boolean> {
  const walks = Object.entries({ voided: moveVoided, ...(move.kind === 'ERASE' ? ERASURE_WALKS : {}) });
  const known = walks.findIndex(([stage]) => stage === move.stage);
  let after = known === -1 ? '' : move.stage_after;
  for (let index = Math.max(0, known); ;) {
    const next = await walks[index]?.[1](db, move, after);
    if (next === undefined) index += 1;
    after = next ?? '';
    const stage = walks[index]?.[0];
    if (stage === undefined) return true;
    if (!(await goTo(db, move, stage, after)) || isOver()) return false;
  }
}

/** Writes down how far a move is. False: it is done, by somebody else. */
async function goTo(db: Queries, { organization_id, id }: RunningMove, stage: string, after = ''): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`UPDATE usage_moves SET stage = ${stage}, stage_after = ${after}
    WHERE organization_id = ${organization_id}::uuid AND id = ${id}::uuid AND finished_at IS NULL`.execute(db);
  return numAffectedRows > 0n;
}

async function endMove(db: Queries, { organization_id, id }: RunningMove): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`UPDATE usage_moves SET finished_at = now()
    WHERE organization_id = ${organization_id}::uuid AND id = ${id}::uuid AND finished_at IS NULL`.execute(db);
  return numAffectedRows > 0n;
}

/** What became of a slice: its meter may have no time for it, or nobody for the rest. */
type Slice = 'done' | 'busy' | 'over';

/** Goes through the usage that is left, from meter to meter and from hour to hour; true: all of it is done. */
async function eachSlice(
  pool: pg.Pool,
  move: RunningMove,
  eventsMax: number,
  use: (meterId: string, hours: string[]) => Promise<Slice>,
): Promise<boolean> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT meters.id FROM meters CROSS JOIN LATERAL (
       SELECT FROM ${ROLLUPS.customerUsageHours.table} AS hours WHERE hours.organization_id = meters.organization_id
         AND hours.meter_id = meters.id AND hours.customer_external_id = $2::text LIMIT 1) AS used
     WHERE meters.organization_id = $1::uuid ORDER BY meters.id`,
    [move.organization_id, move.from_external_id],
  );
  let isDone = true;
  for (const { id } of rows) {
    const last = await eachSliceOf(pool, move, id, { eventsMax, use });
    if (last === 'over') return false;
    isDone &&= last === 'done';
  }
  return isDone;
}

async function eachSliceOf(
  pool: pg.Pool,
  move: RunningMove,
  meterId: string,
  { eventsMax, use }: { eventsMax: number; use: (meterId: string, hours: string[]) => Promise<Slice> },
): Promise<Slice> {
  for (let after = '-infinity'; ;) {
    const hours = await nextHours(pool, move, meterId, { after, eventsMax });
    const last = hours.at(-1);
    if (last === undefined) return 'done';
    const slice = await use(meterId, hours);
    if (slice !== 'done') return slice;
    after = last;
  }
}
