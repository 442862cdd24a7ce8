// Brings the door's count of what it accepted to Postgres, where Redis cannot lose it. A tally is set aside, added, and only
// then dropped; one that is added twice is added once, so whatever dies in between, the next fold goes on from there.

import { foldTally, type Fold } from '@weir/db/accepted';
import type { Database } from '@weir/db/database';
import type { QueueKeys } from '@weir/shared/queue';
import { dropTally, setTallyAside } from '@weir/shared/tally';
import type { Redis } from 'ioredis';

/** Folds one tally; undefined when there is none, or when another fold or a reconciliation is at work. */
export async function fold(redis: Redis, keys: QueueKeys, database: Database): Promise<Fold | undefined> {
  // Most often nothing was accepted, and Postgres need not hear of it.
  if ((await redis.exists(keys.tally, keys.foldingTally)) === 0) return undefined;
  const folded = await foldTally(database, () => setTallyAside(redis, keys));
  if (folded !== undefined) await dropTally(redis, keys, folded.id);
  return folded;
}
