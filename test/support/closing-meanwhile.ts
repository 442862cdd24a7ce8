import { closeUntil } from '@weir/db/billing/usage/closing';
import type { Database } from '@weir/db/database';
import type { Weir } from './harness.ts';
import { untilWaiting } from './until-waiting.ts';

/** Held while something is under way. No other lock of Postgres has these numbers. */
const HELD = '7, 7';

/**
 * What is seen once an organization is closed, where that began while `work` was about to change a table. A closing that does not wait for
 * it sees the table as it was. Needs a database of its own.
 */
export async function seenByClosing<Seen>(
  { pool }: Pick<Weir, 'pool'>,
  database: Database,
  organizationId: string,
  { change, work, look }: { change: string; work: () => Promise<unknown>; look: () => Promise<Seen> },
): Promise<Seen> {
  // Whoever waits for a lock gives up after half a second: not this one, whatever else the machine does.
  await pool.query(`
    CREATE FUNCTION wait_for_holder() RETURNS trigger LANGUAGE plpgsql AS
      'BEGIN SET LOCAL lock_timeout = 0; PERFORM pg_advisory_xact_lock(${HELD}); RETURN NULL; END';
    CREATE TRIGGER waits BEFORE ${change} FOR EACH STATEMENT EXECUTE FUNCTION wait_for_holder()`);
  const holder = await pool.connect();
  try {
    await holder.query('BEGIN');
    await holder.query(`SELECT pg_advisory_xact_lock(${HELD})`);
    const working = work();
    await untilWaiting({ pool });
    const until = '2025-01-06T00:00:00Z';
    const seen = closeUntil(database, organizationId, { until, notBefore: until }).then(look);
    await Promise.race([seen, untilWaiting({ pool }, 2)]);
    await holder.query('COMMIT');
    await working;
    return await seen;
  } finally {
    holder.release(true);
    await pool.query('DROP FUNCTION wait_for_holder() CASCADE');
  }
}
