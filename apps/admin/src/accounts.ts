// What whoever runs this Weir may do for people. It stands in the audit log of their organization.

import { insertAuditEntry } from '@weir/db/audit-log';
import type { Database, Queries } from '@weir/db/database';
import { insertPasswordReset } from '@weir/db/password-resets';
import { findAccountByEmail, listAccounts, updateRole, type Account } from '@weir/db/users';
import { newId } from '@weir/shared/ids';
import { hashLinkToken, linkOf, newLinkToken } from '@weir/shared/link-tokens';
import { inColumns } from './columns.ts';

/** There is no account with an email address. */
export class NoSuchAccount extends Error {
  override readonly name = 'NoSuchAccount';

  constructor(email: string) {
    super(`there is no account with the email address ${email}: list-users shows all.`);
  }
}

/** Makes a link for a new password, and returns the lines that tell of it. Throws {@link NoSuchAccount}. */
export async function makeResetLink(database: Database, email: string, publicUrl: string): Promise<string> {
  const token = newLinkToken('password-reset');
  const expiresAt = await database.kysely.transaction().execute(async (transaction) => {
    const account = await getAccount(transaction, email);
    const until = await insertPasswordReset(transaction, {
      ...account,
      token_hash: hashLinkToken(token),
      made_by: null,
    });
    if (until === undefined) throw new NoSuchAccount(email);
    await writeDown(transaction, account, 'user.make_reset_link', null);
    return until;
  });
  return `${linkOf('password-reset', publicUrl, token)}\n\nIt works once, until ${expiresAt}. All sessions of the account end when it is used.`;
}

/** Makes an account an admin of its organization, and returns the line that tells of it. Throws {@link NoSuchAccount}. */
export async function makeAdmin(database: Database, email: string): Promise<string> {
  return await database.kysely.transaction().execute(async (transaction) => {
    const account = await getAccount(transaction, email);
    const { organization_id, user_id, organization_name } = account;
    const name = JSON.stringify(organization_name);
    if (account.role === 'admin') return `${account.email} is an admin of ${name} already.`;
    if ((await updateRole(transaction, organization_id, user_id, 'admin')) !== 'done') throw new NoSuchAccount(email);
    await writeDown(transaction, account, 'user.update', { role: 'admin' });
    return `${account.email} is an admin of ${name} now.`;
  });
}

/** A line for each account, in columns. */
export async function describeAccounts(database: Database): Promise<string> {
  const accounts = await listAccounts(database.kysely);
  if (accounts.length === 0) return 'There is no account yet: whoever signs up first makes one.';
  const rows = accounts.map(({ email, role, organization_name, created_at, last_seen_at }) => [
    email,
    role,
    // A name may hold line breaks and what moves the cursor.
    JSON.stringify(organization_name),
    created_at.slice(0, 10),
    last_seen_at?.slice(0, 10) ?? '-',
  ]);
  return inColumns([['EMAIL', 'ROLE', 'ORGANIZATION', 'SINCE', 'LAST SEEN'], ...rows]);
}

/** Throws {@link NoSuchAccount}. */
export async function getAccount(db: Queries, email: string): Promise<Account> {
  const account = await findAccountByEmail(db, email.toLowerCase());
  if (account === undefined) throw new NoSuchAccount(email);
  return account;
}

async function writeDown(
  transaction: Queries,
  { organization_id, user_id }: Account,
  action: string,
  changes: Record<string, unknown> | null,
): Promise<void> {
  await insertAuditEntry(transaction, {
    id: newId(),
    organization_id,
    action,
    resource_id: user_id,
    actor_type: 'operator',
    actor_id: null,
    actor_email: null,
    address: null,
    user_agent: null,
    changes,
    is_done: true,
  });
}
