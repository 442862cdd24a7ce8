// One batch, from Redis to Postgres: load → judge → record → reject → unlink. Whatever dies in between, the batch is still
// in Redis and comes again, and recording it again changes nothing. Only after the commit is it taken off Redis, and only
// if nothing has joined it meanwhile. Events of an organization that the database does not have stay where they are.

import { isBadData, isTimedOut, type Database } from '@weir/db/database';
import type { ReusedKey } from '@weir/db/held-keys';
import {
  deleteRejected,
  findRecorded,
  recordEvents,
  rejectEvents,
  type RecordableEvent,
  type Recorded,
  type RejectedEvent,
} from '@weir/db/record';
import type { StagedEvent } from '@weir/shared/event';
import type { Ownership } from '@weir/shared/ownership';
import type { QueueKeys } from '@weir/shared/queue';
import {
  STAGED_SEPARATOR,
  firstStagedText,
  stagedBytesByOrganization,
  stagedEvents,
  stagedText,
} from '@weir/shared/staged';
import type { Redis } from 'ioredis';
import { judge } from './judge.ts';
import type { Aggregations } from './aggregations.ts';

export interface PersistParts {
  database: Database;
  redis: Redis;
  keys: QueueKeys;
  ownership: Pick<Ownership, 'check'>;
  aggregations: Aggregations;
}

interface Judged {
  accepted: RecordableEvent[];
  rejected: RejectedEvent[];
  /** Of organizations that the database does not have. */
  unknown: StagedEvent[];
}

/** What became of the events of a batch. Recorded and duplicates are counted once, rejected and reused at every delivery. */
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
  /** What became of the others. */
  readonly persisted: Persisted;

  constructor(organizationId: string, persisted: Persisted) {
    super(`the database has no organization ${organizationId}: its events are kept in the queue`);
    this.organizationId = organizationId;
    this.persisted = persisted;
  }
}

/**
 * Persists a batch. One that is gone already is no error: its job came twice. Throws while Postgres or Redis is away, a
 * NotOurQueue when the queue belongs to another database, and an UnknownOrganization.
 */
export async function persist(parts: PersistParts, batch: string): Promise<Persisted> {
  const { redis, keys } = parts;
  const persisted: Persisted = { recorded: 0, duplicates: 0, rejected: 0, reused: 0 };
  for (;;) {
    // Both are asked in one go.
    const [flushes] = await Promise.all([redis.lrange(keys.batch(batch), 0, -1), parts.ownership.check()]);
    const events = stagedEvents(flushes);
    if (events.length > 0) {
      const more = await persistEvents(parts, events);
      for (const outcome of ['recorded', 'duplicates', 'rejected', 'reused'] as const)
        persisted[outcome] += more[outcome];
      const [unknown] = more.unknown;
      if (unknown !== undefined) {
        if (more.unknown.length < events.length) await leaveOnly(parts, batch, { flushes, events }, more.unknown);
        throw new UnknownOrganization(unknown.organization_id, persisted);
      }
    }
    // From here on these events are in Postgres for good, so Redis may forget them.
    const first = flushes[0] === undefined ? '' : firstStagedText(flushes[0]);
    const waited = [...stagedBytesByOrganization(flushes, events)].flat();
    const takenOff = [keys.batch(batch), keys.staged, keys.waiting];
    const isOff = await redis.eval(TAKE_OFF, 3, ...takenOff, batch, flushes.length, first, ...waited);
    if (isOff === 1) return persisted;
  }
}

// An API that was kept from running for a while may still add to a batch whose job the sweeper has added meanwhile. Flushes
// only ever join a batch, so as many as were read, with the same one first, are those that were read. One that joins after
// another worker has taken the batch off begins it anew, and never with the text that the batch began with before.
// What is taken off no longer counts for those that wait. When nothing waits, the count begins anew, whatever it had come to.
const TAKE_OFF = `
if redis.call('LLEN', KEYS[1]) ~= tonumber(ARGV[2]) then return 0 end
if ARGV[3] ~= '' and string.sub(redis.call('LINDEX', KEYS[1], 0), 1, #ARGV[3]) ~= ARGV[3] then return 0 end
redis.call('UNLINK', KEYS[1])
redis.call('ZREM', KEYS[2], ARGV[1])
if redis.call('EXISTS', KEYS[2]) == 0 then
  redis.call('UNLINK', KEYS[3])
  return 1
end
for o = 4, #ARGV, 2 do
  if redis.call('HINCRBY', KEYS[3], ARGV[o], '-' .. ARGV[o + 1]) <= 0 then redis.call('HDEL', KEYS[3], ARGV[o]) end
end
return 1`;

// So that the next attempt has nothing to do for those that are recorded, and they no longer count for those that wait. What
// stays is added before the rest is cut off: a log that is torn in between has them twice, which changes nothing.
const LEAVE_ONLY = `
local flushes, count = redis.call('LRANGE', KEYS[1], 0, -1), tonumber(ARGV[2])
if #flushes ~= count then return end
for n = 1, count do
  if flushes[n] ~= ARGV[n + 2] then return end
end
redis.call('RPUSH', KEYS[1], ARGV[1])
redis.call('LTRIM', KEYS[1], -1, -1)
for o = count + 3, #ARGV, 2 do
  redis.call('HINCRBY', KEYS[2], ARGV[o], '-' .. ARGV[o + 1])
end`;

