// Which invoices are asked for, and by which index they are found. The form of each statement fits one index alone, whatever
// Postgres believes of the tables (docs/decisions/0054-one-index-for-each-question.md).

import type { InvoiceStatus } from '@weir/billing/kinds';
import { sql, type RawBuilder, type SqlBool } from 'kysely';
import type { Queries } from '../../database.ts';
import { hashed, ofOrganization, ofStatus } from '../../of-organization.ts';
import { NEWEST_FIRST, OLDEST_FIRST, reversed, type Order } from '../../order.ts';
import { beginningWith, selectPage, type Page, type PageOf } from '../../page.ts';
import type { InvoiceRow } from './invoices.ts';

/** Which invoices. All of it is optional, and all that is given has to hold. */
export interface InvoiceFilter {
  customerId?: string | undefined;
  subscriptionId?: string | undefined;
  status?: InvoiceStatus | undefined;
  /** Whether it is no draft any more. */
  isFinalized?: true | undefined;
  /** Instants that are compared with the end of the period, half-open. */
  from?: string | undefined;
  to?: string | undefined;
  /** Dates that are compared with the issue date, half-open; a draft has none. */
  issuedFrom?: string | undefined;
  issuedTo?: string | undefined;
  isPastDue?: boolean | undefined;
  /** The whole number, in whatever case. */
  number?: string | undefined;
  /** How the number begins, in whatever case. */
  numberPrefix?: string | undefined;
  /** Newest first, where nothing is said. */
  sort?: InvoiceSort | undefined;
}

export type InvoiceSort = keyof typeof INVOICE_SORTS;

/** Of those that have an issue date. */
const BY_ISSUE_DATE: Order<InvoiceRow> = [{ field: 'issue_date', type: 'date' }, ...OLDEST_FIRST];

/** Ids rise with time, and of invoices made in one moment with the period. */
export const INVOICE_SORTS = {
  created_at: OLDEST_FIRST,
  '-created_at': NEWEST_FIRST,
  issue_date: BY_ISSUE_DATE,
  '-issue_date': reversed(BY_ISSUE_DATE),
} satisfies Record<string, Order<InvoiceRow>>;

/** Those that match all that is given; in the order of issue dates only those that have one. */
export async function listInvoiceRows(
  db: Queries,
  organizationId: string,
  filter: InvoiceFilter,
  page: Page,
): Promise<PageOf<InvoiceRow>> {
  const { lead, sort } = wayTo(organizationId, filter);
  const isIssued = isByIssueDate(sort);
  // Without OFFSET a page is found at its end of an index: of the primary key, of issue dates, or of what is past due.
  const isInOrder = lead === undefined || lead.order === (isIssued ? 'issue_date' : 'created_at');
  const rows = isInOrder ? (lead?.rows ?? ofOrganization(organizationId)) : sql`${lead.rows} OFFSET 0`;
  const query = db
    .selectFrom(sql<InvoiceRow>`(SELECT * FROM invoices WHERE ${rows})`.as('invoices'))
    .selectAll()
    .where(() => matches(filter));
  const issued = isIssued ? query.where('issue_date', 'is not', null) : query;
  return await selectPage(issued, INVOICE_SORTS[sort], page);
}

/** By what they are found, and in which order. Where nothing is said, that is the order of the index. */
function wayTo(organizationId: string, filter: InvoiceFilter): { lead: Lead | undefined; sort: InvoiceSort } {
  const { sort } = filter;
  const lead = leadOf(organizationId, filter);
  if (isByIssueDate(sort)) return { lead: lead ?? issuedOf(organizationId, filter), sort };
  const isLed = lead?.order === 'issue_date';
  if (sort === undefined && isLed) return { lead, sort: '-issue_date' };
  // Many may be issued in that time: they are looked for in the order that is wanted.
  return { lead: (isLed ? undefined : lead) ?? madeOf(organizationId, filter), sort: sort ?? '-created_at' };
}

function isByIssueDate(sort: InvoiceSort | undefined): sort is 'issue_date' | '-issue_date' {
  return sort === 'issue_date' || sort === '-issue_date';
}

