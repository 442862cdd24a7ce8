import { LIMITS } from '@weir/shared/limits';
import { sql } from 'kysely';
import type { Queries } from './database.ts';
import { countRows, hasDone } from './page.ts';

/** Whose password a link sets. */
export interface PasswordReset {
  organization_id: string;
  user_id: string;
}

const isOpen = sql<boolean>`expires_at > now()`;

/**
 * Makes a link for a new password of a user. `made_by`: the admin who does, if one does, and is held (`holdAdmin`). Returns until when it
 * opens; undefined where there is no such user.
 */
export async function insertPasswordReset(
  db: Queries,
  { token_hash, organization_id, user_id, made_by }: PasswordReset & { token_hash: Buffer; made_by: string | null },
): Promise<string | undefined> {
  const row = await db
    .insertInto('password_resets')
    .columns(['token_hash', 'organization_id', 'user_id', 'expires_at', 'made_by'])
    .expression((eb) =>
      eb
        .selectFrom('users')
        .select([
          sql<Buffer>`${token_hash}::bytea`.as('token_hash'),
          'organization_id',
          'id as user_id',
          sql<string>`now() + make_interval(hours => ${sql.lit(LIMITS.passwordResetHours)})`.as('expires_at'),
          sql<string | null>`${made_by}::uuid`.as('made_by'),
        ])
        .where('organization_id', '=', organization_id)
        .where('id', '=', user_id),
    )
    .returning('expires_at')
    .executeTakeFirst();
  return row?.expires_at;
}

/** How many links a user was given within an hour that are still open. */
export async function countRecentPasswordResets(db: Queries, user: PasswordReset): Promise<number> {
  return await countRows(
    db
      .selectFrom('password_resets')
      .where('organization_id', '=', user.organization_id)
      .where('user_id', '=', user.user_id)
      .where('created_at', '>', sql<string>`now() - interval '1 hour'`),
  );
}

/** Whose password the link with this token's SHA-256 sets, unless it was used or has expired. */
export async function findPasswordReset(db: Queries, tokenHash: Buffer): Promise<PasswordReset | undefined> {
  return await db
    .selectFrom('password_resets')
    .select(['organization_id', 'user_id'])
    .where('token_hash', '=', tokenHash)
    .where(isOpen)
    .executeTakeFirst();
}

/** Uses a link up. Of several at the same time, one gets true, and the others wait for it. */
export async function usePasswordReset(transaction: Queries, tokenHash: Buffer): Promise<boolean> {
  return await hasDone(transaction.deleteFrom('password_resets').where('token_hash', '=', tokenHash).where(isOpen));
}

/** Removes what is left of the links that have expired. */
export async function deleteExpiredPasswordResets(db: Queries): Promise<void> {
  await db
    .deleteFrom('password_resets')
    .where('expires_at', '<=', sql<string>`now()`)
    .execute();
}
