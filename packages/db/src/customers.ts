import { sql } from 'kysely';
import { EXTERNAL_ID_LOCK } from './advisory-locks.ts';
import { deleteAlertsOf } from './alerts/alerts.ts';
import { CUSTOMER_COLUMNS, type Customer } from './customer-fields.ts';
import type { Queries } from './database.ts';
import { hashed, ofCustomer, ofOrganization } from './of-organization.ts';
import { sortsByName } from './order.ts';
import { holds, selectPage, type Page, type PageOf } from './page.ts';
import { endWidgetTokens } from './widget-tokens.ts';

/** A customer without what Weir itself says of it: what people fill in. */
export type CustomerFields = Omit<Customer, 'id' | 'created_at' | 'erased_at'>;

/** The fields of a customer that can be changed: all but its id. */
export type CustomerChanges = { [Field in keyof CustomerFields]?: CustomerFields[Field] | undefined };

/** What is not given is null, or empty. Violates `customers_organization_id_external_id_key` when the external_id is taken. */
export async function insertCustomer(
  db: Queries,
  {
    metadata = {},
    ...customer
  }: CustomerChanges & Pick<CustomerFields, 'external_id'> & { organization_id: string; id: string },
): Promise<Customer> {
  return await db
    .insertInto('customers')
    .values({ ...customer, metadata: JSON.stringify(metadata) })
    .returning(CUSTOMER_COLUMNS)
    .executeTakeFirstOrThrow();
}

/** By their names as they are shown: one without a name by its external_id. */
export const CUSTOMER_SORTS = sortsByName<Customer>({ orElse: 'external_id' });

/** Which customers to list: those whose external_id, name or email holds `search`, in whatever case. */
export interface CustomerFilter {
  search: string;
  /** The whole of it, to the letter. */
  externalId?: string | undefined;
  /** Newest first, where nothing is said. */
  sort?: keyof typeof CUSTOMER_SORTS | undefined;
}

/** Those that match all that is given. */
export async function listCustomers(
  db: Queries,
  organizationId: string,
  { search, externalId, sort = '-created_at' }: CustomerFilter,
  page: Page,
): Promise<PageOf<Customer>> {
  const isByName = sort === 'name' || sort === '-name';
  const own = isByName ? hashed(organizationId, 0) : ofOrganization(organizationId);
  let query = db
    .selectFrom('customers')
    .select(CUSTOMER_COLUMNS)
    .where(() => (externalId === undefined ? own : isNamed(organizationId, externalId)))
    .where((eb) => holds(eb, search, 'external_id', 'name', 'email'));
  return await selectPage(query, CUSTOMER_SORTS[sort], page);
}

export async function findCustomer(db: Queries, organizationId: string, id: string): Promise<Customer | undefined> {
  return await db
    .selectFrom('customers')
    .select(CUSTOMER_COLUMNS)
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
}

const isNamed = (organizationId: string, externalId: string) =>
  ofCustomer(organizationId, 'customers.external_id', sql`${externalId}::text`);

/** The id of the customer that has an external_id. */
export async function findCustomerId(
  db: Queries,
  organizationId: string,
  externalId: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('customers')
    .select('id')
    .where(() => isNamed(organizationId, externalId))
    .executeTakeFirst();
  return row?.id;
}

/**
 * Changes what is given, of which there must be at least one thing, and returns the customer if there is such a one. With
 * another external_id the widget tokens of the old and of the new one end: whoever holds one may not be who it means now. Alerts that watch
 * it alone are to look at its usage under the new one (`lookAtCustomer`), once nothing else is left to do.
 * Violates `customers_organization_id_external_id_key` when the external_id is taken. Needs a transaction.
 */
export async function updateCustomer(
  db: Queries,
  organizationId: string,
  id: string,
  { metadata, ...changes }: CustomerChanges,
): Promise<Customer | undefined> {
  const { external_id: name } = changes;
  const former = name === undefined ? undefined : await lockExternalId(db, organizationId, id);
  const customer = await db
    .updateTable('customers')
    .set({ ...changes, ...(metadata !== undefined && { metadata: JSON.stringify(metadata) }) })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .returning(CUSTOMER_COLUMNS)
    .executeTakeFirst();
  if (name !== undefined && former !== undefined && former !== name) {
    for (const customer_external_id of [former, name])
      await endWidgetTokens(db, { organization_id: organizationId, customer_external_id });
  }
  return customer;
}

