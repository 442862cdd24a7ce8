// What invoices come to: drafts whenever they are read, previews, and finalization make their lines here, with packages/rating and
// nothing else. Reads and changes nothing.

import type { Amount } from '@weir/rating/money';
import type { RatedDetail } from '@weir/rating/rate';
import type { Selectable } from 'kysely';
import type { Queries } from '../page.ts';
import type { Tables } from '../schema.ts';
import type { DueRow } from './dues.ts';
import type { LineKind } from './tables.ts';

/** What is asked of an invoice: a row of invoices has all of it, and a preview makes it up with any id. */
export type InvoiceToCompute = Pick<
  Selectable<Tables['invoices']>,
  'id' | 'kind' | 'subscription_id' | 'cycle' | 'currency'
>;

/** What invoice_lines holds of a line, but for its organization and when it was made. Amounts have the currency's digits. */
export interface ComputedLine {
  /** Made of the invoice and the due, so that a draft's line keeps it when it is finalized. */
  id: string;
  invoice_id: string;
  /** From 1. */
  position: number;
  kind: LineKind;
  description: string;
  /** The due that it settles; null for what an admin added. */
  due: DueRow | null;
  /** Of the due, as it is now. */
  subscription_id: string | null;
  cycle: number | null;
  charge_id: string | null;
  period_start: string | null;
  period_end: string | null;
  days_in_force: number | null;
  days_in_period: number | null;
  /** Null for what has no meter. */
  quantity: string | null;
  event_count: string | null;
  detail: RatedDetail | null;
  exact_amount: string;
  billed_before: string;
  amount: string;
  /** Null in a draft. */
  closing: string | null;
  rating_version: number;
}

/** What an invoice comes to. One without lines is not made. */
export interface ComputedInvoice {
  id: string;
  lines: ComputedLine[];
  subtotal: Amount;
  total: Amount;
}

/**
 * Computes invoices of one organization that are not finalized, in the order given. Late changes are on the earliest draft of a
 * subscription, or on what is asked about where it has no draft. `closing`: usage at this closing; null: all that is recorded.
 * `upcoming` are dues that are not written yet, for a preview. Everything is read with `transaction`: for one snapshot let it be
 * `repeatable read`. Usage of all of them is one statement.
 */
export async function computeInvoices(
  transaction: Queries,
  organizationId: string,
  invoices: readonly InvoiceToCompute[],
  closing: number | null,
  upcoming: readonly DueRow[] = [],
): Promise<ComputedInvoice[]> {
  throw new Error(
    `not built: ${String(transaction)} ${organizationId} ${invoices.length} ${closing} ${upcoming.length}`,
  );
}