/** A place in the order of issue dates, and of ids where these are the same. */
export interface InvoicePlace {
  issue_date: string;
  id: string;
}

/**
 * The places of finalized invoices that match, in the order of their issue dates, from `from` on. So many are looked at, whatever
 * comes of it: `next` is where to go on, undefined at the end.
 */
export async function walkIssued(
  db: Queries,
  organizationId: string,
  filter: InvoiceFilter,
  { from, lookedAtMax }: { from: InvoicePlace | undefined; lookedAtMax: number },
): Promise<{ places: InvoicePlace[]; next: InvoicePlace | undefined }> {
  const after = from === undefined ? sql`true` : sql`(issue_date, id) >= (${from.issue_date}::date, ${from.id}::uuid)`;
  const { customerId, subscriptionId, isPastDue, issuedFrom, issuedTo } = filter;
  const source =
    subscriptionId !== undefined
      ? // All of it are some hundreds, by a key that no order but its own fits.
        sql`(SELECT * FROM invoices WHERE ${ofSubscription(organizationId, subscriptionId)} OFFSET 0) AS invoices WHERE true`
      : customerId !== undefined
        ? sql`invoices WHERE ${ofCustomer(organizationId, customerId)}`
        : isPastDue === true
          ? // They may be few beside those that were ever issued, of which most pages would have none, or nearly all of them.
            sql`invoices WHERE ${pastDueByIssueDate(organizationId)}`
          : sql`invoices WHERE ${hashed(organizationId, 0)}`;
  const { rows } = await sql<InvoicePlace & { is_match: boolean }>`
    WITH walked AS MATERIALIZED (
      SELECT id, issue_date, coalesce(${matches(filter)}, false) AS is_match
      FROM ${source} AND issue_date IS NOT NULL AND ${between('issue_date', 'date', issuedFrom, issuedTo)} AND ${after}
      ORDER BY issue_date, id LIMIT ${lookedAtMax + 1}::integer
    ), last AS (SELECT * FROM walked ORDER BY issue_date, id OFFSET ${lookedAtMax}::integer)
    SELECT * FROM (
      SELECT id, issue_date, is_match FROM walked WHERE is_match AND id NOT IN (SELECT id FROM last)
      UNION ALL SELECT id, issue_date, NULL FROM last
    ) AS places ORDER BY issue_date, id`.execute(db);
  const places = rows.filter(({ is_match }) => is_match).map(({ issue_date, id }) => ({ issue_date, id }));
  const last = rows.find(({ is_match }) => !is_match);
  return { places, next: last === undefined ? undefined : { issue_date: last.issue_date, id: last.id } };
}

interface Lead {
  /** A condition that one index alone fits. */
  rows: RawBuilder<unknown>;
  /** That of this index, where it is one of those that are asked for. */
  order?: 'issue_date' | 'created_at';
}

/** By what they are found; undefined for all of an organization, or of a rare status. */
function leadOf(organizationId: string, filter: InvoiceFilter): Lead | undefined {
  const { customerId, subscriptionId, from, to, issuedFrom, issuedTo, isPastDue, number, numberPrefix, sort } = filter;
  if (number !== undefined || numberPrefix !== undefined) {
    return { rows: sql`${hashed(organizationId, 3)} AND ${ofNumber(filter)}` };
  }
  if (subscriptionId !== undefined) return { rows: ofSubscription(organizationId, subscriptionId) };
  if (customerId !== undefined) return { rows: ofCustomer(organizationId, customerId) };
  if (isPastDue === true) {
    return isByIssueDate(sort)
      ? { rows: pastDueByIssueDate(organizationId), order: 'issue_date' }
      : { rows: sql`${hashed(organizationId, 2)} AND is_past_due`, order: 'created_at' };
  }
  if (issuedFrom !== undefined || issuedTo !== undefined) return issuedOf(organizationId, filter);
  // Of a year there may be more than were ever voided.
  if ((from !== undefined || to !== undefined) && !isRare(filter.status)) {
    return { rows: sql`${hashed(organizationId, 1)} AND ${between('period_end', 'timestamptz', from, to)}` };
  }
  return undefined;
}

