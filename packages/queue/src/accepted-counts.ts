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

// Another fold may be at work on the next tally by now. What Postgres has counted is remembered, and never less than was
// counted before: a Postgres that has less has gone back in time. The tally goes first: should the log be torn in the middle,
// a total that is too low is mended by the next fold, and one that is too high would speak of a loss.
const DROP = `
if redis.call('HGET', KEYS[1], '${ID}') ~= ARGV[1] then return end
redis.call('UNLINK', KEYS[1])
for n = 1, #KEYS - 2 do
  local field, total, added = ARGV[3 * n], tonumber(ARGV[3 * n + 1]), tonumber(ARGV[3 * n + 2])
  local before = tonumber(redis.call('HGET', KEYS[2 + n], field) or 0)
  if before > 0 and before + added > total then total = before + added end
  redis.call('HSET', KEYS[2 + n], field, string.format('%.0f', total))
  redis.call('EXPIRE', KEYS[2 + n], ARGV[2])
end
redis.call('SET', KEYS[2], ARGV[1])`;

/** Longer than any month of receipt can still be counted in, and than anybody should need to miss what a restore took away. */
const FOLDED_SECONDS = 100 * 86_400;

/** What Postgres has counted in one month, and how much of it came with the tally that is dropped. */
export interface FoldedCount extends MonthCount {
  added: number;
}

/** Drops the tally that was set aside, once Postgres has it, and remembers the totals. Does nothing when it is gone already. */
export async function dropTally(
  redis: Redis,
  keys: QueueKeys,
  id: string,
  totals: readonly FoldedCount[],
): Promise<void> {
  const months = totals.map(({ month }) => keys.folded(month));
  const values = totals.flatMap(({ organizationId, events, added }) => [organizationId, events, added]);
  await redis.eval(
    DROP,
    2 + months.length,
    keys.foldingTally,
    keys.lastFolded,
    ...months,
    id,
    FOLDED_SECONDS,
    ...values,
  );
}

/** Months of receipt that Redis may remember: its totals live for 100 days, and a clock may be ahead. */
function rememberedMonths(now: Date): string[] {
  return [-4, -3, -2, -1, 0, 1].map((offset) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset)).toISOString().slice(0, 7),
  );
}

/** What Postgres had counted, as far as Redis remembers. */
export async function readFolded(redis: Redis, keys: QueueKeys): Promise<MonthCount[]> {
  const months = rememberedMonths(new Date());
  const hashes = await Promise.all(months.map((month) => redis.hgetall(keys.folded(month))));
  return hashes.flatMap((hash, index) =>
    Object.entries(hash).map(([organizationId, events]) => {
      return { organizationId, month: months[index] ?? '', events: Number(events) };
    }),
  );
}

/** Forgets what was counted: it was another Weir's. */
export async function forgetFolded(redis: Redis, keys: QueueKeys): Promise<void> {
  await redis.unlink(...rememberedMonths(new Date()).map((month) => keys.folded(month)));
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
