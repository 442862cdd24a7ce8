// Asking for usage to be moved: in one transaction it is looked at whether that may be, and what needs no worker is done. A worker goes
// on with it (perform-moves.ts).

import { newId } from '@weir/shared/ids';
import { sql } from 'kysely';
import { randomBytes } from 'node:crypto';
import { CUSTOMER_NAMES, emptyingCustomer, type Customer } from '../customer-fields.ts';
import type { Queries } from '../database.ts';
import { deleteWidgetTokensOf } from '../widget-tokens.ts';
import { findUsageMove, type UsageMove } from './usage-moves.ts';

/** Whom to erase: a record, or usage that has none. */
export type Whom = { customerId: string } | { externalId: string };

/** Why usage is not moved; nothing has changed then. */
export type Refused =
  | { outcome: 'not_found' }
  /** A subscription of it has not ended. */
  | { outcome: 'subscribed' }
  /** An invoice of it is a draft. */
  | { outcome: 'draft' }
  /** A subscription that has ended names the customer by a former external id. */
  | { outcome: 'former_id' }
  /** A meter is grouped by what names the customer. */
  | { outcome: 'grouped'; meter: string }
  /** Invoices bill the usage. */
  | { outcome: 'billed' }
  /** Another move has one of the ids. */
  | { outcome: 'moving'; id: string };

export type Requested = { outcome: 'requested'; move: UsageMove } | Refused;

/** 128 random bits: nobody can compute it from who it was, and there is nothing kept to compute it with. */
function newPseudonym(): string {
  return `erased-${randomBytes(16).toString('hex')}`;
}

/**
 * Erases a customer: the record at once, and its usage by a worker. `copiesIssuedBefore` is a date (ISO 8601): of invoices that were
 * issued before, the copy of the customer goes as well. Needs a transaction.
 */
export async function requestErasure(
  transaction: Queries,
  organizationId: string,
  whom: Whom,
  copiesIssuedBefore: string | null,
): Promise<Requested> {
  const record = await lockRecord(transaction, organizationId, whom);
  if (record === undefined && 'customerId' in whom) return { outcome: 'not_found' };
  const from = record?.external_id ?? ('externalId' in whom ? whom.externalId : '');
  const refused =
    (await findOtherMove(transaction, organizationId, [from])) ??
    (await findBilling(transaction, organizationId, from, record?.id ?? null)) ??
    (await findGroups(transaction, organizationId, [from, ...namesOf(record)]));
  if (refused !== undefined) return refused;
  const to = newPseudonym();
  if (record !== undefined) await eraseRecord(transaction, organizationId, record.id, to);
  await deleteWidgetTokensOf(transaction, { organization_id: organizationId, customer_external_id: from });
  const id = newId();
  await sql`INSERT INTO usage_moves (organization_id, id, kind, customer_id, from_external_id, to_external_id, copies_issued_before)
      VALUES (${organizationId}::uuid, ${id}::uuid, 'ERASE', ${record?.id ?? null}::uuid, ${from}, ${to},
        ${copiesIssuedBefore}::date)`.execute(transaction);
  return { outcome: 'requested', move: await getMove(transaction, organizationId, id) };
}

/**
 * Moves all usage of one external id to another, which may have usage of its own. Refused where the usage is billed under the first.
 * Needs a transaction.
 */
export async function requestMove(
  transaction: Queries,
  organizationId: string,
  { from, to }: { from: string; to: string },
): Promise<Requested> {
  await lockRecord(transaction, organizationId, { externalId: from });
  const moving = await findOtherMove(transaction, organizationId, [from, to]);
  if (moving !== undefined) return moving;
  const { rows } = await sql`SELECT FROM subscriptions
      WHERE organization_id = ${organizationId}::uuid AND customer_external_id = ${from} LIMIT 1`.execute(transaction);
  if (rows.length > 0) return { outcome: 'billed' };
  // Whoever holds one would see half of the usage.
  await deleteWidgetTokensOf(transaction, { organization_id: organizationId, customer_external_id: from });
  const id = newId();
  await sql`INSERT INTO usage_moves (organization_id, id, kind, from_external_id, to_external_id)
      VALUES (${organizationId}::uuid, ${id}::uuid, 'MOVE', ${from}, ${to})`.execute(transaction);
  return { outcome: 'requested', move: await getMove(transaction, organizationId, id) };
}

type LockedRecord = Pick<Customer, 'id' | 'external_id'> & Partial<Customer>;

