// What is promised because Postgres has it already. A commit waits for the synchronous standby, and until then nobody sees it; but where
// the wait is cut short (the primary crashes and starts again, somebody ends the session that waits), it is seen on the primary alone.
// A statement that changes nothing then returns at once, and what it has found is gone after a promotion.

import { sql } from 'kysely';
import type { Queries } from './database.ts';

/**
 * A write that changes nothing, in a transaction: its commit waits for the standby, which by then has all that was written before. Without
 * a synchronous standby it is not even that.
 */
export const BARRIER =
  "SELECT CASE WHEN current_setting('synchronous_standby_names') <> '' THEN pg_logical_emit_message(true, 'weir', '') END";

/**
 * Resolves once all that could be read on the primary before is on its synchronous standby too, where it has one; in a transaction it is
 * the commit that waits. Call it before something is let go of, or said to be done, since Postgres had it already.
 */
export async function awaitStandby(db: Queries): Promise<void> {
  await sql.raw(BARRIER).execute(db);
}
