// Lines of a draft, or of a preview, that somebody reads: the first ones beside what it comes to, a page, or one. What is not asked for
// is not computed, but that a total is the sum of all lines.

import type { DueName } from '@weir/billing/due';
import type { InvoiceToCompute } from '@weir/billing/dues-of-invoices';
import { inOneGo, type Drive } from '@weir/billing/drive';
import { lineId, type ComputedInvoice, type ComputedLine } from '@weir/billing/lines';
import type { Queries } from '../../database.ts';
import { findAdjustment, readAdjustments } from './adjustments.ts';
import { computeInvoices, findParts, linesOfParts, type ComputeOptions } from './compute-lines.ts';
import { FIRST_LINES, PageOfLines, tiersOfComputed, type LinePage, type LineSpan } from './line-pages.ts';

/** What an invoice comes to, and its first lines. */
export async function computeFirstLines(
  snapshot: Queries,
  organizationId: string,
  invoice: InvoiceToCompute,
  options: ComputeOptions,
): Promise<{ computed: ComputedInvoice; page: LinePage<ComputedLine> }> {
  const first = new PageOfLines(FIRST_LINES, tiersOfComputed);
  const take = (lines: ComputedLine[]): void => first.take(lines);
  const [computed] = await computeInvoices(snapshot, organizationId, [invoice], null, { ...options, take });
  if (computed === undefined) throw new Error('an invoice was not computed');
  if (!first.isFull && computed.added > 0) {
    const added = { from: 0, limit: FIRST_LINES.limit + 1, behind: computed.lines - computed.added };
    first.take(await readAdjustments(snapshot, organizationId, invoice.id, added));
  }
  return { computed, page: first.page };
}

/** A page of the lines of a draft. */
export async function computeLinePage(
  snapshot: Queries,
  organizationId: string,
  invoice: InvoiceToCompute,
  { from, limit }: LineSpan,
  drive: Drive | undefined,
): Promise<LinePage<ComputedLine>> {
  const { parts } = await findParts(snapshot, organizationId, invoice);
  const page = new PageOfLines({ limit }, tiersOfComputed);
  const some = { invoice, from, parts: parts.slice(from, from + limit + 1) };
  for await (const lines of linesOfParts(snapshot, organizationId, some, null, drive)) {
    page.take(lines);
    if (page.isFull) return page.page;
  }
  const added = { from: Math.max(0, from - parts.length), limit: limit + 1, behind: parts.length };
  page.take(await readAdjustments(snapshot, organizationId, invoice.id, added));
  return page.page;
}

/** One line of a draft. */
export async function computeLine(
  snapshot: Queries,
  organizationId: string,
  invoice: InvoiceToCompute,
  id: string,
  drive: Drive = inOneGo,
): Promise<ComputedLine | undefined> {
  const { parts } = await findParts(snapshot, organizationId, invoice);
  const position = await drive(
    findLine(
      invoice.id,
      parts.map(({ due }) => due),
      id,
    ),
  );
  const some = { invoice, from: position, parts: parts.slice(position, position + 1) };
  for await (const [line] of linesOfParts(snapshot, organizationId, some, null, drive))
    if (line !== undefined) return line;
  return await findAdjustment(snapshot, organizationId, invoice.id, id);
}

/** Where the due stands that has the line; behind all of them where none has. Stops after each. */
function* findLine(invoiceId: string, dues: readonly DueName[], id: string): Generator<undefined, number, undefined> {
  for (const [position, due] of dues.entries()) {
    if (lineId(invoiceId, due) === id) return position;
    yield;
  }
  return dues.length;
}
