// Grants: money that a customer has in advance. What became of one is in credit_entries, a ledger that is only added to:
// granted = drawn − returned + expired + voided + remaining. Expiry needs no entry, since the time says it: what is left of
// a grant that is past its expires_at is expired.

import { amountOf, amountText } from '@weir/billing/amounts';
import type { Amount } from '@weir/rating/money';
import { newId } from '@weir/shared/ids';
import { sql } from 'kysely';
import type { Queries } from '../../database.ts';
import { isLiveOf } from '../live-grant.ts';

/** `USED`: nothing is left of it, though what it paid may come back. `VOID`: nothing ever will be. */
export const CREDIT_STATUSES = ['ACTIVE', 'USED', 'EXPIRED', 'VOID'] as const;
export type CreditStatus = (typeof CREDIT_STATUSES)[number];

/** A grant. Amounts have exactly the currency's minor digits. */
export interface CreditGrant {
  id: string;
  amount: string;
  currency: string;
  /** What can still be drawn: nothing once it has expired. */
  remaining: string;
  priority: number;
  /** It counts until then, exclusive; null: it does not expire. */
  expires_at: string | null;
  note: string | null;
  external_id: string | null;
  status: CreditStatus;
  created_at: string;
}

/** A new grant. */
export interface NewCreditGrant {
  organization_id: string;
  id: string;
  customer_id: string;
  amount: string;
  currency: string;
  priority: number;
  expires_at: string | null;
  note: string | null;
  external_id: string | null;
}

/**
 * Whether there is such a customer, and whether a time is past by the clock of billing. Needs a transaction: until its end the customer
 * is not deleted, and nobody else grants it anything, so that its grants can be counted.
 */
export async function lockCreditedCustomer(
  transaction: Queries,
  organizationId: string,
  customerId: string,
  expiresAt: string | null,
): Promise<{ isPast: boolean } | undefined> {
  return await transaction
    .selectFrom('customers')
    .select(sql<boolean>`coalesce(${expiresAt}::timestamptz <= billing_clock(), false)`.as('isPast'))
    .where('organization_id', '=', organizationId)
    .where('id', '=', customerId)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** How many live grants a customer has in a currency, and of more than `max` only that. */
export async function countLiveGrants(
  db: Queries,
  organizationId: string,
  { customerId, currency, max }: { customerId: string; currency: string; max: number },
): Promise<number> {
  const { rows } = await sql<{ count: string }>`
    SELECT count(*) FROM (
      SELECT FROM credit_grants WHERE ${isLiveOf(organizationId, sql`${customerId}`, sql`${currency}`)}
      LIMIT ${max + 1}) AS live`.execute(db);
  return Number(rows[0]?.count);
}

/** Returns the grant, or the id of the one that has its external_id already. */
export async function insertCreditGrant(
  transaction: Queries,
  grant: NewCreditGrant,
): Promise<{ grant: CreditGrant } | { takenBy: string }> {
  const row = await transaction
    .insertInto('credit_grants')
    .values({ ...grant, remaining: grant.amount, created_at: sql<string>`billing_clock()` })
    .onConflict((conflict) => conflict.columns(['organization_id', 'external_id']).doNothing())
    .returning(['created_at', 'expires_at'])
    .executeTakeFirst();
  if (row !== undefined) {
    const { organization_id: _organization, customer_id: _customer, ...fields } = grant;
    return { grant: { ...fields, ...row, remaining: grant.amount, status: 'ACTIVE' } };
  }
  const { id } = await transaction
    .selectFrom('credit_grants')
    .select('id')
    .where('organization_id', '=', grant.organization_id)
    .where('external_id', '=', grant.external_id)
    .executeTakeFirstOrThrow();
  return { takenBy: id };
}

/** The outcome of voiding a grant. */
export interface VoidedGrant {
  grant: CreditGrant;
  customer_id: string;
  /** What was left of it; null where it was void already, or has expired, and nothing changed. */
  voided: string | null;
}

/**
 * Ends what is left of a grant, and what may come back to it. One that has expired stays so: its rest is accounted for.
 * Undefined where there is no such grant. Needs a transaction; locks the grant.
 */
export async function voidCreditGrant(
  transaction: Queries,
  organizationId: string,
  id: string,
): Promise<VoidedGrant | undefined> {
  const locked = await transaction
    .selectFrom('credit_grants')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (locked === undefined) return undefined;
  // Only now: it may have been drawn, or have expired, while it was waited for.
  const row = await selectGrants(transaction, organizationId).where('id', '=', id).executeTakeFirstOrThrow();
  const grant = grantOf(row);
  const { customer_id } = row;
  if (grant.status === 'VOID' || grant.status === 'EXPIRED') return { grant, customer_id, voided: null };
  const { remaining: voided, currency } = grant;
  await transaction
    .updateTable('credit_grants')
    .set({ remaining: '0', voided_at: sql<string>`billing_clock()` })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .execute();
  if (amountOf(voided, currency) > 0n) {
    await transaction
      .insertInto('credit_entries')
      .values({
        organization_id: organizationId,
        grant_id: id,
        id: newId(),
        kind: 'VOID',
        amount: voided,
        created_at: sql<string>`billing_clock()`,
      })
      .execute();
  }
  const remaining = amountText(0n, currency);
  return { grant: { ...grant, remaining, status: 'VOID' }, customer_id, voided };
}

function selectGrants(db: Queries, organizationId: string) {
  return db
    .selectFrom('credit_grants')
    .select(['id', 'customer_id', 'amount', 'currency', 'remaining', 'priority', 'expires_at', 'note', 'external_id'])
    .select(['created_at', 'voided_at'])
    .select(sql<boolean>`coalesce(expires_at <= billing_clock(), false)`.as('is_expired'))
    .where('organization_id', '=', organizationId);
}

/** A grant as it is kept, or as it was at an instant. */
export type GrantRow = Awaited<ReturnType<ReturnType<typeof selectGrants>['executeTakeFirstOrThrow']>>;

/** Puts a grant into the form in which it is answered. */
export function grantOf({ customer_id: _customer, voided_at, is_expired, ...row }: GrantRow): CreditGrant {
  const left = is_expired ? 0n : amountOf(row.remaining, row.currency);
  return { ...row, remaining: amountText(left, row.currency), status: statusOf({ voided_at, is_expired, left }) };
}

function statusOf(grant: { voided_at: string | null; is_expired: boolean; left: Amount }): CreditStatus {
  if (grant.voided_at !== null) return 'VOID';
  if (grant.is_expired) return 'EXPIRED';
  return grant.left === 0n ? 'USED' : 'ACTIVE';
}
