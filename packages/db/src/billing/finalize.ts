import type { Database } from '../database.ts';

/** What became of invoices that were to be finalized; what is in none of the lists was none, or somebody else had it in hand. */
export interface Finalized {
  finalized: string[];
  /** Came to no line, so they are no more. */
  deleted: string[];
  /** An earlier cycle of their subscription is a draft. */
  earlierDraft: string[];
}

/** By whom, and whether before the grace is over. */
export interface FinalizeOptions {
  /** `user:` and an id, or `weir`. */
  actor: string;
  /** Before its grace is over, and waiting for whoever has the invoice in hand. Else those in other hands are left out. */
  now?: boolean;
}

/**
 * Finalizes drafts, up to 500: a closing first, in a transaction of its own, then one transaction for all of them. A job that comes
 * twice finds nothing to do.
 */
export async function finalizeInvoices(
  database: Database,
  organizationId: string,
  invoiceIds: readonly string[],
  options: FinalizeOptions,
): Promise<Finalized> {
  throw new Error(`not built: ${String(database)} ${organizationId} ${invoiceIds.length} ${options.actor}`);
}
