// Brings the door's count of what it accepted to Postgres, where Redis cannot lose it. The counts are set aside, added, and only
// then dropped; what is added twice is added once, so whatever dies in between, the next drain goes on from there.

import { addAcceptedCounts, raiseTotals, type Drain } from '@weir/db/accepted';
import type { Database } from '@weir/db/database';
import {
  areCountsAhead,
  clearCountsAhead,
  dropAcceptedCounts,
  hasAcceptedCounts,
  isDraining,
  readDrainedCounts,
  setCountsAside,
} from '@weir/queue/accepted-counts';
import type { QueueConnection } from '@weir/queue/connection';

/**
 * Drains the counts; undefined when there are none, when another drain or a reconciliation is at work, or when Postgres went back in time and
 * nobody has found it out yet.
 */
export async function drainAcceptedCounts(queue: QueueConnection, database: Database): Promise<Drain | undefined> {
  // Most often nothing was accepted, and Postgres need not hear of it.
  if (!(await hasAcceptedCounts(queue))) return undefined;
  const drained = await addAcceptedCounts(database, () => setCountsAside(queue));
  if (drained !== undefined) await dropAcceptedCounts(queue, drained.id, drained.totals);
  return drained;
}

/**
 * After Postgres went back in time: brings back the counts that Redis remembers, so that what is missing can be told. Returns
 * how many events were added; undefined when there was nothing to do, or when it could not be done now.
 */
export async function bringCountsBack(queue: QueueConnection, database: Database): Promise<number | undefined> {
  if (!(await areCountsAhead(queue))) return undefined;
  const added = await raiseTotals(database, async () => {
    // Counts between Postgres and their drop would be in the one and not yet in the other.
    return (await isDraining(queue)) ? undefined : readDrainedCounts(queue);
  });
  if (added !== undefined) await clearCountsAhead(queue);
  return added;
}
