import type { Database } from './database.ts';

/** Tables of credentials that keep when each was used last. */
export type UsedTable = 'api_keys' | 'service_account_tokens';

/**
 * Writes down that credentials were used by now, to the minute, in one statement. One that another process writes down at the same
 * moment is left to it.
 */
export async function markUsed(
  { pool }: Database,
  table: UsedTable,
  credentials: readonly { organizationId: string; id: string }[],
): Promise<void> {
  await pool.query(
    `UPDATE ${table} SET last_used_at = date_trunc('minute', now())
     WHERE (organization_id, id) IN (
       SELECT organization_id, id FROM ${table}
       WHERE (organization_id, id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))
         AND (last_used_at IS NULL OR last_used_at < date_trunc('minute', now()))
       FOR NO KEY UPDATE SKIP LOCKED)`,
    [credentials.map(({ organizationId }) => organizationId), credentials.map(({ id }) => id)],
  );
}
