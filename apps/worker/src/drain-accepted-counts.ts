// Brings the door's count of what it accepted to Postgres, where Redis cannot lose it. A tally is set aside, added, and only
// then dropped; one that is added twice is added once, so whatever dies in between, the next fold goes on from there.

import { foldTally, raiseTotals, type Fold } from '@weir/db/accepted';
import type { Database } from '@weir/db/database';
import type { QueueKeys } from '@weir/shared/queue';
import { dropTally, readFolded, setTallyAside } from '@weir/shared/tally';
import type { Redis } from 'ioredis';

/** Folds one tally; undefined when there is none, or when another fold or a reconciliation is at work. */
export async function fold(redis: Redis, keys: QueueKeys, database: Database): Promise<Fold | undefined> {
  // Most often nothing was accepted, and Postgres need not hear of it.
  if ((await redis.exists(keys.tally, keys.foldingTally)) === 0) return undefined;
  const folded = await foldTally(database, () => setTallyAside(redis, keys));
  if (folded !== undefined) await dropTally(redis, keys, folded.id, folded.totals);
  return folded;
}

/**
 * After Postgres went back in time: brings back the counts that Redis remembers, so that what is missing can be told. Returns
 * how many events were added; undefined when there was nothing to do, or when it could not be done now.
 */
export async function bringCountsBack(redis: Redis, keys: QueueKeys, database: Database): Promise<number | undefined> {
  if ((await redis.exists(keys.countsAhead)) === 0) return undefined;
  const added = await raiseTotals(database, async () => {
    // A tally between Postgres and its drop would be in the one and not yet in the other.
    const isFolding = (await redis.exists(keys.foldingTally)) === 1;
    return isFolding ? undefined : readFolded(redis, keys);
  });
  if (added !== undefined) await redis.unlink(keys.countsAhead);
  return added;
}
