// The ledger of grants, for those who check them: all grants of an organization, what was left of them at an instant, and which
// of them paid how much of which invoice. At an instant of the past everything is computed from the ledger, whose rows are only
// added: what it says of then stays the same.

import { amountOf, amountText } from '@weir/billing/amounts';
import { sql, type RawBuilder } from 'kysely';
import type { Queries } from '../../database.ts';
import { NEWEST_FIRST, OLDEST_FIRST } from '../../order.ts';
import { mapPage, selectPage, type Page, type PageOf } from '../../page.ts';
import { CREDIT_STATUSES, grantOf, type CreditGrant, type CreditStatus, type GrantRow } from './credits.ts';

/** Which grants. */
export interface GrantFilter {
  customerId?: string | undefined;
  currency?: string | undefined;
  status?: CreditStatus | undefined;
  /** An instant (ISO 8601): as they were then, without what was granted at it or later. Without it: as they are now. */
  asOf?: string | undefined;
}

/** A grant, and whose it is. */
export interface ListedGrant extends CreditGrant {
  customer_id: string;
  /** The invoice below zero that it is the other side of; null where somebody granted it. */
  invoice_id: string | null;
}

/** Those that match all that is given, newest first. */
export async function listGrants(
  db: Queries,
  organizationId: string,
  filter: GrantFilter,
  page: Page,
): Promise<PageOf<ListedGrant>> {
  const query = db
    .selectFrom(
      sql<
        GrantRow & { invoice_id: string | null }
      >`(SELECT ${GRANT_COLUMNS} FROM ${grants(organizationId, filter)})`.as('g'),
    )
    .selectAll();
  return mapPage(await selectPage(query, NEWEST_FIRST, page), ({ id, customer_id, invoice_id, ...rest }) => {
    const { id: _, ...grant } = grantOf({ id, customer_id, ...rest });
    return { id, customer_id, ...grant, invoice_id };
  });
}

/** All of {@link grants} but the status, which would be computed for each of a list that is put in order. */
const GRANT_COLUMNS = sql`id, customer_id, amount, currency, priority, expires_at, note, external_id, created_at, invoice_id, remaining,
  voided_at, is_expired`;

/** Balances in each currency in which there ever was a grant, by the codes of the currencies. */
export async function readBalance(
  db: Queries,
  organizationId: string,
  filter: GrantFilter,
): Promise<Record<string, string>> {
  const { rows } = await sql<{ currency: string; balance: string }>`
    SELECT currency, sum(CASE WHEN is_expired THEN 0 ELSE remaining END) AS balance
    FROM ${grants(organizationId, filter)} GROUP BY currency ORDER BY currency`.execute(db);
  return Object.fromEntries(
    rows.map(({ currency, balance }) => [currency, amountText(amountOf(balance, currency), currency)]),
  );
}

/**
 * The grants of a filter as a table. Those of all customers are no fence: a page of them is found along the key, and what it does not need
 * is not computed. So the time is that of the transaction, which does not change from row to row.
 */
function grants(organizationId: string, { customerId, currency, status, asOf }: GrantFilter): RawBuilder<unknown> {
  const at = asOf === undefined ? sql`billing_now()` : sql`${asOf}::timestamptz`;
  const isThere = asOf === undefined ? sql`true` : sql`created_at < ${at}`;
  const ofCurrency = currency === undefined ? sql`true` : sql`currency = ${currency}::text`;
  const rows =
    customerId === undefined
      ? sql`SELECT * FROM credit_grants WHERE organization_id = ${organizationId}::uuid AND ${isThere} AND ${ofCurrency}`
      : // By the index of customers and no other.
        sql`SELECT * FROM credit_grants WHERE customer_id = ${customerId}::uuid AND (organization_id = ${organizationId}::uuid) IS TRUE
          AND ${isThere} AND ${ofCurrency} OFFSET 0`;
  // Of what is equal to something Postgres believes that there is next to none, and would sort all there are to find the first.
  const ofStatus =
    status === undefined
      ? sql`true`
      : sql`status <> ALL (${CREDIT_STATUSES.filter((other) => other !== status)}::text[])`;
  return sql`(
    SELECT *, CASE WHEN voided_at IS NOT NULL THEN 'VOID' WHEN is_expired THEN 'EXPIRED'
      WHEN remaining = 0 THEN 'USED' ELSE 'ACTIVE' END AS status
    FROM (
      SELECT g.id, g.customer_id, g.amount, g.currency, g.priority, g.expires_at, g.note, g.external_id, g.created_at,
        g.invoice_id, ${asOf === undefined ? sql`g.remaining` : sql`CASE WHEN g.voided_at < ${at} THEN 0 ELSE g.amount - (${takenBefore(organizationId, at)}) END`} AS remaining,
        ${asOf === undefined ? sql`g.voided_at` : sql`CASE WHEN g.voided_at < ${at} THEN g.voided_at END`} AS voided_at,
        coalesce(g.expires_at <= ${at}, false) AS is_expired
      FROM (${rows}) AS g
    ) AS g
  ) AS grants WHERE ${ofStatus}`;
}

