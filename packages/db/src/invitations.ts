import { LIMITS } from '@weir/shared/limits';
import { sql } from 'kysely';
import type { Queries } from './database.ts';
import { NEWEST_FIRST } from './order.ts';
import { hasDone, selectPage, type Page, type PageOf } from './page.ts';
import type { Read, Role } from './schema.ts';

/** A person who was asked to join an organization and has not joined yet. */
export type Invitation = Read<'invitations', 'token_hash' | 'made_by'>;

/** An invitation as whoever holds its link sees it. */
export interface OpenInvitation extends Invitation {
  organization_id: string;
  organization_name: string;
}

const columns = ['id', 'email', 'role', 'created_at', 'expires_at'] as const;
const isOpen = sql<boolean>`invitations.expires_at > now()`;

/**
 * Invites an address to an organization, in the place of an invitation that it has already. `made_by`: the admin who does, and is held
 * (`holdAdmin`).
 */
export async function putInvitation(
  db: Queries,
  invitation: { organization_id: string; id: string; email: string; role: Role; token_hash: Buffer; made_by: string },
): Promise<Invitation> {
  const expires_at = sql<string>`now() + make_interval(days => ${sql.lit(LIMITS.invitationDays)})`;
  return await db
    .insertInto('invitations')
    .values({ ...invitation, expires_at })
    .onConflict((conflict) =>
      conflict.columns(['organization_id', 'email']).doUpdateSet(({ ref }) => ({
        id: ref('excluded.id'),
        role: ref('excluded.role'),
        token_hash: ref('excluded.token_hash'),
        made_by: ref('excluded.made_by'),
        created_at: ref('excluded.created_at'),
        expires_at: ref('excluded.expires_at'),
      })),
    )
    .returning(columns)
    .executeTakeFirstOrThrow();
}

/** Those that can still be accepted, newest first. */
export async function listInvitations(db: Queries, organizationId: string, page: Page): Promise<PageOf<Invitation>> {
  const query = db
    .selectFrom('invitations')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .where(isOpen);
  return await selectPage(query, NEWEST_FIRST, page);
}

/** Returns whether there was such an invitation that was open. */
export async function deleteInvitation(db: Queries, organizationId: string, id: string): Promise<boolean> {
  return await hasDone(
    db.deleteFrom('invitations').where('organization_id', '=', organizationId).where('id', '=', id).where(isOpen),
  );
}

/** The invitation whose token has this SHA-256, unless it was used or has expired. */
export async function findInvitation(db: Queries, tokenHash: Buffer): Promise<OpenInvitation | undefined> {
  return await db
    .selectFrom('invitations')
    .innerJoin('organizations', 'organizations.id', 'invitations.organization_id')
    .select(['organization_id', 'organizations.name as organization_name'])
    .select(['invitations.id', 'email', 'role', 'invitations.created_at', 'expires_at'])
    .where('token_hash', '=', tokenHash)
    .where(isOpen)
    .executeTakeFirst();
}

/** Uses an invitation up. Of several at the same time, one gets true, and the others wait for it. */
export async function useInvitation(transaction: Queries, tokenHash: Buffer): Promise<boolean> {
  return await hasDone(transaction.deleteFrom('invitations').where('token_hash', '=', tokenHash).where(isOpen));
}

/** Removes what is left of the invitations that have expired. */
export async function deleteExpiredInvitations(db: Queries): Promise<void> {
  await db
    .deleteFrom('invitations')
    .where('expires_at', '<=', sql<string>`now()`)
    .execute();
}
