// rollups = events, for each organization, meter and table, by month of the events' own time, since that is the time of a
// rollup.

import type { Database } from '@weir/db/database';
import { compareUnit, listUnits, rebuildUnit, type RollupDifference, type Unit } from '@weir/db/rollup-check';
import { monthAfter } from '@weir/shared/utc-months';
import type { ReconcileOptions } from './reconcile-options.ts';

/** One table for one meter in one month, where it is not what the events give. */
export interface RollupBalance extends Unit, RollupDifference {
  /** It is now what the events give. */
  isRebuilt: boolean;
}

export interface RollupBalances {
  /** How many meters were compared, once for each of their months. */
  compared: number;
  differing: RollupBalance[];
}

/**
 * Compares, and rebuilds where `mayRebuild` allows it: an organization of which events are missing is left alone, since
 * its rollups may be all that is left of them. So is each unit that may have counted lost events, whatever was written off.
 */
export async function balanceRollups(
  database: Database,
  options: ReconcileOptions,
  mayRebuild: (organizationId: string) => boolean,
  onPart: (name: string) => void,
): Promise<RollupBalances> {
  // An event may lie ahead of the time of its receipt, so the month after the archived ones has some of theirs.
  const since = options.archivedThrough === undefined ? '' : monthAfter(monthAfter(options.archivedThrough));
  const balances: RollupBalances = { compared: 0, differing: [] };
  for (const unit of await listUnits(database, options)) {
    if (unit.month < since) continue;
    onPart(`meter ${unit.meterId} in ${unit.month}`);
    balances.compared += 1;
    let differences = await compareUnit(database, unit);
    const isToRebuild = options.repair && mayRebuild(unit.organizationId) && differences.some(canBeRebuilt);
    if (isToRebuild) differences = await rebuildUnit(database, unit);
    for (const difference of differences)
      balances.differing.push({ ...unit, ...difference, isRebuilt: isToRebuild && canBeRebuilt(difference) });
  }
  return balances;
}

const canBeRebuilt = ({ mayBeAllThereIs }: RollupDifference): boolean => !mayBeAllThereIs;