/** What was taken of the grant `g` before an instant and not given back by then. */
function takenBefore(organizationId: string, at: RawBuilder<unknown>): RawBuilder<unknown> {
  // In the order of the primary key, which no other index has.
  return sql`
    SELECT coalesce(sum(CASE kind WHEN 'RETURN' THEN -amount ELSE amount END), 0) AS taken FROM (
      SELECT kind, amount, created_at FROM credit_entries
      WHERE organization_id = ${organizationId}::uuid AND grant_id = g.id ORDER BY id OFFSET 0
    ) AS own WHERE created_at < ${at}`;
}

/** A row of the ledger: what was taken of a grant, by whom, and who gave it. */
export interface CreditEntry {
  id: string;
  kind: 'DRAW' | 'RETURN' | 'VOID';
  amount: string;
  currency: string;
  created_at: string;
  credit_id: string;
  /** Of the grant: what comes back to one that has expired, or is void, is of no use. */
  credit_expires_at: string | null;
  credit_voided_at: string | null;
  /** The invoice that drew, or gave back; null for what was voided. */
  invoice_id: string | null;
  invoice_number: string | null;
  /** The invoice below zero that the grant is the other side of; null where somebody granted it. */
  given_by_invoice_id: string | null;
  given_by_invoice_number: string | null;
}

/** Entries of a grant, oldest first. Undefined where there is no such grant. */
export async function listEntriesOfGrant(
  db: Queries,
  organizationId: string,
  grantId: string,
  page: Page,
): Promise<PageOf<CreditEntry> | undefined> {
  const grant = await db
    .selectFrom('credit_grants')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('id', '=', grantId)
    .executeTakeFirst();
  if (grant === undefined) return undefined;
  return await selectEntries(
    db,
    organizationId,
    sql`SELECT * FROM credit_entries
      WHERE organization_id = ${organizationId}::uuid AND grant_id = ${grantId}::uuid ORDER BY grant_id, id OFFSET 0`,
    page,
  );
}

/** What an invoice drew and gave back, and what of its own grant others drew: a total below zero pays what is open. Oldest first. */
export async function listEntriesOfInvoice(
  db: Queries,
  organizationId: string,
  invoiceId: string,
  page: Page,
): Promise<PageOf<CreditEntry>> {
  const own = sql`(organization_id = ${organizationId}::uuid) IS TRUE`;
  return await selectEntries(
    db,
    organizationId,
    sql`SELECT * FROM credit_entries WHERE invoice_id = ${invoiceId}::uuid AND ${own}
      UNION ALL
      SELECT given.* FROM (SELECT id FROM credit_grants WHERE invoice_id = ${invoiceId}::uuid AND ${own} OFFSET 0) AS g
      CROSS JOIN LATERAL (
        SELECT * FROM credit_entries WHERE organization_id = ${organizationId}::uuid AND grant_id = g.id
          AND (invoice_id = ${invoiceId}::uuid) IS NOT TRUE ORDER BY id OFFSET 0
      ) AS given`,
    page,
  );
}

async function selectEntries(
  db: Queries,
  organizationId: string,
  entries: RawBuilder<unknown>,
  page: Page,
): Promise<PageOf<CreditEntry>> {
  const numberOf = (id: RawBuilder<unknown>) =>
    sql`(SELECT invoice_number FROM invoices WHERE organization_id = ${organizationId}::uuid AND id = ${id})`;
  const ofGrant = (column: string) =>
    sql`(SELECT ${sql.ref(column)} FROM credit_grants WHERE organization_id = ${organizationId}::uuid AND id = entry.grant_id)`;
  const rows = sql<CreditEntry>`(
    SELECT entry.id, kind, entry.amount, ${ofGrant('currency')} AS currency, entry.created_at, entry.grant_id AS credit_id,
      ${ofGrant('expires_at')} AS credit_expires_at, ${ofGrant('voided_at')} AS credit_voided_at,
      entry.invoice_id, ${numberOf(sql`entry.invoice_id`)} AS invoice_number, ${ofGrant('invoice_id')} AS given_by_invoice_id,
      ${numberOf(ofGrant('invoice_id'))} AS given_by_invoice_number
    FROM (${entries}) AS entry)`;
  return mapPage(await selectPage(db.selectFrom(rows.as('entries')).selectAll(), OLDEST_FIRST, page), (row) => ({
    ...row,
    amount: amountText(amountOf(row.amount, row.currency), row.currency),
  }));
}
