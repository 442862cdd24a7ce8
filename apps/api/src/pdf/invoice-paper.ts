// What stands on the paper of an invoice, read and bounded: lines become rows of some texts as they come, so that tiers are held for one
// page of lines at most.

import type { Drive } from '@weir/billing/drive';
import type { Database } from '@weir/db/database';
import { readAsIssued } from '@weir/db/billing/invoices/as-issued';
import type { InvoiceLine } from '@weir/db/billing/invoices/invoice-lines';
import { readInvoice, readLinesOfInvoice, type InvoiceWithLines } from '@weir/db/billing/invoices/read-invoices';
import { findSubscription } from '@weir/db/billing/subscriptions/subscriptions';
import { getOrganization } from '@weir/db/organizations';
import { minorDigits } from '@weir/rating/currencies';
import { formatAmount, parseAmount } from '@weir/rating/money';
import { LIMITS } from '@weir/shared/limits';
import { isZero, sayAmount, sayDecimal, sayPeriod, sayPrice } from './words.ts';

/** A line as it is printed. */
export interface PaperRow {
  description: string;
  /** Below the description: of when it is, and what explains its amount. */
  notes: string[];
  quantity: string;
  amount: string;
}

export interface InvoicePaper {
  invoice: Omit<InvoiceWithLines, 'lines'>;
  /** That of the subscription, in which its days are told. */
  zone: string;
  /** For an invoice that does not say who issued it. */
  organization: string;
  rows: PaperRow[];
  /** What the lines come to that there is no room for. */
  further: { lines: number; amount: string } | undefined;
}

/** Of when an invoice is drawn: of the moment in which it was finalized, or of now. */
export const PAPERS = ['issued', 'now'] as const;

export interface PaperAsked {
  as: (typeof PAPERS)[number];
  drive: Drive;
}

/** Undefined where there is no such invoice. Of a draft, which is not issued yet, there are the lines that its answer has. */
export async function readPaper(
  database: Database,
  organizationId: string,
  id: string,
  { as, drive }: PaperAsked,
): Promise<InvoicePaper | undefined> {
  const read = await readInvoice(database, organizationId, id, drive);
  if (read === undefined) return undefined;
  const { lines: first, ...current } = read;
  const isIssued = as === 'issued' && current.status !== 'DRAFT';
  const invoice: InvoicePaper['invoice'] = isIssued
    ? { ...current, ...(await readAsIssued(database.kysely, organizationId, current)), payments: [] }
    : current;
  const { currency, subtotal, status, subscription_id } = invoice;
  const subscription = await findSubscription(database.kysely, organizationId, subscription_id);
  if (subscription === undefined) throw new Error('the subscription of an invoice is never deleted');
  const { time_zone: zone } = subscription;
  const digits = minorDigits(currency);
  const rows: PaperRow[] = [];
  const rowsOfNothing: PaperRow[] = [];
  let printed = 0n;
  let count = 0;
  const take = (lines: readonly InvoiceLine[]) => {
    for (const line of lines) {
      printed += parseAmount(line.amount, digits) ?? 0n;
      count += 1;
      (saysSomething(line) ? rows : rowsOfNothing).push(rowOf(line, { currency, zone }));
    }
  };
  take(first);
  // A finalized invoice has the same lines whenever they are read. Those of a draft would be computed anew for each page.
  let next = status === 'DRAFT' ? undefined : invoice.lines_next_cursor;
  while (next !== undefined && count < LIMITS.pdfLines) {
    const span = { from: Number(next), limit: Math.min(LIMITS.invoiceLines, LIMITS.pdfLines - count) };
    const page = await readLinesOfInvoice(database, organizationId, id, span, drive);
    take(page?.lines ?? []);
    next = page?.next === undefined ? undefined : String(page.next);
  }
  const left = (invoice.lines_total ?? count) - count;
  const rest = (parseAmount(subtotal, digits) ?? 0n) - printed;
  return {
    invoice,
    zone,
    organization: (await getOrganization(database.kysely, organizationId)).name,
    rows: rows.length > 0 ? rows : rowsOfNothing,
    further: left === 0 ? undefined : { lines: left, amount: sayAmount(formatAmount(rest, digits), currency) },
  };
}

/**
 * What was neither used nor comes to an amount is left out where there is something else. What is included in the plan and was used stays,
 * and what was waived.
 */
function saysSomething({ amount, quantity, waived }: InvoiceLine): boolean {
  return !isZero(amount) || waived !== null || (quantity !== null && !isZero(quantity));
}

function rowOf(line: InvoiceLine, { currency, zone }: { currency: string; zone: string }): PaperRow {
  const { charge, days, billed_before, waived, period_start, period_end } = line;
  const explained = [
    charge === null ? '' : sayPrice(charge, currency),
    days === null ? '' : `${days} days`,
    isZero(billed_before) ? '' : `${sayAmount(billed_before, currency)} billed before`,
    waived === null ? '' : `${sayAmount(waived, currency)} waived`,
  ];
  return {
    description: line.description,
    notes: [sayPeriod(period_start, period_end, zone), explained.filter((note) => note !== '').join(' · ')].filter(
      (note) => note !== '',
    ),
    quantity: line.quantity === null ? '' : sayDecimal(line.quantity),
    amount: sayAmount(line.amount, currency),
  };
}
