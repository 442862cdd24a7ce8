// Service accounts and their tokens: what a service may do by itself.

import { sql } from 'kysely';
import type { Queries } from './database.ts';
import { NEWEST_FIRST } from './order.ts';
import { countRows, hasDone, selectPage, type Page, type PageOf } from './page.ts';
import type { Read, ServiceRole } from './schema.ts';

/** From the least to the most; each may do what those before it may. */
export const SERVICE_ROLES = ['viewer', 'biller', 'admin'] as const satisfies readonly ServiceRole[];

/** Whether a role may do what another one may. */
export function reaches(role: ServiceRole, least: ServiceRole): boolean {
  return SERVICE_ROLES.indexOf(role) >= SERVICE_ROLES.indexOf(least);
}

/** A service account, with what is known of its tokens. */
export interface ServiceAccount extends Read<'service_accounts'> {
  token_count: number;
  /** When one of the tokens that it has was used last, to the minute. */
  last_used_at: string | null;
}

/** A token without its secret, which nobody can read again. */
export type ServiceToken = Read<'service_account_tokens', 'token_hash' | 'service_account_id'>;

/** The account that a token belongs to. */
export interface ServiceGrant {
  id: string;
  organization_id: string;
  name: string;
  role: ServiceRole;
  token_id: string;
}

const tokenColumns = ['id', 'name', 'last4', 'expires_at', 'last_used_at', 'created_at'] as const;

function selectAccounts(db: Queries, organizationId: string) {
  return db
    .selectFrom('service_accounts')
    .select(['id', 'name', 'role', 'created_at'])
    .select(({ selectFrom, cast }) => {
      const tokens = selectFrom('service_account_tokens')
        .whereRef('service_account_tokens.organization_id', '=', 'service_accounts.organization_id')
        .whereRef('service_account_tokens.service_account_id', '=', 'service_accounts.id');
      return [
        cast<number>(
          tokens.select(({ fn }) => fn.countAll().as('count')),
          'integer',
        ).as('token_count'),
        tokens.select(({ fn }) => fn.max('last_used_at').as('last')).as('last_used_at'),
      ];
    })
    .where('organization_id', '=', organizationId);
}

export async function insertServiceAccount(
  db: Queries,
  account: { organization_id: string; id: string; name: string; role: ServiceRole },
): Promise<void> {
  await db.insertInto('service_accounts').values(account).execute();
}

export async function countServiceAccounts(db: Queries, organizationId: string): Promise<number> {
  return await countRows(db.selectFrom('service_accounts').where('organization_id', '=', organizationId));
}

/** Newest first. */
export async function listServiceAccounts(
  db: Queries,
  organizationId: string,
  page: Page,
): Promise<PageOf<ServiceAccount>> {
  return await selectPage(selectAccounts(db, organizationId), NEWEST_FIRST, page);
}

export async function findServiceAccount(
  db: Queries,
  organizationId: string,
  id: string,
): Promise<ServiceAccount | undefined> {
  return await selectAccounts(db, organizationId).where('id', '=', id).executeTakeFirst();
}

/** Returns whether there is such an account. A role that was changed holds from the next request on. */
export async function updateServiceAccount(
  db: Queries,
  organizationId: string,
  id: string,
  changes: { name?: string | undefined; role?: ServiceRole | undefined },
): Promise<boolean> {
  return await hasDone(
    db.updateTable('service_accounts').set(changes).where('organization_id', '=', organizationId).where('id', '=', id),
  );
}

/** Deletes an account with its tokens. Returns whether there was such an account. */
export async function deleteServiceAccount(db: Queries, organizationId: string, id: string): Promise<boolean> {
  return await hasDone(
    db.deleteFrom('service_accounts').where('organization_id', '=', organizationId).where('id', '=', id),
  );
}

/**
 * Holds an account to the end of the transaction, so that its tokens are counted by one at a time. Returns how many there are,
 * and whether an end of a new one would be past by the clock of Postgres; undefined where there is no such account.
 */
export async function lockServiceAccount(
  transaction: Queries,
  organizationId: string,
  id: string,
  expiresAt: string | null,
): Promise<{ tokens: number; isPast: boolean } | undefined> {
  const found = await transaction
    .selectFrom('service_accounts')
    .select(sql<boolean>`coalesce(${expiresAt}::timestamptz <= now(), false)`.as('is_past'))
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (found === undefined) return undefined;
  const { count } = await transaction
    .selectFrom('service_account_tokens')
    .select(({ fn }) => fn.countAll<string>().as('count'))
    .where('organization_id', '=', organizationId)
    .where('service_account_id', '=', id)
    .executeTakeFirstOrThrow();
  return { tokens: Number(count), isPast: found.is_past };
}

export async function insertServiceToken(
  db: Queries,
  token: {
    organization_id: string;
    id: string;
    service_account_id: string;
    name: string;
    token_hash: Buffer;
    last4: string;
    expires_at: string | null;
  },
): Promise<ServiceToken> {
  return await db.insertInto('service_account_tokens').values(token).returning(tokenColumns).executeTakeFirstOrThrow();
}

/** Of one account, newest first; those that have ended too, until they are deleted. */
export async function listServiceTokens(
  db: Queries,
  organizationId: string,
  accountId: string,
  page: Page,
): Promise<PageOf<ServiceToken>> {
  const query = db
    .selectFrom('service_account_tokens')
    .select(tokenColumns)
    .where('organization_id', '=', organizationId)
    .where('service_account_id', '=', accountId);
  return await selectPage(query, NEWEST_FIRST, page);
}

/** Returns whether the account had such a token. */
export async function deleteServiceToken(
  db: Queries,
  organizationId: string,
  accountId: string,
  id: string,
): Promise<boolean> {
  return await hasDone(
    db
      .deleteFrom('service_account_tokens')
      .where('organization_id', '=', organizationId)
      .where('service_account_id', '=', accountId)
      .where('id', '=', id),
  );
}

/** The account of the token with this SHA-256, unless the token has ended. */
export async function findServiceGrant(db: Queries, tokenHash: Buffer): Promise<ServiceGrant | undefined> {
  return await db
    .selectFrom('service_account_tokens as tokens')
    .innerJoin('service_accounts as accounts', (join) =>
      join
        .onRef('accounts.organization_id', '=', 'tokens.organization_id')
        .onRef('accounts.id', '=', 'tokens.service_account_id'),
    )
    .select(['accounts.id', 'accounts.organization_id', 'accounts.name', 'accounts.role', 'tokens.id as token_id'])
    .where('token_hash', '=', tokenHash)
    .where(({ eb, or }) => or([eb('expires_at', 'is', null), eb('expires_at', '>', sql<string>`now()`)]))
    .executeTakeFirst();
}
