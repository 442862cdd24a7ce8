import type { Queries } from './database.ts';
import type { Order } from './order.ts';
import { selectPage, type Page, type PageOf } from './page.ts';
import type { Read, Role } from './schema.ts';

/** A person who signs in, and the organization that person belongs to. */
export interface Account {
  user_id: string;
  email: string;
  role: Role;
  organization_id: string;
  organization_name: string;
}

/** An account, and what its password is checked against. */
export type AccountWithPassword = Account & { password_hash: string };

/** One of the people of an organization. */
export type User = Read<'users', 'password_hash'>;

/** The outcome of a change to a user; `last_admin`: nothing, since nobody could mend it afterwards. */
export type UserOutcome = 'done' | 'not_found' | 'last_admin';

const columns = ['id', 'email', 'role', 'created_at', 'last_seen_at'] as const;

function selectAccounts(db: Queries) {
  return db
    .selectFrom('users')
    .innerJoin('organizations', 'organizations.id', 'users.organization_id')
    .select(['users.id as user_id', 'email', 'role', 'organization_id', 'organizations.name as organization_name']);
}

/** The account with this email address, which must be in lower case, and the hash of its password. */
export async function findAccountByEmail(db: Queries, email: string): Promise<AccountWithPassword | undefined> {
  return await selectAccounts(db).select('password_hash').where('email', '=', email).executeTakeFirst();
}

/** The account of a user, and the hash of the password. */
export async function findAccount(
  db: Queries,
  organizationId: string,
  userId: string,
): Promise<AccountWithPassword | undefined> {
  return await selectAccounts(db)
    .select('password_hash')
    .where('organization_id', '=', organizationId)
    .where('users.id', '=', userId)
    .executeTakeFirst();
}

/** Everybody who can sign in here, of all organizations, oldest first. */
export async function listAccounts(db: Queries): Promise<(Account & Pick<User, 'created_at' | 'last_seen_at'>)[]> {
  return await selectAccounts(db)
    .select(['users.created_at', 'last_seen_at'])
    .orderBy('organizations.created_at')
    .orderBy('users.created_at')
    .orderBy('users.id')
    .execute();
}

/** Violates `users_email_key` when the address, in lower case, is taken. */
export async function insertUser(
  db: Queries,
  user: { organization_id: string; id: string; email: string; password_hash: string; role: Role },
): Promise<void> {
  await db.insertInto('users').values(user).execute();
}

const BY_CREATION: Order<User> = [
  { field: 'created_at', type: 'timestamptz' },
  { field: 'id', type: 'uuid' },
];

/** Oldest first. */
export async function listUsers(db: Queries, organizationId: string, page: Page): Promise<PageOf<User>> {
  const query = db.selectFrom('users').select(columns).where('organization_id', '=', organizationId);
  return await selectPage(query, BY_CREATION, page);
}

export async function findUser(db: Queries, organizationId: string, id: string): Promise<User | undefined> {
  return await db
    .selectFrom('users')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Holds off others that change this user, until the transaction ends. Returns whether there is such a user. */
export async function lockUser(
  transaction: Queries,
  { organization_id, user_id }: { organization_id: string; user_id: string },
): Promise<boolean> {
  const found = await transaction
    .selectFrom('users')
    .select('id')
    .where('organization_id', '=', organization_id)
    .where('id', '=', user_id)
    .forNoKeyUpdate()
    .executeTakeFirst();
  return found !== undefined;
}

/** Gives a user a role. In a transaction, which holds off others that would take away the last admin meanwhile. */
export async function updateRole(
  transaction: Queries,
  organizationId: string,
  id: string,
  role: Role,
): Promise<UserOutcome> {
  if (role !== 'admin' && (await isLastAdmin(transaction, organizationId, id))) return 'last_admin';
  if (role !== 'admin') await endLinksOf(transaction, organizationId, id);
  const { numUpdatedRows } = await transaction
    .updateTable('users')
    .set({ role })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
  return numUpdatedRows > 0n ? 'done' : 'not_found';
}

/**
 * Holds off whoever takes the role or the account of an admin away, until the transaction ends: so what that admin makes meanwhile is
 * found by {@link endLinksOf}. Returns whether it is an admin still.
 */
export async function holdAdmin(transaction: Queries, organizationId: string, id: string): Promise<boolean> {
  const found = await transaction
    .selectFrom('users')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .where('role', '=', 'admin')
    .forShare()
    .executeTakeFirst();
  return found !== undefined;
}

/** Ends what would open an account by the word of somebody who is no admin any more: invitations, and links for a new password. */
async function endLinksOf(transaction: Queries, organizationId: string, id: string): Promise<void> {
  for (const table of ['invitations', 'password_resets'] as const)
    await transaction
      .deleteFrom(table)
      .where('organization_id', '=', organizationId)
      .where('made_by', '=', id)
      .execute();
}

/** Deletes a user, whose sessions end with that, and links that are for or of that user. In a transaction, as {@link updateRole}. */
export async function deleteUser(transaction: Queries, organizationId: string, id: string): Promise<UserOutcome> {
  if (await isLastAdmin(transaction, organizationId, id)) return 'last_admin';
  await endLinksOf(transaction, organizationId, id);
  const { numDeletedRows } = await transaction
    .deleteFrom('users')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
  return numDeletedRows > 0n ? 'done' : 'not_found';
}

/**
 * Holds off others that change this user, until the transaction ends. The admins come first, as where one is deleted or loses the role:
 * locked in any other order, two such changes could wait for each other.
 */
export async function holdUser(transaction: Queries, organizationId: string, id: string): Promise<void> {
  await lockAdmins(transaction, organizationId);
  await lockUser(transaction, { organization_id: organizationId, user_id: id });
}

async function isLastAdmin(transaction: Queries, organizationId: string, id: string): Promise<boolean> {
  const admins = await lockAdmins(transaction, organizationId);
  return admins.length === 1 && admins[0]?.id === id;
}

/**
 * Locks every admin of the organization, in one order. Of two who take each other's role away, the second waits here and then
 * finds that it is the only one: Postgres looks at rows anew after waiting for them.
 */
async function lockAdmins(transaction: Queries, organizationId: string): Promise<Pick<User, 'id'>[]> {
  return await transaction
    .selectFrom('users')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('role', '=', 'admin')
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
}

/**
 * Sets a new password where the hash of the old one is still `before`. Returns whether it was set. Links for a new password end
 * with it; sessions are ended by whoever calls this.
 */
export async function updatePassword(
  transaction: Queries,
  user: { organization_id: string; user_id: string },
  { before, after }: { before: string; after: string },
): Promise<boolean> {
  const { numUpdatedRows } = await transaction
    .updateTable('users')
    .set({ password_hash: after })
    .where('organization_id', '=', user.organization_id)
    .where('id', '=', user.user_id)
    .where('password_hash', '=', before)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  await transaction
    .deleteFrom('password_resets')
    .where('organization_id', '=', user.organization_id)
    .where('user_id', '=', user.user_id)
    .execute();
  return true;
}
