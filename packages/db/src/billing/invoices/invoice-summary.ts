import { amountOf, amountText } from '@weir/billing/amounts';
import { sql } from 'kysely';
import type { Queries } from '../../database.ts';

/** What an organization has billed in one currency. Amounts have exactly its minor digits. */
export interface InvoiceSummary {
  currency: string;
  draft_count: number;
  /** Open ones, past due or not, and what is still to be paid of them. */
  open_count: number;
  open_amount: string;
  past_due_count: number;
  past_due_amount: string;
  /** What was finalized since a time comes to, without what was voided. */
  finalized_total: string;
  /** The same of what was finalized before it, from another time on. */
  finalized_before: string;
}

/**
 * Invoices that are read at most: of those that wait, and of those that were finalized. It is asked for again and again, and so many
 * take some tenths of a second. Of 100,000 customers these are all that are finalized in two months.
 */
const INVOICES_MAX = 250_000;

/**
 * By currency, in the order of their codes; nothing of a currency without a draft, an open invoice or one finalized since `from`.
 * `since` is after `from`. Undefined where there are too many to add up.
 */
export async function summarizeInvoices(
  db: Queries,
  organizationId: string,
  { from, since }: { from: string; since: string },
  invoicesMax = INVOICES_MAX,
): Promise<InvoiceSummary[] | undefined> {
  // In the order of an index each, whatever Postgres knows of the table: a walk along it ends with the limit.
  const { rows } = await sql<InvoiceSummary & { read: number }>`
    WITH waiting AS (
      SELECT currency, count(*) AS read, count(*) FILTER (WHERE status = 'DRAFT')::int AS draft_count,
        count(*) FILTER (WHERE status = 'OPEN')::int AS open_count,
        coalesce(sum(total - credits_applied - amount_paid) FILTER (WHERE status = 'OPEN'), 0) AS open_amount,
        count(*) FILTER (WHERE status = 'OPEN' AND is_past_due)::int AS past_due_count,
        coalesce(sum(total - credits_applied - amount_paid) FILTER (WHERE status = 'OPEN' AND is_past_due), 0) AS past_due_amount
      FROM (
        SELECT currency, status, total, credits_applied, amount_paid, is_past_due FROM invoices
        WHERE organization_id = ${organizationId}::uuid AND status IN ('DRAFT', 'OPEN')
        ORDER BY status, subscription_id LIMIT ${invoicesMax + 1}
      ) AS invoices GROUP BY currency
    ), finalized AS (
      SELECT currency, count(*) AS read,
        coalesce(sum(total) FILTER (WHERE status <> 'VOID' AND finalized_at >= ${since}::timestamptz), 0) AS finalized_total,
        coalesce(sum(total) FILTER (WHERE status <> 'VOID' AND finalized_at < ${since}::timestamptz), 0) AS finalized_before
      FROM (
        SELECT currency, status, total, finalized_at FROM invoices
        WHERE organization_id = ${organizationId}::uuid AND finalized_at IS NOT NULL AND finalized_at >= ${from}::timestamptz
        ORDER BY finalized_at LIMIT ${invoicesMax + 1}
      ) AS invoices GROUP BY currency
    )
    SELECT greatest((SELECT sum(read) FROM waiting), (SELECT sum(read) FROM finalized))::int AS read,
      currency, coalesce(draft_count, 0) AS draft_count,
      coalesce(open_count, 0) AS open_count, coalesce(open_amount, 0) AS open_amount,
      coalesce(past_due_count, 0) AS past_due_count, coalesce(past_due_amount, 0) AS past_due_amount,
      coalesce(finalized_total, 0) AS finalized_total, coalesce(finalized_before, 0) AS finalized_before
    FROM waiting FULL JOIN finalized USING (currency) ORDER BY currency`.execute(db);
  if ((rows[0]?.read ?? 0) > invoicesMax) return undefined;
  return rows.map((row) => {
    const text = (amount: string): string => amountText(amountOf(amount, row.currency), row.currency);
    return {
      currency: row.currency,
      draft_count: row.draft_count,
      open_count: row.open_count,
      open_amount: text(row.open_amount),
      past_due_count: row.past_due_count,
      past_due_amount: text(row.past_due_amount),
      finalized_total: text(row.finalized_total),
      finalized_before: text(row.finalized_before),
    };
  });
}

/** What the invoices of a customer come to in one currency. */
export interface BilledCustomer {
  currency: string;
  customer_id: string;
  external_id: string;
  name: string | null;
  finalized_total: string;
}

/**
 * The customers whose invoices came to most in each currency since a time, at most `limit` of each, without what was voided. It reads
 * all of them: {@link summarizeInvoices} tells whether they are too many.
 */
export async function findMostBilled(
  db: Queries,
  organizationId: string,
  { since, limit }: { since: string; limit: number },
): Promise<BilledCustomer[]> {
  const { rows } = await sql<BilledCustomer>`
    WITH summed AS (
      SELECT currency, customer_id, sum(total) AS total FROM invoices
      WHERE organization_id = ${organizationId}::uuid AND finalized_at IS NOT NULL AND finalized_at >= ${since}::timestamptz
        AND status <> 'VOID'
      GROUP BY currency, customer_id
    ), ranked AS (
      SELECT *, row_number() OVER (PARTITION BY currency ORDER BY total DESC, customer_id) AS place FROM summed
      WHERE total > 0
    )
    SELECT currency, customer_id, external_id, name, total AS finalized_total
    FROM ranked JOIN customers ON customers.organization_id = ${organizationId}::uuid AND customers.id = customer_id
    WHERE place <= ${limit} ORDER BY currency, place`.execute(db);
  return rows.map((row) => ({
    ...row,
    finalized_total: amountText(amountOf(row.finalized_total, row.currency), row.currency),
  }));
}
