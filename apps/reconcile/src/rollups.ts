// rollups = events, for each organization, meter and table, by month of the events' own time, since that is the time of a
// rollup.

import type { Database } from '@weir/db/database';
import {
  compareUnit,
  listUnits,
  LOCKED_MS_MAX,
  rebuildUnit,
  UnitLocked,
  type RollupDifference,
  type Unit,
} from '@weir/db/rollup-check';
import { firstMonthClearOf } from '@weir/db/times-ahead';
import type { ReconcileOptions } from './reconcile-options.ts';

/** One table for one meter in one month, where it is not what the events give. */
export interface RollupBalance extends Unit, RollupDifference {
  /** It is now what the events give. */
  isRebuilt: boolean;
  /** It could have been rebuilt, but for something that held a lock all the time. */
  wasLocked: boolean;
}

export interface RollupBalances {
  /** How many meters were compared, once for each of their months. */
  compared: number;
  differing: RollupBalance[];
}

/**
 * Compares, and rebuilds where `mayRebuild` allows it: an organization of which events are missing is left alone, since
 * its rollups may be all that is left of them. So is each unit that may have counted lost events, whatever was written off, and each whose
 * lock is not to be had in `lockedMsMax`.
 */
export async function balanceRollups(
  database: Database,
  options: ReconcileOptions,
  mayRebuild: (organizationId: string) => boolean,
  onPart: (name: string) => void,
  lockedMsMax = LOCKED_MS_MAX,
): Promise<RollupBalances> {
  // An event may lie ahead of the time of its receipt, so months after the archived ones have some of theirs.
  const { archivedThrough } = options;
  const since = archivedThrough === undefined ? '' : await firstMonthClearOf(database, archivedThrough);
  const balances: RollupBalances = { compared: 0, differing: [] };
  let msMax = lockedMsMax;
  for (const unit of await listUnits(database, options)) {
    if (unit.month < since) continue;
    onPart(`meter ${unit.meterId} in ${unit.month}`);
    balances.compared += 1;
    let differences = await compareUnit(database, unit);
    const isToRebuild = options.repair && mayRebuild(unit.organizationId) && differences.some(canBeRebuilt);
    let wasLocked = false;
    try {
      const onWait = () =>
        onPart(`meter ${unit.meterId} in ${unit.month}: it waits for a lock, which a vacuum may hold`);
      if (isToRebuild) differences = await rebuildUnit(database, unit, msMax, onWait);
    } catch (error) {
      if (!(error instanceof UnitLocked)) throw error;
      wasLocked = true;
      // All units need the same lock: the others do not wait as long once more.
      msMax = 0;
    }
    const isRebuilt = isToRebuild && !wasLocked;
    for (const difference of differences) {
      const isOne = canBeRebuilt(difference);
      balances.differing.push({
        ...unit,
        ...difference,
        isRebuilt: isRebuilt && isOne,
        wasLocked: wasLocked && isOne,
      });
    }
  }
  return balances;
}

const canBeRebuilt = ({ mayBeAllThereIs }: RollupDifference): boolean => !mayBeAllThereIs;
