// Invoices as they are kept, and in the form in which they are answered. What a draft comes to is in read-invoices.ts.

import type { InvoiceKind, InvoiceStatus } from '@weir/billing/kinds';
import type { Amount } from '@weir/rating/money';
import { amountOf, amountText } from '@weir/billing/amounts';
import { sql, type RawBuilder, type Selectable } from 'kysely';
import type { Queries } from '../../database.ts';
import type { Tables } from '../../schema.ts';
import type { Party } from '../parties.ts';

/** A row of invoices. */
export type InvoiceRow = Selectable<Tables['invoices']>;

/** An invoice as it is answered, without its lines. Amounts have exactly the currency's minor digits. */
export interface Invoice {
  id: string;
  invoice_number: string | null;
  kind: InvoiceKind;
  status: InvoiceStatus;
  customer_id: string;
  subscription_id: string;
  /** The boundary that it is of; null for an ADJUSTMENT, which is of none. */
  cycle: number | null;
  currency: string;
  issue_date: string | null;
  due_date: string | null;
  period_start: string;
  period_end: string;
  subtotal: string;
  tax: string;
  total: string;
  credits_applied: string;
  amount_paid: string;
  amount_due: string;
  /** Null: only a person finalizes it. */
  finalizes_at: string | null;
  finalized_at: string | null;
  paid_at: string | null;
  reference: string | null;
  note: string | null;
  customer: Record<string, unknown> | null;
  issuer: string | null;
  /** Whether it is open and its due date has ended. */
  is_past_due: boolean;
  /** Whether it is void and its charges are billed again. Of one that is void else they were waived. */
  rebilled: boolean;
  /** Field by field, beside the text. */
  seller: Party | null;
  buyer: Party | null;
  created_at: string;
  /** When a draft was computed; null once it is finalized, and where it could not be. */
  computed_at: string | null;
}

/** What an invoice comes to. */
interface Totals {
  subtotal: Amount;
  total: Amount;
}

/** What is still to be paid: nothing of an invoice that is void, or whose total is below zero. */
export function amountDueOf(
  row: Pick<InvoiceRow, 'status' | 'currency' | 'credits_applied' | 'amount_paid'>,
  total: Amount,
): Amount {
  if (row.status === 'VOID' || total < 0n) return 0n;
  return total - amountOf(row.credits_applied, row.currency) - amountOf(row.amount_paid, row.currency);
}

/** What a draft was computed to come to, when (null: it could not be), and whether only a person finalizes it. */
export interface ComputedDraft {
  totals: Totals;
  at: string | null;
  isManual: boolean;
}

/** Puts a row into the form in which it is answered; a draft with what it was computed to come to, a void one as {@link findRebilled} says. */
export function invoiceOf(row: InvoiceRow, computed?: ComputedDraft, rebilled = false): Invoice {
  const { currency } = row;
  const kept = (amount: string | null): Amount => amountOf(amount, currency);
  const text = (amount: Amount): string => amountText(amount, currency);
  const totals = computed?.totals ?? { subtotal: kept(row.subtotal), total: kept(row.total) };
  return {
    id: row.id,
    invoice_number: row.invoice_number,
    kind: row.kind,
    status: row.status,
    customer_id: row.customer_id,
    subscription_id: row.subscription_id,
    cycle: row.cycle,
    currency,
    issue_date: row.issue_date,
    due_date: row.due_date,
    period_start: row.period_start,
    period_end: row.period_end,
    subtotal: text(totals.subtotal),
    tax: text(0n),
    total: text(totals.total),
    credits_applied: text(kept(row.credits_applied)),
    amount_paid: text(kept(row.amount_paid)),
    amount_due: text(amountDueOf(row, totals.total)),
    finalizes_at: computed?.isManual === true ? null : row.finalizes_at,
    finalized_at: row.finalized_at,
    paid_at: row.paid_at,
    reference: row.reference,
    note: row.note,
    customer: row.customer,
    issuer: row.issuer,
    is_past_due: row.is_past_due,
    rebilled,
    seller: row.seller,
    buyer: row.buyer,
    created_at: row.created_at,
    computed_at: computed?.at ?? null,
  };
}

/** One invoice of an organization. */
export async function findInvoiceRow(db: Queries, organizationId: string, id: string): Promise<InvoiceRow | undefined> {
  return await db
    .selectFrom('invoices')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/**
 * Those of some invoices that were voided to be billed again, as their lines say it: what they billed is taken off its dues. What a line
 * took away comes with the next invoice either way: one whose charges all did has billed none, and what was added by hand is waived.
 */
export async function findRebilled(
  db: Queries,
  organizationId: string,
  invoices: readonly Pick<InvoiceRow, 'id' | 'status'>[],
): Promise<Set<string>> {
  const ids = invoices.filter(({ status }) => status === 'VOID').map(({ id }) => id);
  if (ids.length === 0) return new Set();
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM unnest(${ids}::uuid[]) AS voided (id)
    WHERE coalesce((SELECT rebilled IS NOT NULL FROM invoice_lines
      WHERE invoice_id = voided.id AND (organization_id = ${organizationId}::uuid) IS TRUE AND charge_id IS NOT NULL AND amount >= 0
      ORDER BY position, id LIMIT 1), false)`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

/** What is to be finalized, in the order of the periods, so that the earlier drafts of a subscription come first. */
export async function findInvoicesToFinalize(
  db: Queries,
  organizationId: string,
  ids: readonly string[],
): Promise<Pick<InvoiceRow, 'id' | 'status' | 'invoice_number'>[]> {
  return await db
    .selectFrom('invoices')
    .select(['id', 'status', 'invoice_number'])
    .where('organization_id', '=', organizationId)
    .where('id', 'in', [...ids])
    .orderBy('period_end')
    .orderBy('cycle')
    .orderBy('id')
    .execute();
}

/** The same, held until this transaction ends: lock 8 of decision 94. */
export async function lockInvoiceRow(
  transaction: Queries,
  organizationId: string,
  id: string,
): Promise<InvoiceRow | undefined> {
  return await transaction
    .selectFrom('invoices')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
}

/**
 * Invoices of an organization by their ids, as a table. Each is looked up by itself: before a midnight there are next to no drafts,
 * and going by that, Postgres would read a hundred thousand for each chunk of them.
 */
export function invoicesById(organizationId: string, ids: readonly string[]): RawBuilder<unknown> {
  return sql`unnest(${ids}::uuid[]) AS named (invoice_id) CROSS JOIN LATERAL (
    SELECT * FROM invoices WHERE organization_id = ${organizationId}::uuid AND invoices.id = named.invoice_id OFFSET 0) AS invoice`;
}
