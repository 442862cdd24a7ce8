// What invoices come to: drafts whenever they are read, previews, and finalization have their lines from here. Reads what
// packages/billing makes them of, and changes nothing. Next: finalize.ts writes down what this computes.

import type { Due, DueUsage } from '@weir/billing/due';
import {
  cycleKey,
  duesOf,
  findReturning,
  periodsOf,
  takersOfLate,
  type DueOfInvoice,
  type InvoiceToCompute,
} from '@weir/billing/dues-of-invoices';
import { inOneGo, type Drive } from '@weir/billing/drive';
import { groupBy } from '@weir/billing/group-by';
import { computeInvoice, type Adjustment, type ComputedInvoice } from '@weir/billing/lines';
import { microsOfText } from '@weir/shared/instant';
import { sql } from 'kysely';
import type { Queries } from '../../database.ts';
import { findDues } from '../subscriptions/dues.ts';
import { findLateDues } from '../subscriptions/late-events.ts';
import { readDueUsage } from '../usage/due-usage.ts';
import { readReturnable } from './returnable.ts';

/** Dues whose usage is read in one statement, where it is read in slices: to write the statement takes some milliseconds. */
const DUES_AT_ONCE = 500;

/**
 * Computes invoices of one organization that are not finalized, in the order given. Late changes are on the earliest draft of a
 * subscription, or on what is asked about where it has no draft. `closing`: usage at this closing; null: all that is recorded.
 * `upcoming` are dues that are not written yet, for a preview. Everything is read with `transaction`: for one snapshot let it be
 * `repeatable read`. Usage of all of them is one statement, but for what is computed with a `drive`, in slices.
 */
export async function computeInvoices(
  transaction: Queries,
  organizationId: string,
  invoices: readonly InvoiceToCompute[],
  closing: number | null,
  { upcoming = [], drive }: { upcoming?: readonly Due[]; drive?: Drive | undefined } = {},
): Promise<ComputedInvoice[]> {
  if (invoices.length === 0) return [];
  const work = drive ?? inOneGo;
  const written = await findDues(transaction, organizationId, periodsOf(invoices));
  const byCycle = groupBy([...written, ...upcoming], cycleKey);
  const late = await findLateOfInvoices(transaction, organizationId, invoices, closing);
  const added = await findAdjustments(transaction, organizationId, invoices);
  const parts = invoices.map((invoice) => duesOf(invoice, byCycle, late.get(invoice.id) ?? []));
  const atOnce = drive === undefined ? Infinity : DUES_AT_ONCE;
  const usage = await readUsage(transaction, organizationId, parts.flat(), closing, atOnce);
  const returning = await work(findReturning(invoices, parts, usage));
  const returnable = await readReturnable(
    transaction,
    organizationId,
    returning.map(({ due }) => due),
  );
  const computed: ComputedInvoice[] = [];
  for (const [index, invoice] of invoices.entries()) {
    const own = added.get(invoice.id) ?? [];
    computed.push(await work(computeInvoice(invoice, parts[index] ?? [], own, { usage, returnable }, closing)));
  }
  return computed;
}

/** Late changes of each subscription, by the invoice that takes them: the first that is finalized. */
async function findLateOfInvoices(
  transaction: Queries,
  organizationId: string,
  invoices: readonly InvoiceToCompute[],
  closing: number | null,
): Promise<Map<string, Due[]>> {
  const subscriptionIds = [...new Set(invoices.map(({ subscription_id }) => subscription_id))];
  const late = await findLateDues(transaction, organizationId, subscriptionIds, closing);
  if (late.length === 0) return new Map();
  const earliest = await transaction
    .selectFrom('invoices')
    .select(({ fn }) => ['subscription_id', fn.min('cycle').as('cycle')])
    .where('organization_id', '=', organizationId)
    .where('subscription_id', 'in', subscriptionIds)
    .where('status', '=', 'DRAFT')
    .where('cycle', 'is not', null)
    .groupBy('subscription_id')
    .execute();
  return takersOfLate(invoices, late, new Map(earliest.map(({ subscription_id, cycle }) => [subscription_id, cycle])));
}

/** What an admin added, by invoice. */
async function findAdjustments(
  transaction: Queries,
  organizationId: string,
  invoices: readonly InvoiceToCompute[],
): Promise<Map<string, Adjustment[]>> {
  const ids = invoices.map(({ id }) => id);
  const rows = await transaction
    .selectFrom('invoice_lines')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where(sql<boolean>`invoice_id = ANY (${ids}::uuid[])`)
    .where('kind', '=', 'ADJUSTMENT')
    .orderBy('position')
    .orderBy('id')
    .execute();
  const added = rows.map((row) => {
    const { organization_id: _, created_at: __, ...line } = row;
    return line;
  });
  return groupBy(added, ({ invoice_id }) => invoice_id);
}

async function readUsage(
  transaction: Queries,
  organizationId: string,
  parts: readonly DueOfInvoice[],
  closing: number | null,
  atOnce: number,
): Promise<Map<Due, DueUsage>> {
  const asked = parts.flatMap(({ due }) => {
    const { meter_id: meterId, aggregation, customer_external_id: customerExternalId } = due;
    if (meterId === null || aggregation === null) return [];
    const [start, end] = [microsOfText(due.period_start), microsOfText(due.period_end)];
    return [{ due, question: { organizationId, meterId, customerExternalId, aggregation, start, end, closing } }];
  });
  const questions = asked.map(({ question }) => question);
  const read: DueUsage[] = [];
  for (let from = 0; from < questions.length; from += atOnce) {
    for (const usage of await readDueUsage(transaction, questions.slice(from, from + atOnce))) read.push(usage);
  }
  return new Map(
    asked.map(({ due }, index) => {
      const usage = read[index];
      if (usage === undefined) throw new Error('the usage of a due was asked for and is not among the answers');
      return [due, usage];
    }),
  );
}
