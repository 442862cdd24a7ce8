// One batch, from Redis to Postgres: load → validate → record → reject → take off. Whatever dies in between, the batch is still
// in Redis and comes again, and recording it again changes nothing. Only after the commit is it taken off Redis, and only
// if nothing has joined it meanwhile. Events of an organization that the database does not have stay where they are.

import { isBadData, isMissingReference, isTimedOut, type Database } from '@weir/db/database';
import type { ReusedKey } from '@weir/db/held-keys';
import { findExistingMeters } from '@weir/db/meters';
import { findExistingOrganizations } from '@weir/db/organizations';
import {
  deleteRejected,
  findRecorded,
  recordEvents,
  rejectEvents,
  type RecordableEvent,
  type Recorded,
  type RejectedEvent,
} from '@weir/db/record';
import { awaitStandby } from '@weir/db/standby';
import { leaveOnly, readBatch, takeOff } from '@weir/queue/batches';
import type { QueueConnection } from '@weir/queue/connection';
import type { Ownership } from '@weir/queue/ownership';
import type { StagedEvent } from '@weir/shared/event';
import { countsValues } from '@weir/shared/meter';
import { validate } from './validate.ts';

export interface PersistDeps {
  database: Database;
  queue: QueueConnection;
  ownership: Pick<Ownership, 'check'>;
}

interface AcceptedEvent extends RecordableEvent {
  event: StagedEvent;
}

interface Validated {
  accepted: AcceptedEvent[];
  rejected: RejectedEvent[];
}

/** Outcomes of the events of a batch. Recorded and duplicates are counted once, rejected and reused at every delivery. */
export interface Persisted {
  recorded: number;
  duplicates: number;
  rejected: number;
  /** How many of the rejected ones came with the idempotency key of an event with another payload. */
  reused: number;
}

/**
 * Some events are of an organization that this database does not have: they may be another database's, or this one was
 * restored from before it signed up. They are kept, and tried again; the others of the batch are recorded.
 */
export class UnknownOrganization extends Error {
  readonly organizationId: string;
  /** Outcomes of the others. */
  readonly persisted: Persisted;

  constructor(organizationId: string, persisted: Persisted) {
    super(`the database has no organization ${organizationId}: its events are kept in the queue`);
    this.organizationId = organizationId;
    this.persisted = persisted;
  }
}

/**
 * Persists a batch. One that is gone already is no error: its job came twice. Throws while Postgres or Redis is away, a
 * NotOurQueue when the queue belongs to another database, and an UnknownOrganization. `isRetry`: it was tried before.
 */
export async function persist(deps: PersistDeps, id: string, isRetry = false): Promise<Persisted> {
  const { database, queue, ownership } = deps;
  const persisted: Persisted = { recorded: 0, duplicates: 0, rejected: 0, reused: 0 };
  for (;;) {
    // Both are asked in one go.
    const [batch] = await Promise.all([readBatch(queue, id), ownership.check()]);
    const { events } = batch;
    if (events.length > 0) {
      // To find out by inserting them that events are of an unknown organization would cost as much at each attempt.
      const unknown = isRetry ? await findUnknown(database, events) : new Set<StagedEvent>();
      const more = await persistEvents(
        database,
        events.filter((event) => !unknown.has(event)),
      );
      for (const outcome of ['recorded', 'duplicates', 'rejected', 'reused'] as const)
        persisted[outcome] += more[outcome];
      // The rest was there already, perhaps on this server alone. What was recorded just now is on its standby as well.
      if (more.recorded < events.length) await awaitStandby(database.kysely);
      const staying = [...unknown, ...more.unknown];
      const [first] = staying;
      if (first !== undefined) {
        if (staying.length < events.length) await leaveOnly(queue, batch, staying);
        throw new UnknownOrganization(first.organization_id, persisted);
      }
    }
    // From here on these events are in Postgres for good, so Redis may forget them.
    if (await takeOff(queue, batch)) return persisted;
  }
}

async function persistEvents(
  database: Database,
  events: StagedEvent[],
): Promise<Persisted & { unknown: ReadonlySet<StagedEvent> }> {
  const { accepted, rejected } = onceEach(validateAll(events));
  const { recorded, duplicates, reused, refused } = await recordOrSplit(
    database,
    await notRecorded(database, accepted),
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
  return { recorded, duplicates, rejected: kept.length, reused: reused.length, unknown };
}

/** Which of these events are of organizations that the database does not have. */
async function findUnknown({ kysely }: Database, events: readonly StagedEvent[]): Promise<ReadonlySet<StagedEvent>> {
  const ids = [...new Set(events.map((event) => event.organization_id))];
  const there = await findExistingOrganizations(kysely, ids);
  return new Set(events.filter((event) => !there.has(event.organization_id)));
}

/** An event that was replayed with several keys must not take the others once it is recorded under one of them. */
async function notRecorded(database: Database, events: AcceptedEvent[]): Promise<AcceptedEvent[]> {
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

function validateAll(events: readonly StagedEvent[]): Validated {
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
function onceEach(validated: Validated): Validated {
  const accepted = new Map(validated.accepted.map((each) => [each.event.id, each]));
  const rejected = new Map(validated.rejected.map((each) => [each.event.id, each]));
  for (const id of accepted.keys()) rejected.delete(id);
  return { accepted: [...accepted.values()], rejected: [...rejected.values()] };
}

type RecordedOrRefused = Recorded & { refused: RejectedEvent[] };

/**
 * Records events. Where Postgres will not take one, halves the batch until that one is alone, and refuses only it. A batch
 * that took too long is halved as well: a Postgres that is slow gets less at once.
 */
async function recordOrSplit(database: Database, events: AcceptedEvent[]): Promise<RecordedOrRefused> {
  try {
    return { ...(await recordEvents(database.pool, events)), refused: [] };
  } catch (error) {
    if (isMissingReference(error)) return recordWithMeter(database, events, error);
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
  const left = await recordOrSplit(database, events.slice(0, middle));
  const right = await recordOrSplit(database, events.slice(middle));
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
  const recorded = await recordOrSplit(database, events.filter(hasMeter));
  return { ...recorded, refused: [...recorded.refused, ...refused] };
}
