// Reading invoices. A draft is computed when it is read: there is nothing of it that could be out of date.

import type { Database } from '../database.ts';
import type { Page, PageOf, Queries } from '../page.ts';
import { sql } from 'kysely';
import { computeInvoices, type ComputedInvoice } from './compute-lines.ts';
import { fieldsOfComputed, lineOf, listLineRows, type InvoiceLine } from './invoice-lines.ts';
import { inSnapshot } from './snapshot.ts';
import { listInvoiceRows, type InvoiceFilter } from './find-invoices.ts';
import { findInvoiceRow, invoiceOf, type Invoice, type InvoiceRow } from './invoices.ts';

/** An invoice as it is answered, with its lines. */
export interface InvoiceWithLines extends Invoice {
  lines: InvoiceLine[];
}

/** A page of invoices, without lines. All drafts on it are computed together, as of one moment. */
export async function readInvoices(
  database: Database,
  organizationId: string,
  filter: InvoiceFilter,
  page: Page,
): Promise<PageOf<Invoice>> {
  return await inSnapshot(database, async (snapshot) => {
    const { rows, total } = await listInvoiceRows(snapshot, organizationId, filter, page);
    const { drafts, at } = await computeDrafts(snapshot, organizationId, rows);
    return {
      rows: rows.map((row) => {
        const totals = drafts.get(row.id);
        return totals === undefined ? invoiceOf(row) : invoiceOf(row, { totals, at });
      }),
      total,
    };
  });
}

/** One invoice with its lines; a draft as it is now. */
export async function readInvoice(
  database: Database,
  organizationId: string,
  id: string,
): Promise<InvoiceWithLines | undefined> {
  return await inSnapshot(database, (snapshot) => readInvoiceWithin(snapshot, organizationId, id));
}

/** The same within a transaction, with what it has changed. A draft is exact in one that is a snapshot. */
export async function readInvoiceWithin(
  transaction: Queries,
  organizationId: string,
  id: string,
): Promise<InvoiceWithLines | undefined> {
  const row = await findInvoiceRow(transaction, organizationId, id);
  if (row === undefined) return undefined;
  const { drafts, at } = await computeDrafts(transaction, organizationId, [row]);
  const draft = drafts.get(id);
  if (draft !== undefined) {
    return {
      ...invoiceOf(row, { totals: draft, at }),
      lines: draft.lines.map((line) => lineOf(fieldsOfComputed(line), row.currency)),
    };
  }
  const lines = await listLineRows(transaction, organizationId, [id]);
  return { ...invoiceOf(row), lines: lines.map((line) => lineOf(line, row.currency)) };
}

/** What those of the invoices come to that are drafts, by their ids, and the time of the snapshot. */
async function computeDrafts(
  snapshot: Queries,
  organizationId: string,
  rows: readonly InvoiceRow[],
): Promise<{ drafts: Map<string, ComputedInvoice>; at: string }> {
  const drafts = rows.filter(({ status }) => status === 'DRAFT');
  if (drafts.length === 0) return { drafts: new Map(), at: '' };
  const computed = await computeInvoices(snapshot, organizationId, drafts, null);
  const { rows: times } = await sql<{ at: string }>`SELECT billing_now() AS at`.execute(snapshot);
  return { drafts: new Map(computed.map((each) => [each.id, each])), at: times[0]?.at ?? '' };
}
