// recorded = billed + late + open + unbilled, for each organization, meter and month of the events' own time; what has to hold of
// the rows of billing; and, when that is asked for, every invoice once more.

import {
  BILLING_FATES,
  countBilledEvents,
  listPricing,
  type BilledEvents,
  type MeterMonth,
  type MiscountedDue,
} from '@weir/db/billing/checks/billed-events';
import { BILLING_CHECKS, checkBilling, hasBilling, type BrokenPromise } from '@weir/db/billing/checks/billing-checks';
import type { Database } from '@weir/db/database';
import { firstMonthClearOf } from '@weir/db/times-ahead';
import { monthAfter, startOfMonth } from '@weir/shared/months';
import { computeInvoicesAgain, type ComputedAgain } from './computed-again.ts';
import type { ReconcileOptions } from './reconcile-options.ts';

/** One meter in one month. */
export interface BillingMonth extends MeterMonth {
  organizationId: string;
  /** Events that are none of what can become of one. */
  difference: number;
}

export interface BillingBalance {
  months: BillingMonth[];
  dues: { compared: number; miscounted: number; examples: (MiscountedDue & { organizationId: string })[] };
  checks: { made: number; broken: BrokenPromise[] };
  /** Undefined where it was not asked for. */
  invoices: ComputedAgain | undefined;
  isEqual: boolean;
}

/** Changes nothing. Undefined where nobody bills anything. */
export async function balanceBilling(
  database: Database,
  options: ReconcileOptions,
  onPart: (name: string) => void,
): Promise<BillingBalance | undefined> {
  const { organizationId, archivedThrough } = options;
  if (!(await hasBilling(database, organizationId))) return undefined;
  const balance: BillingBalance = {
    months: [],
    dues: { compared: 0, miscounted: 0, examples: [] },
    checks: { made: BILLING_CHECKS.length, broken: [] },
    invoices: undefined,
    isEqual: false,
  };
  const bounds = await boundsOf(database, options);
  for (const id of await listPricing(database, organizationId)) {
    onPart(`what is billed of organization ${id}`);
    add(balance, id, await countBilledEvents(database, { organizationId: id, ...bounds }));
  }
  balance.checks.broken = await checkBilling(database, { organizationId, archivedThrough }, onPart);
  if (options.invoices) balance.invoices = await computeInvoicesAgain(database, options, onPart);
  balance.isEqual =
    balance.months.every(({ difference }) => difference === 0) &&
    balance.dues.miscounted === 0 &&
    balance.checks.broken.length === 0 &&
    (balance.invoices?.differing ?? 0) === 0;
  return balance;
}

async function boundsOf(
  database: Database,
  { month, archivedThrough }: ReconcileOptions,
): Promise<{ from?: string; before?: string }> {
  // As of rollups: months after the archived ones have some of their events.
  const since = archivedThrough === undefined ? undefined : await firstMonthClearOf(database, archivedThrough);
  const first = month !== undefined && (since === undefined || month > since) ? month : since;
  return {
    ...(first !== undefined && { from: startOfMonth(first) }),
    ...(month !== undefined && { before: startOfMonth(monthAfter(month)) }),
  };
}

function add(balance: BillingBalance, organizationId: string, found: BilledEvents): void {
  for (const month of found.months) {
    const difference = BILLING_FATES.reduce((rest, fate) => rest - month.fates[fate], month.recorded);
    balance.months.push({ ...month, organizationId, difference });
  }
  balance.dues.compared += found.duesCompared;
  balance.dues.miscounted += found.duesMiscounted;
  balance.dues.examples.push(...found.miscounted.map((due) => ({ ...due, organizationId })));
}
