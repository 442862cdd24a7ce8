// What becomes of the events of a batch: validate → record → reject. A worker does this with what it reads from Redis, and an API with
// what Redis does not take (record-directly.ts). Whoever does it, and however often, each event is counted once.

import type { StagedEvent } from '@weir/shared/event';
import { countsValues } from '@weir/shared/meter';
import { isBadData, isMissingReference, isTimedOut, type Database } from './database.ts';
import type { ReusedKey } from './held-keys.ts';
import { findExistingMeters } from './meters.ts';
import { findExistingOrganizations } from './organizations.ts';
import { forgetPerhapsStaged } from './perhaps-staged.ts';
import {
  deleteRejected,
  findRecorded,
  recordEvents,
  rejectEvents,
  type RecordableEvent,
  type Recorded,
  type RejectedEvent,
} from './record.ts';
import { validate } from './validate.ts';

/** An event that its meter takes. */
export interface AcceptedEvent extends RecordableEvent {
  event: StagedEvent;
}

interface Validated {
  accepted: AcceptedEvent[];
  rejected: RejectedEvent[];
}

/** Outcomes of the events of a batch. Recorded and duplicates are counted once at most, rejected and reused at every delivery. */
export interface Persisted {
  recorded: number;
  duplicates: number;
  rejected: number;
  /** How many of the rejected ones came with the idempotency key of an event with another payload. */
  reused: number;
}

/** Records the events of a batch that was staged. `unknown`: those of organizations that the database does not have, of which nothing is kept. */
export async function recordBatch(
  database: Database,
  events: readonly StagedEvent[],
): Promise<Persisted & { unknown: ReadonlySet<StagedEvent> }> {
  const { accepted, rejected } = onceEach(validateAll(events));
  const open = await notRecorded(database, accepted);
  const { recorded, duplicates, reused, refused } = await recordOrSplit(database, open, (part) =>
    recordEvents(database.pool, part),
  );
  const notCounted = [...rejected, ...refused, ...rejectReused(accepted, reused)];
  const unknown = await findUnknown(
    database,
    notCounted.map(({ event }) => event),
  );
  const kept = notCounted.filter(({ event }) => !unknown.has(event));
  await rejectEvents(database.pool, kept);
  const isNotCounted = new Set(notCounted.map(({ event }) => event.id));
  await deleteRejected(
    database.pool,
    events.filter((event) => event.replayed === true && !isNotCounted.has(event.id)),
  );
  // Where all are new here, nobody has recorded one of them before.
  if (recorded + duplicates < events.length) await forgetPerhapsStaged(database.pool, events);
  return { recorded, duplicates, rejected: kept.length, reused: reused.length, unknown };
}

/** Which of these events are of organizations that the database does not have. */
export async function findUnknown(
  { kysely }: Database,
  events: readonly StagedEvent[],
): Promise<ReadonlySet<StagedEvent>> {
  const ids = [...new Set(events.map((event) => event.organization_id))];
  const there = await findExistingOrganizations(kysely, ids);
  return new Set(events.filter((event) => !there.has(event.organization_id)));
}

/** An event that was replayed with several keys must not take the others once it is recorded under one of them. */
export async function notRecorded(database: Database, events: AcceptedEvent[]): Promise<AcceptedEvent[]> {
  const replayed = events.flatMap(({ event }) => (event.replayed === true ? [event] : []));
  if (replayed.length === 0) return events;
  const recorded = await findRecorded(database.pool, replayed);
  return events.filter(({ event }) => !recorded.has(event.id));
}

function rejectReused(accepted: readonly AcceptedEvent[], reused: readonly ReusedKey[]): RejectedEvent[] {
  const holders = new Map(reused.map(({ event, holder }) => [event.id, holder]));
  if (holders.size === 0) return [];
  return accepted.flatMap(({ event }) => {
    const holder = holders.get(event.id);
    if (holder === undefined) return [];
    const reason =
      `the event ${holder} holds this idempotency_key and has another payload: replay this one with an idempotency_key of ` +
      'its own if it is to count as well';
    return [{ event, reason }];
  });
}

/** Tells the events that their meters take from the others. */
export function validateAll(events: readonly StagedEvent[]): Validated {
  const accepted: AcceptedEvent[] = [];
  const rejected: RejectedEvent[] = [];
  for (const event of events) {
    const reason = validate(event);
    if (reason === undefined) accepted.push({ event, countsUniqueValues: countsValues(event.aggregation) });
    else rejected.push({ event, reason });
  }
  return { accepted, rejected };
}

/**
 * Each event once: one that was replayed several times may be in a batch as often, with different corrections. If one of them
 * is accepted the event is; otherwise the last one's reason stands.
 */
export function onceEach(validated: Validated): Validated {
  const accepted = new Map(validated.accepted.map((each) => [each.event.id, each]));
  const rejected = new Map(validated.rejected.map((each) => [each.event.id, each]));
  for (const id of accepted.keys()) rejected.delete(id);
  return { accepted: [...accepted.values()], rejected: [...rejected.values()] };
}

type RecordedOrRefused = Recorded & { refused: RejectedEvent[] };

/**
 * Records events with `record`, which writes each once, however often it is given. Where Postgres will not take one, halves them until
 * that one is alone, and refuses only it. What took too long is halved as well: a Postgres that is slow gets less at once. Where `record`
 * throws it may have written some already: they are counted no more, which metrics alone miss.
 */
export async function recordOrSplit(
  database: Database,
  events: AcceptedEvent[],
  record: (events: AcceptedEvent[]) => Promise<Recorded>,
): Promise<RecordedOrRefused> {
  try {
    return { ...(await record(events)), refused: [] };
  } catch (error) {
    if (isMissingReference(error)) return recordWithMeter(database, events, record, error);
    const [first] = events;
    const isBad = isBadData(error);
    if ((!isBad && !isTimedOut(error)) || first === undefined) throw error;
    if (events.length === 1) {
      if (!isBad) throw error;
      const why = error instanceof Error ? error.message : String(error);
      return {
        recorded: 0,
        duplicates: 0,
        reused: [],
        refused: [{ event: first.event, reason: `Postgres does not take it: ${why}` }],
      };
    }
  }
  const middle = Math.ceil(events.length / 2);
  const left = await recordOrSplit(database, events.slice(0, middle), record);
  const right = await recordOrSplit(database, events.slice(middle), record);
  return {
    recorded: left.recorded + right.recorded,
    duplicates: left.duplicates + right.duplicates,
    reused: [...left.reused, ...right.reused],
    refused: [...left.refused, ...right.refused],
  };
}

/** Records the events whose meter is there, and refuses the others: a meter may go while its events wait. */
async function recordWithMeter(
  database: Database,
  events: AcceptedEvent[],
  record: (events: AcceptedEvent[]) => Promise<Recorded>,
  error: unknown,
): Promise<RecordedOrRefused> {
  const meters = await findExistingMeters(database.kysely, [...new Set(events.map(({ event }) => event.meter_id))]);
  const there = new Set(meters.map(({ organization_id, id }) => organization_id + id));
  const hasMeter = ({ event }: AcceptedEvent) => there.has(event.organization_id + event.meter_id);
  const refused = events.flatMap((each): RejectedEvent[] =>
    hasMeter(each) ? [] : [{ event: each.event, reason: 'the meter does not exist any more' }],
  );
  // All of them are there by now: the next attempt records them.
  if (refused.length === 0) throw error;
  const recorded = await recordOrSplit(database, events.filter(hasMeter), record);
  return { ...recorded, refused: [...recorded.refused, ...refused] };
}
