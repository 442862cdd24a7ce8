// Changes of the keys of the metadata that meters name. What processes know of them is in known-for-recording.ts.

import { CompiledQuery, sql } from 'kysely';
import type { Queries } from './database.ts';
import { FIND_MISSING_MONTH, notGrouped } from './group-backfill.ts';
import { announceChange, holdRecording, limitWaits } from './known-for-recording.ts';
import { ROLLUPS } from './rollups.ts';

/**
 * Changes the keys of a meter, if there is such a one. What is recorded after the transaction has committed is kept by them;
 * what was before is grouped anew by `backfillGroups`, and no group is read until it has been. The last thing of a transaction:
 * nothing is recorded of the organization from here to its end. Throws MonthTakenOut where usage of before would be grouped without
 * events of it, and what Postgres says, also when it would have to wait for seconds.
 */
export async function changeMetadataKeys(
  transaction: Queries,
  organizationId: string,
  meterId: string,
  keys: readonly string[],
): Promise<void> {
  await limitWaits(transaction);
  // Both rows may be in hand elsewhere for a while: they are waited for before recording is held off, and not while it is.
  const changed = await sql`
    SELECT FROM meters WHERE organization_id = ${organizationId}::uuid AND id = ${meterId}::uuid
      AND metadata_keys <> ${keys}::text[] FOR NO KEY UPDATE`.execute(transaction);
  if (changed.rows.length === 0) return;
  // By no keys nothing is grouped. A month that is taken out from here on is waited for by the work itself.
  if (keys.length > 0) await expectAllMonths(transaction, organizationId, meterId);
  await sql`SELECT FROM metadata_backfills WHERE organization_id = ${organizationId}::uuid AND meter_id = ${meterId}::uuid
    FOR UPDATE`.execute(transaction);
  await holdRecording(transaction, organizationId);
  await sql`UPDATE meters SET metadata_keys = ${keys}::text[]
    WHERE organization_id = ${organizationId}::uuid AND id = ${meterId}::uuid`.execute(transaction);
  await sql`
    INSERT INTO metadata_backfills (organization_id, meter_id)
    SELECT ${organizationId}::uuid, ${meterId}::uuid WHERE EXISTS (
      SELECT FROM ${sql.table(ROLLUPS.customerUsageDays.table)}
      WHERE organization_id = ${organizationId}::uuid AND meter_id = ${meterId}::uuid)
    -- Where all events are void there is no usage to group, and their groups have to go as well.
    OR EXISTS (SELECT FROM metadata_groups WHERE organization_id = ${organizationId}::uuid AND meter_id = ${meterId}::uuid)
    ON CONFLICT (organization_id, meter_id) DO UPDATE SET change_id = DEFAULT, stage = DEFAULT,
      customer_external_id = DEFAULT, hour = DEFAULT, event_id = DEFAULT`.execute(transaction);
  await announceChange(transaction, organizationId);
}

async function expectAllMonths(db: Queries, organizationId: string, meterId: string): Promise<void> {
  const find = CompiledQuery.raw(FIND_MISSING_MONTH, [organizationId, meterId]);
  const [found] = (await db.executeQuery<{ month: string | null }>(find)).rows;
  if (found?.month != null) throw notGrouped(found.month);
}
