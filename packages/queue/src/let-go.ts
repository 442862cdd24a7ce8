// Lets go of claims that are older than claims may get now (see room.ts of the API), so that what waits to be recorded finds room. One API
// does it at a time, in steps between which Redis serves the others. Which claims go follows from the clocks of those that
// made them: a clock that is wrong makes it too many or too few of them, and never anything else.

import { epochMsOfId, firstIdAt } from '@weir/shared/ids';
import { setTimeout as delay } from 'node:timers/promises';
import type { QueueConnection } from './connection.ts';
import { loadScript } from './script.ts';

/**
 * Keys that a step looks at: a millisecond or two of Redis, after which it is left to others for as long. When memory is so short
 * that no claim may live, a step takes as long as a full flush does and is followed by the next: each also waits for
 * its turn in this process, which is busy just then.
 */
const STEP = { keys: 500, pauseMs: 2 };
const URGENT_STEP = { keys: 2_000, pauseMs: 0 };

/** How long one that dies in the middle keeps others from it. */
const LOCK_MS = 20_000;

/** Greater than any id, whatever the clock that made it. */
const AFTER_ALL_IDS = 'z';

const letGo = loadScript<[cursor: string, letGo: number, oldest: string]>('let-go');

/**
 * Goes through all claims once and lets go of those that are older than `seconds` says, which is asked at each step; of all of them
 * while that is 0. Returns how many it let go of; undefined when another API is at it, or was a moment ago. Throws while Redis is
 * away.
 */
export async function letGoOfClaims(
  { redis, keys }: QueueConnection,
  seconds: () => number,
  isStopped: () => boolean,
): Promise<number | undefined> {
  if ((await redis.set(keys.lettingGo, '1', 'PX', LOCK_MS, 'NX')) === null) return undefined;
  const begun = Date.now();
  let lockedAt = begun;
  let cursor = '0';
  let count = 0;
  let oldest = '';
  for (;;) {
    const now = Date.now();
    const due = seconds();
    const step = due === 0 ? URGENT_STEP : STEP;
    const cut = due === 0 ? AFTER_ALL_IDS : firstIdAt(now - due * 1000);
    const [next, gone, kept] = await letGo(redis, [], [cursor, keys.allClaims, step.keys, cut]);
    cursor = next;
    count += gone;
    if (kept !== '' && (oldest === '' || kept < oldest)) oldest = kept;
    if (cursor === '0') break;
    if (isStopped()) return count;
    if (now - lockedAt > LOCK_MS / 2) {
      lockedAt = now;
      await redis.pexpire(keys.lettingGo, LOCK_MS);
    }
    if (step.pauseMs > 0) await delay(step.pauseMs);
  }
  // What takes long rests for as long.
  const restMs = Math.max(1, Date.now() - begun);
  await redis
    .multi()
    .set(keys.oldestClaim, oldest === '' ? begun : epochMsOfId(oldest))
    .pexpire(keys.lettingGo, restMs)
    .exec();
  return count;
}
