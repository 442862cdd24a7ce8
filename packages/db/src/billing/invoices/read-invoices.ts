// Reading invoices. A draft is computed when it is read: there is nothing of it that could be out of date.

import type { ComputedInvoice } from '@weir/billing/lines';
import type { Drive } from '@weir/billing/drive';
import type { Database, Queries } from '../../database.ts';
import type { Page, PageOf } from '../../page.ts';
import { isoOf } from '@weir/shared/instant';
import { computeEach } from './compute-lines.ts';
import { computeFirstLines, computeLinePage } from './draft-lines.ts';
import { readDrafting } from '../drafting.ts';
import { fieldsOfComputed, lineOf, type InvoiceLine } from './invoice-lines.ts';
import { countLines, FIRST_LINES, readLinePage, type LinePage, type LineSpan } from './line-pages.ts';
import { inSnapshot } from '../snapshot.ts';
import { listInvoiceRows, type InvoiceFilter } from './find-invoices.ts';
import { findInvoiceRow, findRebilled, invoiceOf, type Invoice } from './invoices.ts';
import { listPayments, paymentOf, type Payment } from './payments.ts';

/** An invoice as it is answered, with its lines: the first of them, where it has more than a page. */
export interface InvoiceWithLines extends Invoice, SomeLines {
  lines: InvoiceLine[];
  /** Those that were taken back as well. */
  payments: Payment[];
}

/** Said where lines are not all that there are: how many that is, and where the others begin. */
interface SomeLines {
  lines_total?: number;
  lines_next_cursor?: string;
}

/** An invoice of a list. */
export interface ListedInvoice extends Invoice {
  /** Why a draft could not be computed: its amounts are 0, and it has no `computed_at`. Undefined for all others. */
  notComputed: Error | undefined;
}

/** Drafts whose dues of their periods are held at once: of a plan with as many charges as it may have some hundred kilobytes each. */
const DRAFTS_AT_ONCE = 20;

/**
 * A page of invoices, without lines. All drafts on it are computed as of one moment, and nothing is held of them but what they come to. One
 * that cannot be computed says so, and the others are there.
 */
export async function readInvoices(
  database: Database,
  organizationId: string,
  filter: InvoiceFilter,
  wanted: Page,
  drive?: Drive,
): Promise<PageOf<ListedInvoice>> {
  return await inSnapshot(database, async (snapshot) => {
    const { rows, ...page } = await listInvoiceRows(snapshot, organizationId, filter, wanted);
    const drafts = rows.filter(({ status }) => status === 'DRAFT');
    const computed = new Map<string, ComputedInvoice | Error>();
    for (let from = 0; from < drafts.length; from += DRAFTS_AT_ONCE) {
      const some = drafts.slice(from, from + DRAFTS_AT_ONCE);
      for (const [index, each] of (await computeEach(snapshot, organizationId, some, null, { drive })).entries())
        computed.set(some[index]?.id ?? '', each);
    }
    const read = drafts.length === 0 ? undefined : await readMoment(snapshot, organizationId);
    const rebilled = await findRebilled(snapshot, organizationId, rows);
    return {
      ...page,
      rows: rows.map((row) => {
        const each = computed.get(row.id);
        const notComputed = each instanceof Error ? each : undefined;
        if (each === undefined || read === undefined)
          return { ...invoiceOf(row, undefined, rebilled.has(row.id)), notComputed };
        const { at, isManual } = read;
        const draft = each instanceof Error ? { totals: NOT_COMPUTED, at: null } : { totals: each, at };
        return { ...invoiceOf(row, { ...draft, isManual }), notComputed };
      }),
    };
  });
}

const NOT_COMPUTED = { subtotal: 0n, total: 0n };

/** One invoice with its first lines; a draft as it is now. */
export async function readInvoice(
  database: Database,
  organizationId: string,
  id: string,
  drive?: Drive,
): Promise<InvoiceWithLines | undefined> {
  return await inSnapshot(database, (snapshot) => readInvoiceWithin(snapshot, organizationId, id, drive));
}

/** The same within a transaction, with what it has changed. A draft is exact in one that is a snapshot. */
export async function readInvoiceWithin(
  transaction: Queries,
  organizationId: string,
  id: string,
  drive?: Drive,
): Promise<InvoiceWithLines | undefined> {
  const row = await findInvoiceRow(transaction, organizationId, id);
  if (row === undefined) return undefined;
  if (row.status === 'DRAFT') {
    const { computed, page } = await computeFirstLines(transaction, organizationId, row, { drive });
    return {
      ...invoiceOf(row, { totals: computed, ...(await readMoment(transaction, organizationId)) }),
      lines: page.lines.map((line) => lineOf(fieldsOfComputed(line), row.currency)),
      payments: [],
      ...someLines(page.next, computed.lines),
    };
  }
  const { lines, next } = await readLinePage(transaction, organizationId, id, FIRST_LINES);
  const rebilled = await findRebilled(transaction, organizationId, [row]);
  const total = next === undefined ? lines.length : await countLines(transaction, organizationId, id);
  return {
    ...invoiceOf(row, undefined, rebilled.has(id)),
    lines: lines.map((line) => lineOf(line, row.currency)),
    payments: (await listPayments(transaction, organizationId, id)).map((each) => paymentOf(each, row.currency)),
    ...someLines(next, total),
  };
}

/** What is said of the lines of a page that are not all. */
function someLines(next: number | undefined, total: number): SomeLines {
  return next === undefined ? {} : { lines_total: total, lines_next_cursor: String(next) };
}

/** A page of the lines of an invoice; of a draft as it is now. Undefined where there is no such invoice. */
export async function readLinesOfInvoice(
  database: Database,
  organizationId: string,
  id: string,
  span: LineSpan,
  drive?: Drive,
): Promise<LinePage<InvoiceLine> | undefined> {
  return await inSnapshot(database, async (snapshot) => {
    const row = await findInvoiceRow(snapshot, organizationId, id);
    if (row === undefined) return undefined;
    if (row.status === 'DRAFT') {
      const { lines, next } = await computeLinePage(snapshot, organizationId, row, span, drive);
      return { lines: lines.map((line) => lineOf(fieldsOfComputed(line), row.currency)), next };
    }
    const { lines, next } = await readLinePage(snapshot, organizationId, id, span);
    return { lines: lines.map((line) => lineOf(line, row.currency)), next };
  });
}

/** The time of the snapshot, and who finalizes drafts. */
async function readMoment(snapshot: Queries, organizationId: string): Promise<{ at: string; isManual: boolean }> {
  const { now, isManual } = await readDrafting(snapshot, organizationId);
  return { at: isoOf(now), isManual };
}
