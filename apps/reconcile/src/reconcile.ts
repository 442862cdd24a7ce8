// One reconciliation from end to end: the events first, since what is known to be missing decides what may be rebuilt.

import { insertCorrections, whileRepairing } from '@weir/db/accepted';
import type { Database } from '@weir/db/database';
import type { QueueConnection } from '@weir/queue/connection';
import { balanceBilling, type BillingBalance } from './billing-balance.ts';
import { balanceEvents, type EventBalance } from './events.ts';
import type { ReconcileOptions } from './reconcile-options.ts';
import { balanceRollups, type RollupBalances } from './rollups.ts';

export interface ReconcileDeps {
  database: Database;
  queue: QueueConnection;
  /** Told what is looked at next. */
  onPart(name: string): void;
}

export interface Reconciliation {
  events: EventBalance[];
  rollups: RollupBalances;
  /** Undefined where nobody bills anything. */
  billing: BillingBalance | undefined;
  /** Whether what the door's count did not have was written down as corrections. */
  isCorrected: boolean;
  /** Whether nothing differs, or all that did was repaired. Nothing of billing is. */
  isEqual: boolean;
}

const REASON = 'found by reconcile --repair: the events are here, and the door no longer has their count';

/** Compares, and repairs if that is asked for. Throws what Postgres or Redis says when one of them cannot be read. */
export async function reconcile(deps: ReconcileDeps, options: ReconcileOptions): Promise<Reconciliation> {
  return options.repair
    ? whileRepairing(deps.database, () => compareAndRepair(deps, options))
    : compareAndRepair(deps, options);
}

async function compareAndRepair(deps: ReconcileDeps, options: ReconcileOptions): Promise<Reconciliation> {
  const { database, onPart } = deps;
  const events = await balanceEvents(deps, options, onPart);
  const missing = events.filter(({ difference }) => difference > 0);
  const uncounted = events.filter(({ difference }) => difference < 0);
  const robbed = new Set(missing.map(({ organizationId }) => organizationId));

  const rollups = await balanceRollups(database, options, (organizationId) => !robbed.has(organizationId), onPart);
  const billing = await balanceBilling(database, options, onPart);
  const isCorrected = options.repair && uncounted.length > 0;
  if (isCorrected) {
    const corrections = uncounted.map(({ organizationId, month, difference }) => {
      return { organizationId, month, events: -difference };
    });
    await insertCorrections(database, corrections, REASON);
  }
  const isEqual =
    missing.length === 0 &&
    (uncounted.length === 0 || isCorrected) &&
    rollups.differing.every(({ isRebuilt }) => isRebuilt) &&
    billing?.isEqual !== false;
  return { events, rollups, billing, isCorrected, isEqual };
}
