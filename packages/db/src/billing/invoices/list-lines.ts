// The lines of many invoices as one list, for those who check them: page by page in the order of issue dates, of any number of
// invoices. What an invoice has more (the copy of the charge, tiers) is on the invoice itself.

import { amountOf, amountText } from '@weir/billing/amounts';
import type { InvoiceStatus, LineKind } from '@weir/billing/kinds';
import { sql } from 'kysely';
import type { Database, Queries } from '../../database.ts';
import { walkIssued, type InvoiceFilter, type InvoicePlace } from './find-invoices.ts';
import { inSnapshot } from '../snapshot.ts';

/** A line, with what it has to be known by among those of other invoices. Amounts have exactly the currency's minor digits. */
export interface ListedLine {
  invoice_id: string;
  invoice_number: string;
  invoice_status: InvoiceStatus;
  issue_date: string;
  customer_id: string;
  /** As they were when the invoice was finalized. Once that is erased the name is null, and the external id the one of now. */
  customer_external_id: string | null;
  customer_name: string | null;
  subscription_id: string;
  currency: string;
  id: string;
  kind: LineKind;
  description: string;
  charge_id: string | null;
  meter_id: string | null;
  cycle: number | null;
  period_start: string | null;
  period_end: string | null;
  days: string | null;
  quantity: string | null;
  event_count: number | null;
  exact_amount: string;
  billed_before: string;
  waived: string | null;
  amount: string;
  closing: number | null;
  rating_version: number;
}

/** Where a page begins: an invoice, and the position of the first of its lines. */
export interface LinePlace extends InvoicePlace {
  position: number;
}

/** So many invoices are looked at for one page: where a filter leaves out most of them, pages are short. */
const LOOKED_AT_MAX = 5_000;

/** Of so many invoices the lines are read in one statement. */
const INVOICES_AT_ONCE = 100;

/**
 * Up to `limit` lines of finalized invoices that match, from a place on, in one snapshot. A page may have fewer, or none, and is
 * not the last one as long as there is a `next`.
 */
export async function listLines(
  database: Database,
  organizationId: string,
  filter: InvoiceFilter,
  { from, limit }: { from: LinePlace | undefined; limit: number },
): Promise<{ lines: ListedLine[]; next: LinePlace | undefined }> {
  return await inSnapshot(database, async (snapshot) => {
    await readByIndex(snapshot);
    // Each invoice has a line at least.
    const lookedAtMax = isPartOfRange(filter) ? LOOKED_AT_MAX : limit;
    const { places, next } = await walkIssued(snapshot, organizationId, filter, { from, lookedAtMax });
    const lines: Row[] = [];
    for (let at = 0; at < places.length && lines.length <= limit; at += INVOICES_AT_ONCE) {
      const some = places.slice(at, at + INVOICES_AT_ONCE);
      lines.push(...(await readLines(snapshot, organizationId, some, { from, limit: limit + 1 - lines.length })));
    }
    const beyond = lines[limit];
    return {
      lines: lines.slice(0, limit).map(lineOf),
      next:
        beyond === undefined
          ? next && { ...next, position: 0 }
          : { issue_date: beyond.issue_date, id: beyond.invoice_id, position: beyond.position },
    };
  });
}

/**
 * For this transaction: a page is read along its index. Where Postgres believes that there are few invoices, to find all of them
 * and sort them looks as good to it.
 */
async function readByIndex(snapshot: Queries): Promise<void> {
  await sql`SELECT set_config('enable_bitmapscan', 'off', true), set_config('enable_seqscan', 'off', true)`.execute(
    snapshot,
  );
}

/** Whether some of the invoices that are walked over are left out. What is past due is walked over by itself, but for one customer's. */
function isPartOfRange({ status, from, to, isPastDue, customerId, subscriptionId }: InvoiceFilter): boolean {
  const isOfBoth = customerId !== undefined && subscriptionId !== undefined;
  const isAllPastDue = isPastDue === true && customerId === undefined && subscriptionId === undefined;
  return (
    isOfBoth || (isPastDue !== undefined && !isAllPastDue) || [status, from, to].some((each) => each !== undefined)
  );
}

type Row = Omit<ListedLine, 'event_count' | 'closing'> & {
  position: number;
  event_count: string | null;
  closing: string | null;
};

async function readLines(
  db: Queries,
  organizationId: string,
  places: readonly InvoicePlace[],
  { from, limit }: { from: LinePlace | undefined; limit: number },
): Promise<Row[]> {
  const ids = places.map(({ id }) => id);
  const { rows } = await sql<Row>`
    SELECT invoice.id AS invoice_id, invoice_number, invoice.status AS invoice_status, invoice.issue_date, invoice.customer_id,
      coalesce(invoice.customer ->> 'external_id', (
        SELECT external_id FROM customers WHERE organization_id = ${organizationId}::uuid AND id = invoice.customer_id
      )) AS customer_external_id,
      invoice.customer ->> 'name' AS customer_name, invoice.subscription_id, invoice.currency, line.id, line.kind,
      line.description, line.charge_id, dues.meter_id, line.cycle, line.period_start, line.period_end,
      line.days_in_force || '/' || line.days_in_period AS days, trim_scale(line.quantity) AS quantity, line.event_count, line.exact_amount, line.billed_before,
      line.waived, line.amount, line.closing, line.rating_version, line.position
    FROM unnest(${ids}::uuid[]) WITH ORDINALITY AS named (invoice_id, place)
    CROSS JOIN LATERAL (
      SELECT * FROM invoices WHERE organization_id = ${organizationId}::uuid AND id = named.invoice_id OFFSET 0
    ) AS invoice
    CROSS JOIN LATERAL (
      SELECT * FROM invoice_lines WHERE invoice_id = named.invoice_id AND (organization_id = ${organizationId}::uuid) IS TRUE
        AND (named.invoice_id <> ${from?.id ?? null}::uuid OR position >= ${from?.position ?? 0}::integer) IS NOT FALSE
      ORDER BY position, id LIMIT ${limit}::integer
    ) AS line
    LEFT JOIN LATERAL (
      SELECT meter_id FROM dues WHERE organization_id = ${organizationId}::uuid
        AND subscription_id = line.subscription_id AND cycle = line.cycle AND charge_id = line.charge_id LIMIT 1
    ) AS dues ON true
    ORDER BY named.place, line.position, line.id LIMIT ${limit}::integer`.execute(db);
  return rows;
}

function lineOf(placed: Row): ListedLine {
  const { position: _, ...row } = placed;
  const text = (amount: string): string => amountText(amountOf(amount, row.currency), row.currency);
  return {
    ...row,
    event_count: row.event_count === null ? null : Number(row.event_count),
    billed_before: text(row.billed_before),
    waived: row.waived === null ? null : text(row.waived),
    amount: text(row.amount),
    closing: row.closing === null ? null : Number(row.closing),
  };
}
