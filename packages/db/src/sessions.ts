import { sql } from 'kysely';
import type { Queries } from './page.ts';

/** After this long without a request a session ends. */
const SESSION_IDLE_HOURS = 12;

/** After this long a session ends however much it is used. */
export const SESSION_DAYS_MAX = 7;

/** Who is signed in. */
export interface Session {
  organization_id: string;
  user_id: string;
}

// Postgres judges by its own clock, so API processes whose clocks differ agree on when a session ends.
const idleSince = sql<string>`now() - make_interval(hours => ${sql.lit(SESSION_IDLE_HOURS)})`;
const oldestStart = sql<string>`now() - make_interval(days => ${sql.lit(SESSION_DAYS_MAX)})`;
const lastMinute = sql<string>`now() - interval '1 minute'`;

export async function insertSession(
  db: Queries,
  session: { token_hash: Buffer; organization_id: string; user_id: string },
): Promise<void> {
  await db.insertInto('sessions').values(session).execute();
}

/** The session with this token, unless it has ended. Finding it counts as using it. */
export async function findSession(db: Queries, tokenHash: Buffer): Promise<Session | undefined> {
  const found = await db
    .selectFrom('sessions')
    .select(['organization_id', 'user_id'])
    .select(({ eb }) => eb('used_at', '<', lastMinute).as('is_stale'))
    .where('token_hash', '=', tokenHash)
    .where('used_at', '>', idleSince)
    .where('created_at', '>', oldestStart)
    .executeTakeFirst();
  if (found === undefined) return undefined;
  const { is_stale, ...session } = found;
  // To the minute is exact enough for an end after hours, and spares a write with almost every request.
  if (is_stale) {
    await db
      .updateTable('sessions')
      .set({ used_at: sql`now()` })
      .where('token_hash', '=', tokenHash)
      .execute();
  }
  return session;
}

/** Ends a session; ending one that does not exist does nothing. */
export async function deleteSession(db: Queries, tokenHash: Buffer): Promise<void> {
  await db.deleteFrom('sessions').where('token_hash', '=', tokenHash).execute();
}

/** Removes what is left of the sessions that have ended, and returns how many there were. */
export async function deleteExpiredSessions(db: Queries): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('sessions')
    .where(({ eb, or }) => or([eb('used_at', '<=', idleSince), eb('created_at', '<=', oldestStart)]))
    .executeTakeFirst();
  return Number(numDeletedRows);
}
