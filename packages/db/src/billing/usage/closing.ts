// The instant at which dues stop taking events. Before it come the record statements that hold the lock of the organization
// (../record.ts), and whoever reads after it sees all that they wrote; those after it write their events down as late, with its
// number. So the usage at a closing is known from then on, and stays what it is: due-usage.ts reads it.

import type pg from 'pg';
import { RECORDING_LOCK } from '../../advisory-locks.ts';
import type { Database } from '../../database.ts';

/**
 * A statement that records takes milliseconds. One that hangs holds the closing off, and that everything that is recorded of the
 * organizations in its slot: better to close another time.
 */
const LOCK_WAIT_MS_MAX = 3_000;

const FIND = `
SELECT number FROM closings WHERE organization_id = $1 AND until >= $2::timestamptz AND closed_at > $3::timestamptz`;

// One statement, so that the lock is held for no round trip. It waits for those that record, and then sees the row as it is
// then: ON CONFLICT does not go by the snapshot of the statement.
const CLOSE = `
WITH patience AS MATERIALIZED (SELECT set_config('lock_timeout', '${LOCK_WAIT_MS_MAX}', true)),
alone AS MATERIALIZED (SELECT pg_advisory_xact_lock(${RECORDING_LOCK}, closing_slot($1::uuid)) FROM patience)
INSERT INTO closings AS kept (organization_id, number, until, closed_at)
SELECT $1::uuid, 1, $2::timestamptz, billing_clock() FROM alone
ON CONFLICT (organization_id) DO UPDATE
  SET number = kept.number + 1, until = greatest(kept.until, excluded.until), closed_at = excluded.closed_at
  WHERE kept.until < excluded.until OR kept.closed_at <= $3::timestamptz
RETURNING number`;

/**
 * Closes an organization up to `until` (exclusive), unless that was done after `notBefore`, and returns the number of the closing:
 * it has committed, and covers all that ends at `until` or before. Whoever reads usage at it begins a transaction after this.
 * Times are ISO 8601. Throws what Postgres says, with nothing closed, also when it would have to wait for seconds.
 */
export async function closeUntil(
  database: Database,
  organizationId: string,
  { until, notBefore }: { until: string; notBefore: string },
): Promise<number> {
  const values = [organizationId, until, notBefore];
  for (;;) {
    const number = (await findNumber(database.pool, FIND, values)) ?? (await findNumber(database.pool, CLOSE, values));
    // Somebody else has closed it while this one waited: that is found now.
    if (number !== undefined) return number;
  }
}

async function findNumber(pool: pg.Pool, text: string, values: string[]): Promise<number | undefined> {
  const { rows } = await pool.query<{ number: string }>(text, values);
  return rows[0] === undefined ? undefined : Number(rows[0].number);
}
