// One line of an invoice and what is behind it: whose usage, of when, and as of which closing.

import type { Drive } from '@weir/billing/drive';
import { sql } from 'kysely';
import type { Database, Queries } from '../../database.ts';
import { computeLine } from './draft-lines.ts';
import type { ClosingSpan } from '../usage/due-events.ts';
import type { DueUsageQuestion } from '../usage/due-question.ts';
import {
  fieldsOfComputed,
  findLineRow,
  questionOfLine,
  type LineFields,
  type LineRow,
  type UsageOfLine,
} from './invoice-lines.ts';
import { findInvoiceRow, type InvoiceRow } from './invoices.ts';
import { inSnapshot } from '../snapshot.ts';

export interface FoundLine {
  line: LineFields & UsageOfLine & Pick<LineRow, 'rebills'>;
  /** What to read for it; undefined for a line without usage. */
  question: DueUsageQuestion | undefined;
  /** Of the invoice. */
  currency: string;
  /** Of the subscription. */
  timeZone: string;
  /** The closing of the line before it for the same due, and its own; undefined where it is the first. */
  changesSince: ClosingSpan | undefined;
}

/** Finds a line: one that is kept, or one that a draft is computed to have now. */
export async function findLine(
  database: Database,
  organizationId: string,
  invoiceId: string,
  lineId: string,
  drive?: Drive,
): Promise<FoundLine | undefined> {
  return await inSnapshot(database, async (snapshot) => {
    const invoice = await findInvoiceRow(snapshot, organizationId, invoiceId);
    if (invoice === undefined) return undefined;
    const line = await lineOfInvoice(snapshot, organizationId, { invoice, lineId, drive });
    if (line === undefined) return undefined;
    const { time_zone: timeZone } = await snapshot
      .selectFrom('subscriptions')
      .select('time_zone')
      .where('organization_id', '=', organizationId)
      .where('id', '=', invoice.subscription_id)
      .executeTakeFirstOrThrow();
    const question = questionOfLine(organizationId, line);
    const changesSince = await findChangesSince(snapshot, organizationId, invoice, line);
    return { line, question, currency: invoice.currency, timeZone, changesSince };
  });
}

async function lineOfInvoice(
  snapshot: Queries,
  organizationId: string,
  { invoice, lineId, drive }: { invoice: InvoiceRow; lineId: string; drive: Drive | undefined },
): Promise<FoundLine['line'] | undefined> {
  if (invoice.status !== 'DRAFT') {
    const line = await findLineRow(snapshot, organizationId, lineId);
    return line?.invoice_id === invoice.id ? line : undefined;
  }
  const line = await computeLine(snapshot, organizationId, invoice, lineId, drive);
  return line === undefined ? undefined : { ...fieldsOfComputed(line), rebills: line.rebills };
}

async function findChangesSince(
  db: Queries,
  organizationId: string,
  { subscription_id }: InvoiceRow,
  { cycle, charge_id, closing, rebills }: FoundLine['line'],
): Promise<FoundLine['changesSince']> {
  if (cycle === null || charge_id === null) return undefined;
  const before = closing === null ? null : Number(closing);
  let earlier = db
    .selectFrom('invoice_lines')
    .select(sql<string | null>`max(closing)`.as('closing'))
    .where('organization_id', '=', organizationId)
    .where('subscription_id', '=', subscription_id)
    .where('cycle', '=', cycle)
    .where('charge_id', '=', charge_id)
    // What was voided to be billed again before this line is in it as a whole.
    .where(({ eb, or }) => or([eb('rebilled', 'is', null), eb('rebilled', '>', rebills)]));
  if (before !== null) earlier = earlier.where('closing', '<', String(before));
  const { closing: from } = await earlier.executeTakeFirstOrThrow();
  return from === null ? undefined : { from: Number(from), before };
}