function issuedOf(organizationId: string, { status, issuedFrom, issuedTo }: InvoiceFilter): Lead {
  const own = isRare(status) ? ofRare(organizationId, 6, status) : hashed(organizationId, 0);
  const issued = between('issue_date', 'date', issuedFrom, issuedTo);
  return { rows: sql`${own} AND issue_date IS NOT NULL AND ${issued}`, order: 'issue_date' };
}

function madeOf(organizationId: string, { status }: InvoiceFilter): Lead | undefined {
  return isRare(status) ? { rows: ofRare(organizationId, 5, status), order: 'created_at' } : undefined;
}

/** Of these there are few among all that were issued, so they have an index of their own. */
type RareStatus = 'VOID' | 'UNCOLLECTIBLE';

function isRare(status: InvoiceStatus | undefined): status is RareStatus {
  return status === 'VOID' || status === 'UNCOLLECTIBLE';
}

function ofRare(organizationId: string, seed: number, status: RareStatus): RawBuilder<SqlBool> {
  return sql<SqlBool>`(${ofStatus(organizationId, seed, status)} AND status IN ('VOID', 'UNCOLLECTIBLE'))`;
}

function pastDueByIssueDate(organizationId: string): RawBuilder<unknown> {
  return sql`${hashed(organizationId, 4)} AND is_past_due`;
}

function ofCustomer(organizationId: string, customerId: string): RawBuilder<unknown> {
  return sql`customer_id = ${customerId}::uuid AND (${ofOrganization(organizationId)}) IS TRUE`;
}

/** By the key of subscription and cycle: the order is that of its own. */
function ofSubscription(organizationId: string, subscriptionId: string): RawBuilder<unknown> {
  return sql`${ofOrganization(organizationId)} AND subscription_id = ${subscriptionId}::uuid ORDER BY subscription_id, cycle`;
}

function ofNumber({ number, numberPrefix }: InvoiceFilter): RawBuilder<SqlBool> {
  const whole = number === undefined ? sql`true` : sql`upper(invoice_number) = upper(${number}::text)`;
  const begins =
    numberPrefix === undefined
      ? sql`true`
      : sql`upper(invoice_number) LIKE ${beginningWith(numberPrefix.toUpperCase())}::text`;
  return sql<SqlBool>`(invoice_number IS NOT NULL AND ${whole} AND ${begins})`;
}

function between(column: string, type: string, from: string | undefined, to: string | undefined): RawBuilder<SqlBool> {
  const [name, cast] = [sql.ref(column), sql.raw(type)];
  const start = from === undefined ? sql`true` : sql`${name} >= ${from}::${cast}`;
  const end = to === undefined ? sql`true` : sql`${name} < ${to}::${cast}`;
  return sql<SqlBool>`(${start} AND ${end})`;
}

/** All that is given, once more: what leads is among it, and costs nothing. */
function matches(filter: InvoiceFilter): RawBuilder<SqlBool> {
  const { customerId, subscriptionId, status, isFinalized, from, to, issuedFrom, issuedTo, isPastDue } = filter;
  const all: RawBuilder<unknown>[] = [ofNumberIfAny(filter)];
  if (customerId !== undefined) all.push(sql`customer_id = ${customerId}::uuid`);
  if (subscriptionId !== undefined) all.push(sql`subscription_id = ${subscriptionId}::uuid`);
  if (status !== undefined) all.push(sql`status = ${status}::text`);
  if (isFinalized === true) all.push(sql`status <> 'DRAFT'`);
  if (isPastDue !== undefined) all.push(isPastDue ? sql`is_past_due` : sql`NOT is_past_due`);
  all.push(between('period_end', 'timestamptz', from, to), between('issue_date', 'date', issuedFrom, issuedTo));
  return sql<SqlBool>`(${sql.join(all, sql` AND `)})`;
}

function ofNumberIfAny(filter: InvoiceFilter): RawBuilder<unknown> {
  return filter.number === undefined && filter.numberPrefix === undefined ? sql`true` : ofNumber(filter);
}