function namesOf(record: LockedRecord | undefined): unknown[] {
  return CUSTOMER_NAMES.map((field) => record?.[field]);
}

/** Nobody subscribes it, or changes its external id, before the transaction ends. */
async function lockRecord(transaction: Queries, organizationId: string, whom: Whom): Promise<LockedRecord | undefined> {
  const [column, value] =
    'customerId' in whom ? (['id', whom.customerId] as const) : (['external_id', whom.externalId] as const);
  return await transaction
    .selectFrom('customers')
    .select(['id', 'external_id', ...CUSTOMER_NAMES])
    .where('organization_id', '=', organizationId)
    .where(column, '=', value)
    .forUpdate()
    .executeTakeFirst();
}

/** Moves of an organization are asked for one after the other, so that two of them have no id in common. */
async function findOtherMove(
  transaction: Queries,
  organizationId: string,
  externalIds: readonly string[],
): Promise<Refused | undefined> {
  await sql`SELECT FROM organizations WHERE id = ${organizationId}::uuid FOR NO KEY UPDATE`.execute(transaction);
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM usage_moves WHERE organization_id = ${organizationId}::uuid AND finished_at IS NULL
      AND (from_external_id = ANY (${externalIds}::text[]) OR to_external_id = ANY (${externalIds}::text[])) LIMIT 1`.execute(
    transaction,
  );
  const [row] = rows;
  return row && { outcome: 'moving', id: row.id };
}

/** Locks the subscriptions, so that none of them is settled on until the erasure is there. */
async function findBilling(
  transaction: Queries,
  organizationId: string,
  externalId: string,
  customerId: string | null,
): Promise<Refused | undefined> {
  const { rows } = await sql<{ id: string; status: string; customer_external_id: string }>`
    SELECT id, status, customer_external_id FROM subscriptions
    WHERE organization_id = ${organizationId}::uuid AND (customer_external_id = ${externalId} OR customer_id = ${customerId}::uuid)
    ORDER BY id FOR UPDATE`.execute(transaction);
  if (rows.some(({ status }) => status !== 'CANCELED')) return { outcome: 'subscribed' };
  const { rows: drafts } = await sql`SELECT FROM invoices
    WHERE organization_id = ${organizationId}::uuid AND status = 'DRAFT' AND subscription_id = ANY (${rows.map(({ id }) => id)}::uuid[])
    LIMIT 1`.execute(transaction);
  if (drafts.length > 0) return { outcome: 'draft' };
  const others = rows.flatMap((row) => (row.customer_external_id === externalId ? [] : [row.customer_external_id]));
  const { rows: named } = await sql`SELECT FROM unnest(${others}::text[]) AS other WHERE NOT EXISTS (
    SELECT FROM usage_moves WHERE organization_id = ${organizationId}::uuid AND to_external_id = other AND kind = 'ERASE')
    LIMIT 1`.execute(transaction);
  return named.length > 0 ? { outcome: 'former_id' } : undefined;
}

/** What a meter is grouped by stays, as it is the organization's way to look at its usage; it must not be the customer. */
async function findGroups(
  transaction: Queries,
  organizationId: string,
  names: readonly unknown[],
): Promise<Refused | undefined> {
  const known = names.filter((name): name is string => typeof name === 'string');
  const { rows } = await sql<{ name: string }>`
    SELECT meters.name FROM meters CROSS JOIN LATERAL (
      SELECT FROM metadata_groups AS kept WHERE kept.organization_id = meters.organization_id AND kept.meter_id = meters.id
        AND group_values && ${known}::text[] LIMIT 1) AS named
    WHERE meters.organization_id = ${organizationId}::uuid AND metadata_keys <> '{}' LIMIT 1`.execute(transaction);
  const [row] = rows;
  return row && { outcome: 'grouped', meter: row.name };
}

async function eraseRecord(transaction: Queries, organizationId: string, id: string, pseudonym: string): Promise<void> {
  await sql`UPDATE customers SET external_id = ${pseudonym}, erased_at = coalesce(erased_at, now()), ${emptyingCustomer()}
    WHERE organization_id = ${organizationId}::uuid AND id = ${id}::uuid`.execute(transaction);
}

async function getMove(transaction: Queries, organizationId: string, id: string): Promise<UsageMove> {
  const move = await findUsageMove(transaction, organizationId, id);
  if (move === undefined) throw new Error('a move was inserted, and is not there');
  return move;
}
