// Every finalized invoice, computed once more from the usage behind it.

import { listInvoicing } from '@weir/db/billing/checks/billing-checks';
import {
  listFinalizedInvoices,
  recomputeInvoice,
  recomputeInvoices,
  type Recomputed,
} from '@weir/db/billing/invoices/recompute';
import { isUnavailable, type Database } from '@weir/db/database';
import { MonthTakenOut } from '@weir/db/months-taken-out';
import type { ReconcileOptions } from './reconcile-options.ts';

/** An invoice that does not come to what it says. */
interface DifferingInvoice {
  organizationId: string;
  invoiceId: string;
  invoiceNumber: string | null;
  from: 'rollups' | 'events';
  said: string;
}

export interface ComputedAgain {
  from: ('rollups' | 'events')[];
  computed: number;
  /** How many differ, and at most `DIFFERING_MAX` of them. */
  differing: number;
  examples: DifferingInvoice[];
  /** How many cannot be computed before a month of their events is attached again. Nothing is known to be wrong with them. */
  takenOut: number;
  /** These months (`2026-01`), in order: of each invoice the first one that is missing. */
  monthsToAttach: string[];
}

const DIFFERING_MAX = 20;
/** Of plain ones; their lines are held in memory. */
const INVOICES_AT_ONCE = 200;

/** Where months are archived, only the rollups know of their events. */
export async function computeInvoicesAgain(
  database: Database,
  { organizationId, archivedThrough }: ReconcileOptions,
  onPart: (name: string) => void,
): Promise<ComputedAgain> {
  const result: ComputedAgain = {
    from: archivedThrough === undefined ? ['rollups', 'events'] : ['rollups'],
    computed: 0,
    differing: 0,
    examples: [],
    takenOut: 0,
    monthsToAttach: [],
  };
  const months = new Set<string>();
  for (const id of organizationId === undefined ? await listInvoicing(database) : [organizationId]) {
    for await (const ids of pagesOfInvoices(database, id)) {
      onPart(`invoice ${result.computed + 1} and those after it`);
      const differing = new Set<string>();
      const takenOut = new Set<string>();
      for (const from of result.from) {
        for (const found of await computeAgain(database, id, ids, from)) {
          if ('month' in found) {
            takenOut.add(found.invoiceId);
            months.add(found.month);
            continue;
          }
          differing.add(found.invoiceId);
          if (result.examples.length < DIFFERING_MAX) result.examples.push(found);
        }
      }
      result.differing += differing.size;
      result.takenOut += takenOut.size;
      result.computed += ids.length - takenOut.size;
    }
  }
  return { ...result, monthsToAttach: [...months].sort() };
}

async function* pagesOfInvoices(database: Database, organizationId: string): AsyncGenerator<string[]> {
  let after: string | undefined;
  for (;;) {
    const ids = await listFinalizedInvoices(database.kysely, organizationId, { after, limit: INVOICES_AT_ONCE });
    if (ids.length === 0) return;
    yield ids;
    after = ids.at(-1);
  }
}

/** An invoice alone may have any number of lines, and is computed page by page of them. */
async function recompute(
  database: Database,
  organizationId: string,
  ids: readonly string[],
  from: 'rollups' | 'events',
): Promise<Recomputed[]> {
  const [only] = ids;
  if (ids.length > 1 || only === undefined) return await recomputeInvoices(database, organizationId, ids, from);
  const recomputed = await recomputeInvoice(database, organizationId, only, from);
  return recomputed === undefined ? [] : [recomputed];
}

/** An invoice that needs a month that was taken out. */
interface WaitingInvoice {
  invoiceId: string;
  /** `2026-01`. */
  month: string;
}

/** Those that differ or wait. One that cannot be computed at all is looked at alone, so that it does not hide the others. */
async function computeAgain(
  database: Database,
  organizationId: string,
  ids: readonly string[],
  from: 'rollups' | 'events',
): Promise<(DifferingInvoice | WaitingInvoice)[]> {
  let again: Recomputed[];
  try {
    again = await recompute(database, organizationId, ids, from);
  } catch (error) {
    if (isUnavailable(error)) throw error;
    const [only] = ids;
    if (ids.length === 1 && only !== undefined) {
      if (error instanceof MonthTakenOut) return [{ invoiceId: only, month: error.month }];
      const said = `it cannot be computed: ${error instanceof Error ? error.message : String(error)}`;
      return [{ organizationId, invoiceId: only, invoiceNumber: null, from, said }];
    }
    const found: (DifferingInvoice | WaitingInvoice)[] = [];
    for (const id of ids) found.push(...(await computeAgain(database, organizationId, [id], from)));
    return found;
  }
  return again
    .filter(({ identical }) => !identical)
    .map((invoice) => ({
      organizationId,
      invoiceId: invoice.invoice_id,
      invoiceNumber: invoice.invoice_number,
      from,
      said: saidOf(invoice),
    }));
}

function saidOf({ stored, recomputed }: Recomputed): string {
  const lines = stored.lines.flatMap((line, index) => {
    const other = recomputed.lines[index];
    return other !== undefined && JSON.stringify(line) === JSON.stringify(other) ? [] : [line.id];
  });
  return `its total is ${stored.total} and comes to ${recomputed.total}; lines that differ: ${lines.join(', ') || 'none'}`;
}
