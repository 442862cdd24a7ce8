// What a process remembers of the database to record by: the keys of the metadata that meters name, and which organizations have alerts.
// So a batch that has to do with neither pays nothing for them. Both may be changed at any time. The record statement says so to a caller
// whose knowledge is of before, behind a lock that whoever changes them holds alone; so an event is never kept by other keys than its
// meter has, and none is recorded past an alert.

import { sql } from 'kysely';
import pg from 'pg';
import { plainArray, textArray } from './array-text.ts';
import type { Queries } from './database.ts';

/** What is known at one version; null: it is known that this is how things are until the transaction ends. */
export interface KnownForRecording {
  version: string | null;
  /** By meter: its keys as an array of Postgres. Those that name none are left out. */
  ofMeter: ReadonlyMap<string, string>;
  /** Organizations that have alerts. */
  watched: ReadonlySet<string>;
}

/** As of a database in which no meter ever named keys, and there was no alert. */
const NOTHING: KnownForRecording = {
  version: '00000000-0000-0000-0000-000000000000',
  ofMeter: new Map(),
  watched: new Set(),
};

const known = new WeakMap<pg.Pool, KnownForRecording>();

/** What is known of a database. It may be old: see {@link isKnowledgeOld}. */
export function knownForRecording(pool: pg.Pool): KnownForRecording {
  return known.get(pool) ?? NOTHING;
}

interface KnownRow {
  version: string;
  meters: [id: string, keys: string[]][];
  watched: string[];
}

/** Reads all of it anew, for the next that record as well. */
export async function learnForRecording(
  pool: pg.Pool,
  connection: Pick<pg.ClientBase, 'query'> = pool,
): Promise<KnownForRecording> {
  const { rows } = await connection.query<KnownRow>(
    // One statement, which is one snapshot.
    `SELECT version, (SELECT coalesce(json_agg(json_build_array(id, metadata_keys)), '[]') FROM meters
       WHERE metadata_keys <> '{}') AS meters,
       ARRAY(SELECT DISTINCT organization_id::text FROM alerts WHERE status = 'ACTIVE') AS watched
     FROM metadata_keys_version`,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the table "metadata_keys_version" is empty: restore it from a backup');
  const ofMeter = new Map(row.meters.map(([id, keys]) => [id, textArray(keys)]));
  const learnt = { version: row.version, ofMeter, watched: new Set(row.watched) };
  known.set(pool, learnt);
  return learnt;
}

/**
 * What is so of these organizations until the transaction ends: whoever changes it holds alone what is held here with others. Where it
 * changes again and again, as by corrections one after another, what is held this way is recorded between two of them.
 */
export async function holdKnown(
  pool: pg.Pool,
  connection: Pick<pg.ClientBase, 'query'>,
  organizationIds: Iterable<string>,
): Promise<KnownForRecording> {
  await connection.query('SELECT FROM closings_of($1::uuid[])', [plainArray([...organizationIds])]);
  const { rows } = await connection.query<{ version: string }>('SELECT version FROM metadata_keys_version');
  const known = knownForRecording(pool);
  const current = rows[0]?.version === known.version ? known : await learnForRecording(pool, connection);
  return { ...current, version: null };
}

/** Whether a statement was refused since what its caller knows is not so any more. */
export function isKnowledgeOld(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === 'WK001';
}

/** Longer than any record statement takes. One that hangs holds the change off, and with it what is recorded after it. */
const LOCK_WAIT_MS_MAX = 3_000;

/** Of the advisory locks that record statements share by slot, as migration 0002 has them: who holds one alone holds recording off. */
export const RECORDING_LOCK = 20_002;

/** Who goes silent with such a lock in hand holds recording off for so long and no longer. */
export const SILENCE_MS_MAX = 1_000;

/** Has a transaction wait no longer for a lock, nor let others wait for it, than it may while nothing is recorded. */
export async function limitWaits(transaction: Queries, lockWaitMsMax = LOCK_WAIT_MS_MAX): Promise<void> {
  await sql`SELECT set_config('lock_timeout', ${String(lockWaitMsMax)}, true),
    set_config('idle_in_transaction_session_timeout', ${String(SILENCE_MS_MAX)}, true)`.execute(transaction);
}

/**
 * What is recorded now of an organization has committed when this is granted, and nothing more is until the transaction has; see
 * `closings_of`.
 */
export async function holdRecording(transaction: Queries, organizationId: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(${sql.lit(RECORDING_LOCK)}, closing_slot(${organizationId}::uuid))`.execute(
    transaction,
  );
}

/** Lets every process learn anew before it records again; part of what changes what they know. */
export async function announceChange(transaction: Queries): Promise<void> {
  await sql`UPDATE metadata_keys_version SET version = gen_random_uuid()`.execute(transaction);
}

/**
 * Once the transaction has committed, no statement records of the organization that began before: those under way have committed when
 * the lock is granted, and those that wait for it learn anew, and begin again. The last thing of a transaction. Throws what Postgres
 * says, also when it would have to wait for seconds.
 */
export async function makeRecordersLookAgain(transaction: Queries, organizationId: string): Promise<void> {
  await limitWaits(transaction);
  await holdRecording(transaction, organizationId);
  await announceChange(transaction);
}
