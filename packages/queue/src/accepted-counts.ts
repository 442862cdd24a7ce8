// The door's own count of what it accepted, apart from everything that happens to the events afterwards. The admit script adds
// to a hash in the step that stages the events: field `organization|month`, and `id`, which the flush that begins it has made.
// A drain sets the hash aside under another key, adds it to the totals in Postgres, and drops it.

import type { AcceptedCounts, DrainedCount, MonthCount } from '@weir/shared/month-counts';
import type { QueueConnection } from './connection.ts';
import { loadScript } from './script.ts';

const setAside = loadScript<[drainedLast: string, fields: string[]]>('set-counts-aside');
const dropCounts = loadScript<null>('drop-counts');

/** The field that counts the events of an organization that were received in a month. */
export function acceptedField(organizationId: string, month: string): string {
  return `${organizationId}|${month}`;
}

/** Whether something was accepted that is not drained yet. */
export async function hasAcceptedCounts({ redis, keys }: QueueConnection): Promise<boolean> {
  return (await redis.exists(keys.accepted, keys.draining)) > 0;
}

/** Whether counts are set aside that were not dropped yet. */
export async function isDraining({ redis, keys }: QueueConnection): Promise<boolean> {
  return (await redis.exists(keys.draining)) === 1;
}

/**
 * Sets the counts aside, so that new ones begin, and returns them; undefined when nothing was accepted since the last time. Where two
 * copies are asked for, a replica has them set aside too: else it would count on, once it took over, in counts that Postgres has. Throws a
 * NotCopied where none says so; they stay as they are, and come the next time.
 */
export async function setCountsAside({
  redis,
  keys,
  secondCopy,
}: QueueConnection): Promise<AcceptedCounts | undefined> {
  const given = [keys.accepted, keys.draining, keys.lastDrained];
  const [drainedLast, flat] = await (secondCopy === undefined
    ? setAside(redis, given, [])
    : setAside.copied(secondCopy, given, []));
  const pairs = flat.flatMap((field, index) => (index % 2 === 0 ? [[field, flat[index + 1] ?? '']] : []));
  const counts = countsOf(Object.fromEntries(pairs) as Record<string, string>);
  return counts && { ...counts, drainedLast: drainedLast === '' ? undefined : drainedLast };
}

/** Longer than any month of receipt can still be counted in, and than anybody should need to miss what a restore took away. */
const REMEMBERED_SECONDS = 100 * 86_400;

/**
 * Drops the counts that were set aside, once Postgres has them, and remembers the totals. Does nothing when they are gone
 * already.
 */
export async function dropAcceptedCounts(
  { redis, keys }: QueueConnection,
  id: string,
  totals: readonly DrainedCount[],
): Promise<void> {
  const months = totals.map(({ month }) => keys.drained(month));
  const values = totals.flatMap(({ organizationId, events, added }) => [organizationId, events, added]);
  await dropCounts(redis, [keys.draining, keys.lastDrained, ...months], [id, REMEMBERED_SECONDS, ...values]);
}

/** Months of receipt that Redis may remember: its totals live for 100 days, and a clock may be ahead. */
function rememberedMonths(now: Date): string[] {
  return [-4, -3, -2, -1, 0, 1].map((offset) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset)).toISOString().slice(0, 7),
  );
}

/** Reads what Postgres had counted, as far as Redis remembers. */
export async function readDrainedCounts({ redis, keys }: QueueConnection): Promise<MonthCount[]> {
  const months = rememberedMonths(new Date());
  const hashes = await Promise.all(months.map((month) => redis.hgetall(keys.drained(month))));
  return hashes.flatMap((hash, index) =>
    Object.entries(hash).map(([organizationId, events]) => {
      return { organizationId, month: months[index] ?? '', events: Number(events) };
    }),
  );
}

/** Forgets what Postgres had counted: it was another Weir's. */
export async function forgetDrainedCounts({ redis, keys }: QueueConnection): Promise<void> {
  await redis.unlink(...rememberedMonths(new Date()).map((month) => keys.drained(month)));
}

/** Whether Postgres may have fewer events counted than Redis remembers. */
export async function areCountsAhead({ redis, keys }: QueueConnection): Promise<boolean> {
  return (await redis.exists(keys.countsAhead)) === 1;
}

/** Says that Postgres has all that Redis remembers. */
export async function clearCountsAhead({ redis, keys }: QueueConnection): Promise<void> {
  await redis.unlink(keys.countsAhead);
}

/** What the door has done, at one instant of Redis. */
export interface DoorState {
  /** What is not drained yet. The older of two may be in Postgres already, and not dropped yet. */
  accepted: AcceptedCounts[];
  /** The ids of the staged batches. */
  batches: string[];
}

/** Reads the counts and the list of staged batches in one step. */
export async function readDoor({ redis, keys }: QueueConnection): Promise<DoorState> {
  const replies = await redis
    .multi()
    .hgetall(keys.draining)
    .hgetall(keys.accepted)
    .zrange(keys.staged, '0', '-1')
    .exec();
  const [draining, current, batches] = (replies ?? []).map(([error, reply]) => {
    if (error !== null) throw error;
    return reply;
  });
  const accepted = [draining, current].map((hash) => countsOf(hash as Record<string, string>));
  return { accepted: accepted.filter((counts) => counts !== undefined), batches: batches as string[] };
}

function countsOf({ id, ...fields }: Record<string, string>): AcceptedCounts | undefined {
  if (id === undefined) return undefined;
  const counts = Object.entries(fields).map(([field, events]) => {
    const [organizationId = '', month = ''] = field.split('|');
    return { organizationId, month, events: Number(events) };
  });
  return { id, counts };
}
