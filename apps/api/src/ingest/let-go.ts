// Lets go of claims that are older than claims may get now (see room.ts), so that what waits to be recorded finds room. One API
// does it at a time, in steps between which Redis serves the others. Which claims go follows from the clocks of those that
// made them: a clock that is wrong makes it too many or too few of them, and never anything else.

import { epochMsOfId, firstIdAt } from '@weir/shared/ids';
import type { QueueKeys } from '@weir/shared/queue';
import type { Redis } from 'ioredis';
import { setTimeout as delay } from 'node:timers/promises';

/** Keys that a step looks at: one or two milliseconds of Redis, and the claims that it lets go of share an fsync. */
const STEP_KEYS = 1_000;

/**
 * After each step Redis is left to others for twice as long as the step took, but for no longer than this: a step waits for
 * what Redis does for others, and would fall behind those who make claims just when there are many.
 */
const PAUSE_MS_MAX = 10;

/** How long one that dies in the middle keeps others from it. */
const LOCK_MS = 20_000;

/** Greater than any id, whatever the clock that made it. */
const AFTER_ALL_IDS = 'z';

// Answers where to go on, how many it let go of, and the smallest id of those that it kept.
const STEP = `
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
 * Goes through all claims once and lets go of those that are older than `seconds`; of all of them when that is 0. Returns how many
 * it let go of; undefined when another API is at it, or was a moment ago. Throws while Redis is away; the rest is let go of later.
 */
export async function letGoOfClaims(
  redis: Redis,
  keys: QueueKeys,
  seconds: number,
  isStopped: () => boolean,
): Promise<number | undefined> {
  if ((await redis.set(keys.lettingGo, '1', 'PX', LOCK_MS, 'NX')) === null) return undefined;
  const begun = Date.now();
  const cut = seconds === 0 ? AFTER_ALL_IDS : firstIdAt(begun - seconds * 1000);
  let cursor = '0';
  let count = 0;
  let oldest = '';
  let lockedAt = begun;
  do {
    const stepped = performance.now();
    const [next, letGo, kept] = (await redis.eval(STEP, 0, cursor, keys.allClaims, STEP_KEYS, cut)) as [
      string,
      number,
      string,
    ];
    cursor = next;
    count += letGo;
    if (kept !== '' && (oldest === '' || kept < oldest)) oldest = kept;
    if (Date.now() - lockedAt > LOCK_MS / 2) {
      lockedAt = Date.now();
      await redis.pexpire(keys.lettingGo, LOCK_MS);
    }
    if (cursor !== '0') await delay(Math.min(PAUSE_MS_MAX, 2 * (performance.now() - stepped)));
  } while (cursor !== '0' && !isStopped());
  if (cursor !== '0') return count;
  // What takes long rests for as long.
  const restMs = Math.max(1, Date.now() - begun);
  await redis
    .multi()
    .set(keys.oldestClaim, oldest === '' ? begun : epochMsOfId(oldest))
    .pexpire(keys.lettingGo, restMs)
    .exec();
  return count;
}
