// Lines as they are kept: those of finalized invoices, and what an admin added to a draft.

import type { ComputedLine } from '@weir/billing/lines';
import { amountOf, amountText } from '@weir/billing/amounts';
import type { LineKind } from '@weir/billing/kinds';
import { microsOfText } from '@weir/shared/instant';
import type { ChargeTerms } from '@weir/rating/charge-terms';
import { formatExact, parseExact } from '@weir/rating/exact';
import type { Amount } from '@weir/rating/money';
import { RATING_VERSION, type RatedDetail } from '@weir/rating/rate';
import { newId } from '@weir/shared/ids';
import { LIMITS } from '@weir/shared/limits';
import type { AggregationType } from '@weir/shared/meter';
import { sql, type RawBuilder, type Selectable } from 'kysely';
import type { Queries } from '../../database.ts';
import type { Tables } from '../../schema.ts';
import type { DueUsageQuestion } from '../usage/due-question.ts';
import { sumAdjustments } from './adjustments.ts';
import { lockInvoiceRow } from './invoices.ts';

/** A row of invoice_lines, with what its due says of the charge. */
export interface LineRow extends Selectable<Tables['invoice_lines']> {
  /** The charge as it was when the period was opened; null for what an admin added, like what follows. */
  terms: ChargeTerms | null;
  meter_id: string | null;
  customer_external_id: string | null;
  aggregation_type: AggregationType | null;
}

/** A line as it is answered. */
export interface InvoiceLine {
  id: string;
  kind: LineKind;
  description: string;
  charge_id: string | null;
  /** The charge as it was when the period was opened. */
  charge: (ChargeTerms & { display_name: string; meter_id: string | null }) | null;
  cycle: number | null;
  period_start: string | null;
  period_end: string | null;
  /** Local dates in force, of those of the whole period; null where it is whole. */
  days: string | null;
  quantity: string | null;
  event_count: number | null;
  detail: RatedDetail | null;
  exact_amount: string;
  billed_before: string;
  amount: string;
  waived: string | null;
  closing: number | null;
  rating_version: number;
}

/** What a line is made of, whether it is kept or was just computed. */
export type LineFields = Omit<
  LineRow,
  | 'organization_id'
  | 'invoice_id'
  | 'position'
  | 'subscription_id'
  | 'rebills'
  | 'rebilled'
  | 'created_at'
  | 'customer_external_id'
  | 'aggregation_type'
>;

/** A computed line, with what its due says of the charge. */
export function fieldsOfComputed(line: ComputedLine): LineFields & UsageOfLine {
  const { due } = line;
  return {
    ...line,
    terms: due?.terms ?? null,
    meter_id: due?.meter_id ?? null,
    customer_external_id: due?.customer_external_id ?? null,
    aggregation_type: due?.aggregation ?? null,
  };
}

/** Puts a line into the form in which it is answered. */
export function lineOf(line: LineFields, currency: string): InvoiceLine {
  const { terms, description, meter_id, days_in_force: inForce, days_in_period: inPeriod } = line;
  return {
    id: line.id,
    kind: line.kind,
    description,
    charge_id: line.charge_id,
    charge: terms === null ? null : { display_name: description, meter_id, ...terms },
    cycle: line.cycle,
    period_start: line.period_start,
    period_end: line.period_end,
    days: inForce === null || inPeriod === null ? null : `${inForce}/${inPeriod}`,
    quantity: line.quantity,
    event_count: line.event_count === null ? null : Number(line.event_count),
    detail: line.detail,
    exact_amount: line.exact_amount,
    billed_before: amountText(amountOf(line.billed_before, currency), currency),
    amount: amountText(amountOf(line.amount, currency), currency),
    waived: line.waived === null ? null : amountText(amountOf(line.waived, currency), currency),
    closing: line.closing === null ? null : Number(line.closing),
    rating_version: line.rating_version,
  };
}

/** What is read of `lines`, some rows of invoice_lines, where {@link joinedDues} stands beside them. */
export const LINE_COLUMNS = sql`lines.*, trim_scale(lines.quantity) AS quantity, dues.terms, dues.meter_id, dues.customer_external_id,
      meters.aggregation_type`;

/** The due of each of `lines`, and its meter. */
export function joinedDues(organizationId: string): RawBuilder<unknown> {
  return sql`LEFT JOIN LATERAL (
      SELECT terms, meter_id, customer_external_id FROM dues WHERE organization_id = ${organizationId}::uuid
        AND subscription_id = lines.subscription_id AND cycle = lines.cycle AND charge_id = lines.charge_id LIMIT 1
    ) AS dues ON true
    LEFT JOIN LATERAL (
      SELECT aggregation_type FROM meters WHERE organization_id = ${organizationId}::uuid AND id = dues.meter_id LIMIT 1
    ) AS meters ON true`;
}

