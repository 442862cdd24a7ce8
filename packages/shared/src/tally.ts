// The door's own count of what it accepted, apart from everything that happens to the events afterwards. The admit script
// adds to a hash, the *tally*, in the step that stages the events: field `organization|month`, and `id`, which the flush that
// begins it has made. A fold sets it aside under another key, adds it to the totals in Postgres, and drops it.

import type { Redis } from 'ioredis';
import type { QueueKeys } from './queue.ts';

/** How many events of an organization were received in one month (UTC, `2026-11`). */
export interface MonthCount {
  organizationId: string;
  month: string;
  events: number;
}

/** What was accepted between two folds. */
export interface Tally {
  /** A UUIDv7, and as such different from that of every other tally. */
  id: string;
  counts: MonthCount[];
}

const ID = 'id';

// The last month that was asked for: that of the next event is almost always the same.
const known = { from: 0, to: 0, month: '' };

/** The month (UTC, `2026-11`) of a time in milliseconds since 1970. */
export function monthOf(epochMs: number): string {
  if (epochMs < known.from || epochMs >= known.to) {
    const time = new Date(epochMs);
    known.from = Date.UTC(time.getUTCFullYear(), time.getUTCMonth());
    known.to = Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + 1);
    known.month = time.toISOString().slice(0, 7);
  }
  return known.month;
}

/** The field that counts the events of an organization that were received in a month. */
export function tallyField(organizationId: string, month: string): string {
  return `${organizationId}|${month}`;
}

// A tally that an earlier fold set aside and did not finish comes before a new one.
const SET_ASIDE = `
if redis.call('EXISTS', KEYS[2]) == 0 and redis.call('EXISTS', KEYS[1]) == 1 then redis.call('RENAME', KEYS[1], KEYS[2]) end
return redis.call('HGETALL', KEYS[2])`;

/** Sets the tally aside, so that a new one begins, and answers it; undefined when nothing was accepted since the last. */
export async function setTallyAside(redis: Redis, keys: QueueKeys): Promise<Tally | undefined> {
  const flat = (await redis.eval(SET_ASIDE, 2, keys.tally, keys.foldingTally)) as string[];
  const pairs = flat.flatMap((field, index) => (index % 2 === 0 ? [[field, flat[index + 1] ?? '']] : []));
  return tallyOf(Object.fromEntries(pairs) as Record<string, string>);
}

// Another fold may be at work on the next tally by now.
const DROP = `if redis.call('HGET', KEYS[1], '${ID}') == ARGV[1] then redis.call('UNLINK', KEYS[1]) end`;

/** Drops the tally that was set aside, once Postgres has it. Does nothing when it is gone already. */
export async function dropTally(redis: Redis, keys: QueueKeys, id: string): Promise<void> {
  await redis.eval(DROP, 1, keys.foldingTally, id);
}

/** What the door has done, at one instant of Redis. */
export interface DoorState {
  /** What is not folded yet. The older of two may be in Postgres already, and not dropped yet. */
  tallies: Tally[];
  /** The ids of the staged batches. */
  batches: string[];
}

/** Reads the tallies and the list of staged batches in one step. */
export async function readDoor(redis: Redis, keys: QueueKeys): Promise<DoorState> {
  const replies = await redis
    .multi()
    .hgetall(keys.foldingTally)
    .hgetall(keys.tally)
    .zrange(keys.staged, '0', '-1')
    .exec();
  const [folding, current, batches] = (replies ?? []).map(([error, reply]) => {
    if (error !== null) throw error;
    return reply;
  });
  const tallies = [folding, current].map((hash) => tallyOf(hash as Record<string, string>));
  return { tallies: tallies.filter((tally) => tally !== undefined), batches: batches as string[] };
}

function tallyOf({ [ID]: id, ...fields }: Record<string, string>): Tally | undefined {
  if (id === undefined) return undefined;
  const counts = Object.entries(fields).map(([field, events]) => {
    const [organizationId = '', month = ''] = field.split('|');
    return { organizationId, month, events: Number(events) };
  });
  return { id, counts };
}
