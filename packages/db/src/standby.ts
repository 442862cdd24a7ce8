// What is promised because Postgres has it already. A commit waits for the synchronous standby, and until then nobody sees it; but where
// the wait is cut short (the primary crashes and starts again, somebody ends the session that waits), it is seen on the primary alone.
// A statement that changes nothing then returns at once, and what it has found is gone after a promotion.

import { sql } from 'kysely';
import { StandbyAway, type Database, type Queries } from './database.ts';

/**
 * A write that changes nothing, in a transaction: its commit waits for the standby, which by then has all that was written before. Without
 * a synchronous standby it is not even that.
 */
export const BARRIER =
  "SELECT CASE WHEN current_setting('synchronous_standby_names') <> '' THEN pg_logical_emit_message(true, 'weir', '') END";

/**
 * How many sessions of Weir may have waited for the standby for over a second. Whoever gives up such a wait leaves its session there until
 * the standby is back: Postgres looks for a lost client, and at statement_timeout, only before it commits.
 */
export const STALLED_SESSIONS_MAX = 10;

const STALLED_SESSIONS = `(SELECT count(*)::int FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = 'weir' AND wait_event = 'SyncRep'
    AND query_start < clock_timestamp() - interval '1 s')`;

/**
 * In the FROM of a write that a read makes beside, and that may be lost: its commit waits for no standby, and what others hold is given
 * up (55P03) rather than waited for. So a read goes on while no change does.
 */
export const BESIDE = sql`(
  SELECT set_config('synchronous_commit', 'local', true), set_config('lock_timeout', '100ms', true)) AS beside`;

/** How many sessions of Weir, of all its processes, have waited for the synchronous standby for over a second. */
export async function countStalledSessions({ pool }: Database): Promise<number> {
  const { rows } = await pool.query<{ sessions: number }>(
    `SELECT CASE WHEN current_setting('synchronous_standby_names') = '' THEN 0 ELSE ${STALLED_SESSIONS} END AS sessions`,
  );
  return rows[0]?.sessions ?? NaN;
}

/**
 * Resolves once all that could be read on the primary before is on its synchronous standby too, where it has one; in a transaction it is
 * the commit that waits. Call it before something is let go of, or said to be done, since Postgres had it already. Where many wait
 * already it throws at once ({@link StandbyAway}), so that readers who ask again and again do not use up the connections.
 */
export async function awaitStandby(db: Queries): Promise<void> {
  const waited = await sql<{ isStalled: boolean }>`
    SELECT is_stalled AS "isStalled", CASE WHEN NOT is_stalled THEN (${sql.raw(BARRIER)}) END AS barrier
    FROM (SELECT ${sql.raw(STALLED_SESSIONS)} >= ${sql.lit(STALLED_SESSIONS_MAX)} AS is_stalled) AS look`.execute(db);
  if (waited.rows[0]?.isStalled === true) throw new StandbyAway();
}
