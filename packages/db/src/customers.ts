import { sql } from 'kysely';
import type { Queries } from './database.ts';
import { containing, selectPage, type Page, type PageOf } from './page.ts';
import { deleteWidgetTokensOf } from './widget-tokens.ts';

/** A customer without what identifies it in Weir. */
export interface CustomerFields {
  /** The identifier in the organization's own systems; usage is recorded under it. */
  external_id: string;
  name: string | null;
  email: string | null;
  phone: string | null;
  /** As it stands on invoices as the buyer's; null: the name. */
  legal_name: string | null;
  tax_id: string | null;
  billing_address_line1: string | null;
  billing_address_line2: string | null;
  billing_address_city: string | null;
  billing_address_state: string | null;
  /** Free text. */
  billing_address_country: string | null;
  /** ISO 3166-1 alpha-2. */
  billing_country_code: string | null;
  billing_address_postal_code: string | null;
  metadata: Record<string, unknown>;
  /** Of the IANA database, for subscriptions that are made from then on. Null: that of the organization. */
  time_zone: string | null;
}

export interface Customer extends CustomerFields {
  id: string;
  created_at: string;
  /** When it was erased: it takes no changes then. */
  erased_at: string | null;
}

/** What can be changed of a customer: everything but its id. */
export type CustomerChanges = { [Field in keyof CustomerFields]?: CustomerFields[Field] | undefined };

const columns = [
  'id',
  'external_id',
  'name',
  'email',
  'phone',
  'legal_name',
  'tax_id',
  'billing_address_line1',
  'billing_address_line2',
  'billing_address_city',
  'billing_address_state',
  'billing_address_country',
  'billing_country_code',
  'billing_address_postal_code',
  'metadata',
  'time_zone',
  'created_at',
  'erased_at',
] as const;

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
    .returning(columns)
    .executeTakeFirstOrThrow();
}

/** Which customers to list: those whose external_id, name or email holds `search`, in whatever case. */
export interface CustomerFilter {
  search: string;
  /** The whole of it, to the letter. */
  externalId?: string | undefined;
}

/** Those that match all that is given, newest first. */
export async function listCustomers(
  db: Queries,
  organizationId: string,
  { search, externalId }: CustomerFilter,
  page: Page,
): Promise<PageOf<Customer>> {
  let query = db.selectFrom('customers').select(columns).where('organization_id', '=', organizationId);
  if (externalId !== undefined) query = query.where('external_id', '=', externalId);
  if (search !== '') {
    const pattern = containing(search);
    query = query.where(({ eb, or }) =>
      or([eb('external_id', 'ilike', pattern), eb('name', 'ilike', pattern), eb('email', 'ilike', pattern)]),
    );
  }
  return await selectPage(query.orderBy('id', 'desc'), page);
}

export async function findCustomer(db: Queries, organizationId: string, id: string): Promise<Customer | undefined> {
  return await db
    .selectFrom('customers')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** The id of the customer that has an external_id. */
export async function findCustomerId(
  db: Queries,
  organizationId: string,
  externalId: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('customers')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('external_id', '=', externalId)
    .executeTakeFirst();
  return row?.id;
}

/**
 * Changes what is given, of which there must be at least one thing, and returns the customer if there is such a one. With
 * another external_id the widget tokens of the old and of the new one end: whoever holds one may not be who it means now.
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
    .returning(columns)
    .executeTakeFirst();
  if (name !== undefined && former !== undefined && former !== name) {
    for (const customer_external_id of [former, name])
      await deleteWidgetTokensOf(db, { organization_id: organizationId, customer_external_id });
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
    WHERE organization_id = ${organizationId}::uuid AND customer_external_id = ${externalId}
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

/**
 * Returns whether there was such a customer. Its usage stays, under its external_id; the widget tokens that show it end.
 * Violates `subscriptions_organization_id_customer_id_fkey`, or another constraint of billing, where something was billed to
 * it. Needs a transaction.
 */
export async function deleteCustomer(db: Queries, organizationId: string, id: string): Promise<boolean> {
  const deleted = await db
    .deleteFrom('customers')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .returning('external_id')
    .executeTakeFirst();
  if (deleted === undefined) return false;
  await deleteWidgetTokensOf(db, { organization_id: organizationId, customer_external_id: deleted.external_id });
  return true;
}
