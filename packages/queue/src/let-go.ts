// Lets go of claims that are older than claims may get now (see room.ts), so that what waits to be recorded finds room. One API
// does it at a time, in steps between which Redis serves the others. Which claims go follows from the clocks of those that
// made them: a clock that is wrong makes it too many or too few of them, and never anything else.

import { epochMsOfId, firstIdAt } from '@weir/shared/ids';
import type { QueueKeys } from '@weir/shared/queue';
import type { Redis } from 'ioredis';
import { setTimeout as delay } from 'node:timers/promises';

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

// Answers where to go on, how many it let go of, and the smallest id of those that it kept.
const LET_GO = `
local scanned = redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', ARGV[3])
local keys, old, oldest = scanned[2], {}, ''
if #keys > 0 then
  local values = redis.call('MGET', unpack(keys))
  for c = 1, #keys do
    local id = values[c] and string.sub(values[c], 1, 36)
    if id and id < ARGV[4] then
      old[#old + 1] = keys[c]
    elseif id and (oldest == '' or id < oldest) then
      oldest = id
    end
  end
  if #old > 0 then redis.call('UNLINK', unpack(old)) end
end
return { scanned[1], #old, oldest }`;

/**
 * Goes through all claims once and lets go of those that are older than `seconds` says, which is asked at each step; of all of them
 * while that is 0. Returns how many it let go of; undefined when another API is at it, or was a moment ago. Throws while Redis is
 * away.
 */
export async function letGoOfClaims(
  redis: Redis,
  keys: QueueKeys,
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
    const answer = await redis.eval(LET_GO, 0, cursor, keys.allClaims, step.keys, cut);
    const [next, letGo, kept] = answer as [cursor: string, letGo: number, oldest: string];
    cursor = next;
    count += letGo;
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
