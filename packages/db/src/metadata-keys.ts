// The keys of the metadata that meters name: what a process remembers of them, so that recording by them costs a batch without
// such meters nothing. They may be changed at any time. The record statement says so to a caller whose knowledge is of before,
// behind a lock that whoever changes them holds alone; so an event is never kept by other keys than its meter has.

import { sql } from 'kysely';
import pg from 'pg';
import { textArray } from './array-text.ts';
import type { Queries } from './database.ts';
import { ROLLUPS } from './rollups.ts';

/** The keys of all meters that name any, at one version. */
export interface MetadataKeys {
  version: string;
  /** By meter: the keys as an array of Postgres. */
  ofMeter: ReadonlyMap<string, string>;
}

/** As of a database in which no meter ever named keys. */
const NONE: MetadataKeys = { version: '00000000-0000-0000-0000-000000000000', ofMeter: new Map() };

const known = new WeakMap<pg.Pool, MetadataKeys>();

/** What is known of a database's keys. It may be old: see {@link areKeysOld}. */
export function knownMetadataKeys(pool: pg.Pool): MetadataKeys {
  return known.get(pool) ?? NONE;
}

/** Reads the keys of all meters anew. */
export async function learnMetadataKeys(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ version: string; meters: [id: string, keys: string[]][] }>(
    // One statement, which is one snapshot.
    `SELECT version, (SELECT coalesce(json_agg(json_build_array(id, metadata_keys)), '[]') FROM meters
       WHERE metadata_keys <> '{}') AS meters
     FROM metadata_keys_version`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the table "metadata_keys_version" is empty: restore it from a backup');
  const ofMeter = new Map(row.meters.map(([id, keys]) => [id, textArray(keys)]));
  known.set(pool, { version: row.version, ofMeter });
}

/** Whether a statement was refused since the keys that its caller knows are not those that meters have now. */
export function areKeysOld(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === 'WK001';
}

/** Longer than any record statement takes. One that hangs holds the change off, and with it what is recorded after it. */
const LOCK_WAIT_MS_MAX = 3_000;

/** Who goes silent with the lock of the closings in hand holds recording off for so long and no longer. */
const SILENCE_MS_MAX = 1_000;

/**
 * Changes the keys of a meter, if there is such a one. What is recorded after the transaction has committed is kept by them;
 * what was before is grouped anew by `backfillGroups`, and no group is read until it has been. The last thing of a transaction:
 * nothing is recorded of the organization from here to its end. Throws what Postgres says, also when it would have to wait for
 * seconds.
 */
export async function changeMetadataKeys(
  transaction: Queries,
  organizationId: string,
  meterId: string,
  keys: readonly string[],
): Promise<void> {
  await sql`SELECT set_config('lock_timeout', ${String(LOCK_WAIT_MS_MAX)}, true),
    set_config('idle_in_transaction_session_timeout', ${String(SILENCE_MS_MAX)}, true)`.execute(transaction);
  // Both rows may be in hand elsewhere for a while: they are waited for before recording is held off, and not while it is.
  const changed = await sql`
    SELECT FROM meters WHERE organization_id = ${organizationId}::uuid AND id = ${meterId}::uuid
      AND metadata_keys <> ${keys}::text[] FOR NO KEY UPDATE`.execute(transaction);
  if (changed.rows.length === 0) return;
  await sql`SELECT FROM metadata_backfills WHERE organization_id = ${organizationId}::uuid AND meter_id = ${meterId}::uuid
    FOR UPDATE`.execute(transaction);
  // What is recorded now has committed when this is granted, and nothing more is until this has: see closings_of.
  await sql`SELECT pg_advisory_xact_lock(20002, closing_slot(${organizationId}::uuid))`.execute(transaction);
  await sql`UPDATE meters SET metadata_keys = ${keys}::text[]
    WHERE organization_id = ${organizationId}::uuid AND id = ${meterId}::uuid`.execute(transaction);
  await sql`
    INSERT INTO metadata_backfills (organization_id, meter_id)
    SELECT ${organizationId}::uuid, ${meterId}::uuid WHERE EXISTS (
      SELECT FROM ${sql.table(ROLLUPS.customerUsageDays.table)}
      WHERE organization_id = ${organizationId}::uuid AND meter_id = ${meterId}::uuid)
    ON CONFLICT (organization_id, meter_id) DO UPDATE SET change_id = DEFAULT, stage = DEFAULT,
      customer_external_id = DEFAULT, hour = DEFAULT, event_id = DEFAULT`.execute(transaction);
  await announceMetadataKeys(transaction);
}

/** Lets every process learn the keys of meters anew before it records again; part of what changes keys or adds some. */
export async function announceMetadataKeys(transaction: Queries): Promise<void> {
  await sql`UPDATE metadata_keys_version SET version = gen_random_uuid()`.execute(transaction);
}
