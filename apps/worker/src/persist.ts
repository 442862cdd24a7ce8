// One batch, from Redis to Postgres: load → judge → record → reject → unlink. Whatever dies in between, the batch is still
// in Redis and comes again, and recording it again changes nothing. Only after the commit is it taken off Redis, and only
// if nothing has joined it meanwhile.

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
import type { QueueKeys } from '@weir/shared/queue';
import { stagedBeginning, stagedEvents } from '@weir/shared/staged';
import type { Redis } from 'ioredis';
import { judge } from './judge.ts';
import type { Aggregations } from './aggregations.ts';

export interface PersistParts {
  database: Database;
  redis: Redis;
  keys: QueueKeys;
  aggregations: Aggregations;
}

interface Judged {
  accepted: RecordableEvent[];
  rejected: RejectedEvent[];
}

/** What became of the events of a batch. Recorded and duplicates are counted once, rejected and reused at every delivery. */
export interface Persisted {
  recorded: number;
  duplicates: number;
  rejected: number;
  /** How many of the rejected ones came with the idempotency key of an event with another payload. */
  reused: number;
}

/** Persists a batch. One that is gone already is no error: its job came twice. Throws while Postgres or Redis is away. */
export async function persist(parts: PersistParts, batch: string): Promise<Persisted> {
  const { redis, keys } = parts;
  const persisted: Persisted = { recorded: 0, duplicates: 0, rejected: 0, reused: 0 };
  for (;;) {
    const flushes = await redis.lrange(keys.batch(batch), 0, -1);
    const events = stagedEvents(flushes);
    if (events.length > 0) {
      const more = await persistEvents(parts, events);
      for (const outcome of ['recorded', 'duplicates', 'rejected', 'reused'] as const)
        persisted[outcome] += more[outcome];
    }
    // From here on these events are in Postgres for good, so Redis may forget them.
    const first = events[0] === undefined ? '' : stagedBeginning(events[0].id);
    const isOff = await redis.eval(TAKE_OFF, 2, keys.batch(batch), keys.staged, batch, flushes.length, first);
    if (isOff === 1) return persisted;
  }
}

// An API that was kept from running for a while may still add to a batch whose job the sweeper has added meanwhile. Flushes
// only ever join a batch, so as many as were read, with the same one first, are those that were read. One that joins after
// another worker has taken the batch off begins it anew.
const TAKE_OFF = `
if redis.call('LLEN', KEYS[1]) ~= tonumber(ARGV[2]) then return 0 end
if ARGV[3] ~= '' and string.sub(redis.call('LINDEX', KEYS[1], 0), 1, #ARGV[3]) ~= ARGV[3] then return 0 end
redis.call('UNLINK', KEYS[1])
redis.call('ZREM', KEYS[2], ARGV[1])
return 1`;

async function persistEvents(parts: PersistParts, events: StagedEvent[]): Promise<Persisted> {
  const { database } = parts;
  const { accepted, rejected } = onceEach(await judgeAll(parts.aggregations, events));
  const { recorded, duplicates, reused, refused } = await recordOrBisect(
    database,
    await notRecorded(database, accepted),
  );
  const kept = [...rejected, ...refused, ...reused.map(asRejected)];
  await rejectEvents(database.pool, kept);
  const notCounted = new Set(kept.map(({ event }) => event.id));
  await deleteRejected(
    database.pool,
    events.filter((event) => event.replayed === true && !notCounted.has(event.id)),
  );
  return { recorded, duplicates, rejected: notCounted.size, reused: reused.length };
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
  for (const event of events) {
    const found = aggregations.find(event.organization_id, event.meter_id);
    const aggregation = found instanceof Promise ? await found : found;
    const judgement = judge(event, aggregation);
    if (judgement.outcome === 'accepted') accepted.push({ event, countsUniqueValues: aggregation === 'UNIQUE_COUNT' });
    else rejected.push({ event, reason: judgement.reason });
  }
  return { accepted, rejected };
}

/**
 * Each event once: one that was replayed several times may be in a batch as often, with different corrections. If one of them
 * is accepted the event is; otherwise the last one's reason stands.
 */
function onceEach(judged: Judged): Judged {
  const accepted = new Map(judged.accepted.map((each) => [each.event.id, each]));
  const rejected = new Map(judged.rejected.map((each) => [each.event.id, each]));
  for (const id of accepted.keys()) rejected.delete(id);
  return { accepted: [...accepted.values()], rejected: [...rejected.values()] };
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
