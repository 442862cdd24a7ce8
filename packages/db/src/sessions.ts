import { LIMITS } from '@weir/shared/limits';
import { sql } from 'kysely';
import type { Queries } from './database.ts';
import type { Order } from './order.ts';
import { hasDone, selectPage, type Page, type PageOf } from './page.ts';
import type { Role } from './schema.ts';
import { BESIDE } from './standby.ts';

/** Who is signed in, as that person is now: a role that was changed holds from the next request on. */
export interface Session {
  id: string;
  organization_id: string;
  user_id: string;
  email: string;
  role: Role;
}

/** One of a person's own sessions. */
export interface OwnSession {
  id: string;
  created_at: string;
  used_at: string;
  address: string | null;
  user_agent: string | null;
  is_current: boolean;
}

// Postgres judges by its own clock, so API processes whose clocks differ agree on when a session ends.
const idleSince = sql<string>`now() - make_interval(hours => ${sql.lit(LIMITS.sessionIdleHours)})`;
const oldestStart = sql<string>`now() - make_interval(days => ${sql.lit(LIMITS.sessionDays)})`;
const lastMinute = sql<string>`now() - interval '1 minute'`;

/**
 * Begins a session, where the hash of the password is still the one that was checked. Returns false where it is not: somebody
 * has set a new password meanwhile, which ends all sessions, and this must not come after that.
 */
export async function insertSession(
  db: Queries,
  session: {
    id: string;
    token_hash: Buffer;
    organization_id: string;
    user_id: string;
    password_hash: string;
    address: string;
    user_agent: string | null;
  },
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    WITH seen AS (
      UPDATE users SET last_seen_at = now()
      WHERE organization_id = ${session.organization_id}::uuid AND id = ${session.user_id}::uuid
        AND password_hash = ${session.password_hash}
      RETURNING organization_id, id
    )
    INSERT INTO sessions (id, token_hash, organization_id, user_id, address, user_agent)
    SELECT ${session.id}::uuid, ${session.token_hash}::bytea, organization_id, id, ${session.address}::text, ${session.user_agent}::text
    FROM seen`.execute(db);
  return numAffectedRows === 1n;
}

/**
 * The session with this token, unless it has ended. Finding it counts as using it. Where that cannot be written down now, `onUnwritten`
 * hears of it, and the next one who finds it tries again: a read needs no Postgres that takes writes, and no standby.
 */
export async function findSession(
  db: Queries,
  tokenHash: Buffer,
  onUnwritten: (error: unknown) => void,
): Promise<Session | undefined> {
  const found = await db
    .selectFrom('sessions')
    .innerJoin('users', (join) =>
      join.onRef('users.organization_id', '=', 'sessions.organization_id').onRef('users.id', '=', 'sessions.user_id'),
    )
    .select(['sessions.id', 'sessions.organization_id', 'user_id', 'email', 'role'])
    .select(sql<boolean>`used_at < ${lastMinute} AND current_setting('transaction_read_only') = 'off'`.as('is_stale'))
    .where('token_hash', '=', tokenHash)
    .where('used_at', '>', idleSince)
    .where('sessions.created_at', '>', oldestStart)
    .executeTakeFirst();
  if (found === undefined) return undefined;
  const { is_stale, ...session } = found;
  // To the minute is exact enough for an end after hours, and spares a write with almost every request.
  if (is_stale) await markUsed(db, session, tokenHash).catch(onUnwritten);
  return session;
}

async function markUsed(
  db: Queries,
  { organization_id, user_id }: Pick<Session, 'organization_id' | 'user_id'>,
  tokenHash: Buffer,
): Promise<void> {
  // The user before the session, as everything that ends sessions takes them: in another order they would wait for each other.
  await sql`
      WITH seen AS (
        UPDATE users SET last_seen_at = now() FROM ${BESIDE}
        WHERE organization_id = ${organization_id}::uuid AND id = ${user_id}::uuid
        RETURNING id
      )
      UPDATE sessions SET used_at = now() FROM seen WHERE token_hash = ${tokenHash}::bytea`.execute(db);
}

const LAST_USED_FIRST: Order<OwnSession> = [
  { field: 'used_at', type: 'timestamptz', descending: true },
  { field: 'id', type: 'uuid', descending: true },
];

/** The sessions of a user that have not ended, the last used first. */
export async function listSessions(
  db: Queries,
  user: { organization_id: string; user_id: string },
  currentId: string,
  page: Page,
): Promise<PageOf<OwnSession>> {
  const query = db
    .selectFrom('sessions')
    .select(['id', 'created_at', 'used_at', 'address', 'user_agent'])
    .select(({ eb }) => eb('id', '=', currentId).$castTo<boolean>().as('is_current'))
    .where('organization_id', '=', user.organization_id)
    .where('user_id', '=', user.user_id)
    .where('used_at', '>', idleSince)
    .where('created_at', '>', oldestStart);
  return await selectPage(query, LAST_USED_FIRST, page);
}

/** Ends one session of a user. Returns whether there was such a session. */
export async function deleteSessionOf(
  db: Queries,
  user: { organization_id: string; user_id: string },
  id: string,
): Promise<boolean> {
  return await hasDone(
    db
      .deleteFrom('sessions')
      .where('organization_id', '=', user.organization_id)
      .where('user_id', '=', user.user_id)
      .where('id', '=', id),
  );
}

/** Ends all sessions of a user, but for one where its id is given. */
export async function deleteSessionsOf(
  db: Queries,
  user: { organization_id: string; user_id: string },
  keptId?: string,
): Promise<void> {
  let deletion = db
    .deleteFrom('sessions')
    .where('organization_id', '=', user.organization_id)
    .where('user_id', '=', user.user_id);
  if (keptId !== undefined) deletion = deletion.where('id', '<>', keptId);
  await deletion.execute();
}

/** Ends the session with this token, and returns whose it was; undefined where there was none. */
export async function deleteSession(
  db: Queries,
  tokenHash: Buffer,
): Promise<{ id: string; organization_id: string; user_id: string } | undefined> {
  return await db
    .deleteFrom('sessions')
    .where('token_hash', '=', tokenHash)
    .returning(['id', 'organization_id', 'user_id'])
    .executeTakeFirst();
}

/** Removes what is left of the sessions that have ended, and returns how many there were. */
export async function deleteExpiredSessions(db: Queries): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('sessions')
    .where(({ eb, or }) => or([eb('used_at', '<=', idleSince), eb('created_at', '<=', oldestStart)]))
    .executeTakeFirst();
  return Number(numDeletedRows);
}
