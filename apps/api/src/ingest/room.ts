// What the memory of Redis has room for. What waits to be recorded comes first: it was promised. Claims give way to it, since
// Postgres knows every key for ever. So only what waits can fill the room, and no organization can fill all of it.

import type { RedisMemory } from '@weir/queue/redis-policy';

/** What is left above this share of `maxmemory` is for the workers, who need memory to take batches off. */
const DOOR_SHARE = 0.75;

/** A queue that was full has room again below this share of what it may hold: else each event that leaves would let one in. */
const ROOM_AGAIN = 0.95;

/** Up to this share claims live as long as they may, and from the second one on none are made. */
const CLAIMS_SHARE = { full: 0.5, none: 0.7 };

/**
 * How many times what is free an organization may have waiting. One that takes all it can get has four fifths of the room then,
 * and leaves a fifth to others; two have four ninths each, and so on (Choudhury and Hahne, Dynamic queue length thresholds, 1998).
 */
const WAITING_PER_FREE = 4;

/** Below this share nobody can have so much waiting, since it is no more than what is in use: s = 4 × (0.75 − s). */
const SHARES_MATTER_FROM = (WAITING_PER_FREE * DOOR_SHARE) / (WAITING_PER_FREE + 1);

/** Why events are refused, as metrics have it. `share`: only those of an organization that has too much waiting. */
export type NoRoom = 'memory' | 'batches' | 'share';

/** How much of its `maxmemory` a Redis uses; 0 when it has no limit. */
export function shareOf({ used, limit }: RedisMemory): number {
  return limit === 0 ? 0 : used / limit;
}

/** Why the queue can take no events of anybody; undefined while it can. `wasFull`: whether it could not when this was asked last. */
export function noRoom(queue: {
  memoryShare: number;
  batches: number;
  batchesMax: number;
  wasFull: boolean;
}): NoRoom | undefined {
  const { memoryShare, batches, batchesMax, wasFull } = queue;
  const factor = wasFull ? ROOM_AGAIN : 1;
  if (memoryShare > DOOR_SHARE * factor) return 'memory';
  if (batches >= batchesMax * factor) return 'batches';
  return undefined;
}

/** How long a new claim may live, in whole seconds, of at most `secondsMax`: half as long with each percent of memory above half of it. */
export function claimSecondsAt(memoryShare: number, secondsMax: number): number {
  if (memoryShare >= CLAIMS_SHARE.none) return 0;
  const halvings = Math.max(0, memoryShare - CLAIMS_SHARE.full) * 100;
  return Math.round(secondsMax / 2 ** halvings);
}

/**
 * Whether claims are to be let go of: with those that are older than what is due now, more than half of the time would go that
 * they go back to. Each pass looks at all of them, so it has to be worth it.
 */
export function isTimeToLetGo(dueSeconds: number, oldestSeconds: number): boolean {
  return oldestSeconds > 2 * dueSeconds;
}

/** Bytes that one organization may have waiting; undefined while nobody can have too many. */
export function waitingBytesMax(memoryShare: number, limit: number): number | undefined {
  if (memoryShare <= SHARES_MATTER_FROM) return undefined;
  return WAITING_PER_FREE * Math.max(0, DOOR_SHARE - memoryShare) * limit;
}