/** Leaves these events of a batch in Redis, unless something has joined it meanwhile. */
async function leaveOnly(
  { redis, keys }: PersistParts,
  batch: string,
  { flushes, events }: { flushes: string[]; events: StagedEvent[] },
  staying: StagedEvent[],
): Promise<void> {
  const left = staying.map(stagedText).join(STAGED_SEPARATOR);
  const waiting = stagedBytesByOrganization([left], staying);
  const gone = [...stagedBytesByOrganization(flushes, events)].flatMap(([organizationId, bytes]) => {
    const difference = bytes - (waiting.get(organizationId) ?? 0);
    return difference > 0 ? [organizationId, difference] : [];
  });
  await redis.eval(LEAVE_ONLY, 2, keys.batch(batch), keys.waiting, left, flushes.length, ...flushes, ...gone);
}

async function persistEvents(parts: PersistParts, events: StagedEvent[]): Promise<Persisted & Pick<Judged, 'unknown'>> {
  const { database } = parts;
  const { accepted, rejected, unknown } = onceEach(await judgeAll(parts.aggregations, events));
  const { recorded, duplicates, reused, refused } = await recordOrBisect(
    database,
    await notRecorded(database, accepted),
  );
  const kept = [...rejected, ...refused, ...reused.map(asRejected)];
  await rejectEvents(database.pool, kept);
  const notCounted = new Set(kept.map(({ event }) => event.id));
  const notJudged = new Set(unknown.map(({ id }) => id));
  await deleteRejected(
    database.pool,
    events.filter((event) => event.replayed === true && !notCounted.has(event.id) && !notJudged.has(event.id)),
  );
  return { recorded, duplicates, rejected: notCounted.size, reused: reused.length, unknown };
}

/** An event that was replayed with several keys must not take the others once it is recorded under one of them. */
async function notRecorded(database: Database, events: RecordableEvent[]): Promise<RecordableEvent[]> {
  const replayed = events.flatMap(({ event }) => (event.replayed === true ? [event] : []));
  if (replayed.length === 0) return events;
  const recorded = await findRecorded(database.pool, replayed);
  return events.filter(({ event }) => !recorded.has(event.id));
}

function asRejected({ event, holder }: ReusedKey): RejectedEvent {
  const reason =
    `the event ${holder} holds this idempotency_key and has another payload: replay this one with an idempotency_key of ` +
    'its own if it is to count as well';
  return { event, reason };
}

async function judgeAll(aggregations: Aggregations, events: StagedEvent[]): Promise<Judged> {
  const accepted: RecordableEvent[] = [];
  const rejected: RejectedEvent[] = [];
  const unknown: StagedEvent[] = [];
  // Asked once for a batch, and only where a meter is missing.
  const isThere = new Map<string, boolean>();
  for (const event of events) {
    const organizationId = event.organization_id;
    if (isThere.get(organizationId) === false) {
      unknown.push(event);
      continue;
    }
    const found = aggregations.find(event.organization_id, event.meter_id);
    const aggregation = found instanceof Promise ? await found : found;
    if (aggregation === undefined && !isThere.has(organizationId)) {
      isThere.set(organizationId, await aggregations.hasOrganization(organizationId));
      if (isThere.get(organizationId) === false) {
        unknown.push(event);
        continue;
      }
    }
    const judgement = judge(event, aggregation);
    if (judgement.outcome === 'accepted') accepted.push({ event, countsUniqueValues: aggregation === 'UNIQUE_COUNT' });
    else rejected.push({ event, reason: judgement.reason });
  }
  return { accepted, rejected, unknown };
}

/**
 * Each event once: one that was replayed several times may be in a batch as often, with different corrections. If one of them
 * is accepted the event is; otherwise the last one's reason stands.
 */
function onceEach(judged: Judged): Judged {
  const accepted = new Map(judged.accepted.map((each) => [each.event.id, each]));
  const rejected = new Map(judged.rejected.map((each) => [each.event.id, each]));
  for (const id of accepted.keys()) rejected.delete(id);
  return { accepted: [...accepted.values()], rejected: [...rejected.values()], unknown: judged.unknown };
}

/**
 * Records events. Where Postgres will not take one, halves the batch until that one is alone, and refuses only it. A batch
 * that took too long is halved as well: a Postgres that is slow gets less at once.
 */
async function recordOrBisect(
  database: Database,
  events: RecordableEvent[],
): Promise<Recorded & { refused: RejectedEvent[] }> {
  try {
    return { ...(await recordEvents(database.pool, events)), refused: [] };
  } catch (error) {
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
  const left = await recordOrBisect(database, events.slice(0, middle));
  const right = await recordOrBisect(database, events.slice(middle));
  return {
    recorded: left.recorded + right.recorded,
    duplicates: left.duplicates + right.duplicates,
    reused: [...left.reused, ...right.reused],
    refused: [...left.refused, ...right.refused],
  };
}
