import type { Queries } from './page.ts';

/** A person who signs in, and the organization that person administers. */
export interface Account {
  user_id: string;
  email: string;
  organization_id: string;
  organization_name: string;
}

function selectAccounts(db: Queries) {
  return db
    .selectFrom('users')
    .innerJoin('organizations', 'organizations.id', 'users.organization_id')
    .select(['users.id as user_id', 'email', 'organization_id', 'organizations.name as organization_name']);
}

/** The account with this email address, which must be in lower case, and the hash of its password. */
export async function findAccountByEmail(
  db: Queries,
  email: string,
): Promise<(Account & { password_hash: string }) | undefined> {
  return await selectAccounts(db).select('password_hash').where('email', '=', email).executeTakeFirst();
}

export async function findAccount(db: Queries, organizationId: string, userId: string): Promise<Account | undefined> {
  return await selectAccounts(db)
    .where('organization_id', '=', organizationId)
    .where('users.id', '=', userId)
    .executeTakeFirst();
}

/** Violates `users_email_key` when the address, in lower case, is taken. */
export async function insertUser(
  db: Queries,
  user: { organization_id: string; id: string; email: string; password_hash: string },
): Promise<void> {
  await db.insertInto('users').values(user).execute();
}