/** Whether a subscription of a customer goes on: the events that it bills are found by the customer's external_id. */
export async function isSubscribed(db: Queries, organizationId: string, id: string): Promise<boolean> {
  const found = await db
    .selectFrom('subscriptions')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('customer_id', '=', id)
    .where('status', '<>', 'CANCELED')
    .where(({ eb, or }) => or([eb('ended_at', 'is', null), eb('ended_at', '>', sql<string>`billing_now()`)]))
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/**
 * The id of another customer that was billed under an external_id: its dues name it, so events that come late for them are billed to that
 * one. Asked once the external_id is taken: whoever had it before has let go of it by then, and nobody else subscribes under it.
 */
export async function findBilledUnder(
  db: Queries,
  organizationId: string,
  { externalId, butNot }: { externalId: string; butNot: string },
): Promise<string | undefined> {
  const { rows } = await sql<{ customer_id: string }>`
    SELECT customer_id FROM subscriptions s
    WHERE ${ofCustomer(organizationId, 's.customer_external_id', sql`${externalId}::text`)}
      AND customer_id <> ${butNot}::uuid AND EXISTS (
        SELECT FROM dues WHERE dues.organization_id = s.organization_id AND dues.subscription_id = s.id)
    LIMIT 1`.execute(db);
  return rows[0]?.customer_id;
}

/** The external_id of a customer, if there is such a one; it does not change, and nobody subscribes it, before this transaction ends. */
export async function lockExternalId(db: Queries, organizationId: string, id: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('customers')
    .select('external_id')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  return row?.external_id;
}

const externalIdLock = (organizationId: string, externalId: string) =>
  sql`${EXTERNAL_ID_LOCK}, hashtext(${`${organizationId} ${externalId}`})`;

/**
 * Until this transaction ends no record gets an external id that it has not: where there is none, that is no row that could be held.
 * Lock 3 of decision 94. Two ids may have one lock.
 */
export async function holdExternalId(transaction: Queries, organizationId: string, externalId: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(${externalIdLock(organizationId, externalId)})`.execute(transaction);
}

/** Waits for whoever holds the external id that a record is to get. Before that record is held FOR UPDATE, which such a one may wait for. */
export async function awaitExternalId(transaction: Queries, organizationId: string, externalId: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock_shared(${externalIdLock(organizationId, externalId)})`.execute(transaction);
}

/**
 * Until this transaction ends an external id means whom it means: waits for whoever changes which record has it, or asks for its usage to be
 * moved, and they wait for this. Shares locks 3 and 4 of decision 94.
 */
export async function keepExternalId(transaction: Queries, organizationId: string, externalId: string): Promise<void> {
  await awaitExternalId(transaction, organizationId, externalId);
  await transaction
    .selectFrom('customers')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('external_id', '=', externalId)
    .forShare()
    .execute();
}

/**
 * Whether a subscription, an invoice or a credit names a customer. To be asked before the customer is deleted: that holds its row, and then
 * waits for one of these, whose holder may be just making another that names the customer. Then one of both would be given up.
 */
export async function isBilled(db: Queries, organizationId: string, id: string): Promise<boolean> {
  const { rows } = await sql<{ is_billed: boolean }>`
    SELECT ${sql.join(
      ['subscriptions', 'invoices', 'credit_grants'].map(
        (table) => sql`EXISTS (SELECT FROM ${sql.table(table)}
          WHERE organization_id = ${organizationId}::uuid AND customer_id = ${id}::uuid)`,
      ),
      sql` OR `,
    )} AS is_billed`.execute(db);
  return rows[0]?.is_billed === true;
}

/**
 * Returns whether there was such a customer. Its usage stays, under its external_id; the widget tokens that show it end, and so do the
 * alerts that watch it alone.
 * Violates `subscriptions_organization_id_customer_id_fkey`, or another constraint of billing, where {@link isBilled} has come true
 * meanwhile. Needs a transaction.
 */
export async function deleteCustomer(db: Queries, organizationId: string, id: string): Promise<boolean> {
  const deleted = await db
    .deleteFrom('customers')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .returning('external_id')
    .executeTakeFirst();
  if (deleted === undefined) return false;
  await endWidgetTokens(db, { organization_id: organizationId, customer_external_id: deleted.external_id });
  await deleteAlertsOf(db, organizationId, id);
  return true;
}