/** The lines that are kept of these invoices, in their order: all of them. */
export async function listLineRows(
  db: Queries,
  organizationId: string,
  invoiceIds: readonly string[],
): Promise<LineRow[]> {
  const { rows } = await sql<LineRow>`
    SELECT ${LINE_COLUMNS}
    FROM (
      SELECT * FROM invoice_lines WHERE organization_id = ${organizationId}::uuid AND invoice_id = ANY (${invoiceIds}::uuid[]) OFFSET 0
    ) AS lines
    ${joinedDues(organizationId)}
    ORDER BY lines.invoice_id, lines.position, lines.id`.execute(db);
  return rows;
}

/** One line that is kept, of any invoice. */
export async function findLineRow(db: Queries, organizationId: string, lineId: string): Promise<LineRow | undefined> {
  const { rows } = await sql<LineRow>`
    SELECT ${LINE_COLUMNS}
    FROM (
      SELECT * FROM invoice_lines WHERE organization_id = ${organizationId}::uuid AND id = ${lineId}::uuid OFFSET 0
    ) AS lines
    ${joinedDues(organizationId)}`.execute(db);
  return rows[0];
}

/** What says whose usage a line bills, and of when. */
export type UsageOfLine = Pick<
  LineRow,
  'meter_id' | 'customer_external_id' | 'aggregation_type' | 'period_start' | 'period_end' | 'closing'
>;

/** What to read for a line, as of its closing; undefined for one without a meter. */
export function questionOfLine(organizationId: string, line: UsageOfLine): DueUsageQuestion | undefined {
  const { meter_id, customer_external_id, aggregation_type, period_start, period_end, closing } = line;
  if (meter_id === null || customer_external_id === null || aggregation_type === null) return undefined;
  if (period_start === null || period_end === null) return undefined;
  return {
    organizationId,
    meterId: meter_id,
    customerExternalId: customer_external_id,
    aggregation: aggregation_type,
    start: microsOfText(period_start),
    end: microsOfText(period_end),
    closing: closing === null ? null : Number(closing),
  };
}

/** What an admin puts on a draft. */
export interface AdjustmentFields {
  description: string;
  /** A decimal text; may be below zero. */
  amount: Amount;
}

/** What became of a change of a draft's own lines. */
export type AdjustmentOutcome =
  | { outcome: 'done'; line: InvoiceLine }
  | { outcome: 'not_found' | 'not_draft' | 'too_many' };

/** Adds an ADJUSTMENT line to a draft, unless it has as many as it takes. The amount is in the minor unit of the invoice's currency. */
export async function insertAdjustmentLine(
  transaction: Queries,
  organizationId: string,
  invoiceId: string,
  { description, amount }: AdjustmentFields,
): Promise<AdjustmentOutcome> {
  const invoice = await lockInvoiceRow(transaction, organizationId, invoiceId);
  if (invoice === undefined) return { outcome: 'not_found' };
  if (invoice.status !== 'DRAFT') return { outcome: 'not_draft' };
  const added = (await sumAdjustments(transaction, organizationId, [invoiceId])).get(invoiceId);
  if ((added?.count ?? 0) >= LIMITS.addedLines) return { outcome: 'too_many' };
  const text = amountText(amount, invoice.currency);
  const line = await transaction
    .insertInto('invoice_lines')
    .values((eb) => ({
      organization_id: organizationId,
      id: newId(),
      invoice_id: invoiceId,
      position: eb
        .selectFrom('invoice_lines')
        .select(sql<number>`coalesce(max(position), -1) + 1`.as('position'))
        .where('organization_id', '=', organizationId)
        .where('invoice_id', '=', invoiceId),
      kind: 'ADJUSTMENT' as const,
      description,
      exact_amount: formatExact(parseExact(text)),
      billed_before: amountText(0n, invoice.currency),
      amount: text,
      rating_version: RATING_VERSION,
    }))
    .returningAll()
    .executeTakeFirstOrThrow();
  return {
    outcome: 'done',
    line: lineOf({ ...line, terms: null, meter_id: null }, invoice.currency),
  };
}

/** Takes an ADJUSTMENT line off a draft. `not_found` also where the line is one that the draft is computed to have. */
export async function deleteAdjustmentLine(
  transaction: Queries,
  organizationId: string,
  invoiceId: string,
  lineId: string,
): Promise<{ outcome: 'done' | 'not_found' | 'not_draft' }> {
  const invoice = await lockInvoiceRow(transaction, organizationId, invoiceId);
  if (invoice === undefined) return { outcome: 'not_found' };
  if (invoice.status !== 'DRAFT') return { outcome: 'not_draft' };
  const { numDeletedRows } = await transaction
    .deleteFrom('invoice_lines')
    .where('organization_id', '=', organizationId)
    .where('invoice_id', '=', invoiceId)
    .where('id', '=', lineId)
    .executeTakeFirst();
  return { outcome: numDeletedRows > 0n ? 'done' : 'not_found' };
}
