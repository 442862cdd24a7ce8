// What a process remembers of the database to record by: the keys of the metadata that meters name, and which organizations have alerts.
// So a batch that has to do with neither pays nothing for them. Both may be changed at any time. The record statement says so to a caller
// whose knowledge is of before, behind a lock that whoever changes them holds alone; so an event is never kept by other keys than its
// meter has, and none is recorded past an alert.

import { sql } from 'kysely';
import pg from 'pg';
import { RECORDING_LOCK } from './advisory-locks.ts';
import { plainArray, textArray } from './array-text.ts';
import type { Queries } from './database.ts';
import type { Runs } from './runs.ts';

/** What is known of an organization whose meters name keys, or that has alerts. */
interface KnownOrganization {
  slot: number;
  /** By meter: its keys as an array of Postgres. Those that name none are left out. */
  keysOf: ReadonlyMap<string, string>;
  hasAlerts: boolean;
}

/** What is known at certain versions. It is never changed: what is learnt makes another one. */
export interface KnownForRecording {
  /** Of all slots, as an array of Postgres; null: it is known that this is how things are until the transaction ends. */
  versions: string | null;
  /** By id. Of others there is nothing to know. */
  organizations: ReadonlyMap<string, KnownOrganization>;
}

interface Learnt extends KnownForRecording {
  versionOf: readonly string[];
}

/**
 * Organizations are in so many slots, as migration 0002 has them, and each slot has a version, as 0052 has them: who changes what is known
 * of one changes the version of its slot.
 */
const SLOTS = 64;
const ALL_SLOTS = Array.from({ length: SLOTS }, (_, slot) => slot);

/** As of a database in which no meter ever named keys, and there was no alert. */
const NOTHING = asOf(
  ALL_SLOTS.map(() => '00000000-0000-0000-0000-000000000000'),
  new Map(),
);

function asOf(versionOf: readonly string[], organizations: Learnt['organizations']): Learnt {
  return { versions: plainArray(versionOf), versionOf, organizations };
}

const learntOf = new WeakMap<pg.Pool, Learnt>();

/** What is known of a database. It may be old: see {@link isKnowledgeOld}. */
export function knownForRecording(pool: pg.Pool): KnownForRecording {
  return learntOf.get(pool) ?? NOTHING;
}

interface SlotRow {
  slot: number;
  version: string;
  meters: [organizationId: string, id: string, keys: string[]][];
  watched: string[];
}

/** Reads what is to be known of the organizations of some slots, in one statement, which is one snapshot. */
async function readSlots(connection: Runs, slots: readonly number[]): Promise<SlotRow[]> {
  const { rows } = await connection.query<SlotRow>(
    `SELECT slot, version, (SELECT coalesce(json_agg(json_build_array(organization_id, id, metadata_keys)), '[]') FROM meters
       WHERE closing_slot(organization_id) = slot AND metadata_keys <> '{}') AS meters,
       ARRAY(SELECT DISTINCT organization_id::text FROM alerts
         WHERE closing_slot(organization_id) = slot AND status = 'ACTIVE') AS watched
     FROM recording_versions WHERE slot = ANY ($1::integer[])`,
    [slots],
  );
  if (rows.length < slots.length)
    throw new Error('the table "recording_versions" has lost rows: restore it from a backup');
  return rows;
}

/** What was known of other slots, and of these what was read. */
function withSlots(known: Learnt, rows: readonly SlotRow[]): Learnt {
  const versionOf = [...known.versionOf];
  for (const { slot, version } of rows) versionOf[slot] = version;
  const read = new Set(rows.map(({ slot }) => slot));
  const organizations = new Map([...known.organizations].filter(([, { slot }]) => !read.has(slot)));
  for (const { slot, meters, watched } of rows) {
    const hasAlerts = new Set(watched);
    const keys = new Map([...hasAlerts].map((id) => [id, new Map<string, string>()]));
    for (const [organizationId, id, names] of meters) {
      const ofOrganization = keys.get(organizationId) ?? new Map<string, string>();
      keys.set(organizationId, ofOrganization.set(id, textArray(names)));
    }
    for (const [id, keysOf] of keys) organizations.set(id, { slot, keysOf, hasAlerts: hasAlerts.has(id) });
  }
  return asOf(versionOf, organizations);
}

/** Reads slots anew, all of them where none are named, for the next that record as well. */
export async function learnForRecording(
  pool: pg.Pool,
  connection: Runs = pool,
  slots: readonly number[] = ALL_SLOTS,
  known = learntOf.get(pool) ?? NOTHING,
): Promise<KnownForRecording> {
  const rows = await readSlots(connection, slots);
  // Others may have learnt of other slots meanwhile. Of `known` it is known to whoever holds its slots that it is so.
  learntOf.set(pool, withSlots(learntOf.get(pool) ?? NOTHING, rows));
  return withSlots(known, rows);
}

/**
 * What is so of these organizations until the transaction ends: whoever changes it holds alone what is held here with others. Where it
 * changes again and again, as by corrections one after another, what is held this way is recorded between two of them.
 */
export async function holdKnown(
  pool: pg.Pool,
  connection: Runs,
  organizationIds: Iterable<string>,
): Promise<KnownForRecording> {
  const ids = plainArray([...organizationIds]);
  await connection.query('SELECT FROM closings_of($1::uuid[])', [ids]);
  const { rows } = await connection.query<{ slot: number; version: string | null }>(
    `SELECT slot, version FROM (SELECT DISTINCT closing_slot(id) AS slot FROM unnest($1::uuid[]) AS id) AS slots
     LEFT JOIN recording_versions USING (slot)`,
    [ids],
  );
  const known = learntOf.get(pool) ?? NOTHING;
  const old = rows.flatMap(({ slot, version }) => (version === known.versionOf[slot] ? [] : [slot]));
  const { organizations } = old.length === 0 ? known : await learnForRecording(pool, connection, old, known);
  return { versions: null, organizations };
}

/** Whether a statement was refused since what its caller knows is not so any more. */
export function isKnowledgeOld(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === 'WK001';
}

/** Longer than any record statement takes. One that hangs holds the change off, and with it what is recorded after it. */
const LOCK_WAIT_MS_MAX = 3_000;

/** Who goes silent while it holds recording off does so for so long and no longer. */
export const SILENCE_MS_MAX = 1_000;

/** Has a transaction wait no longer for a lock, nor let others wait for it, than it may while nothing is recorded. */
export async function limitWaits(transaction: Queries, lockWaitMsMax = LOCK_WAIT_MS_MAX): Promise<void> {
  await sql`SELECT set_config('lock_timeout', ${String(lockWaitMsMax)}, true),
    set_config('idle_in_transaction_session_timeout', ${String(SILENCE_MS_MAX)}, true)`.execute(transaction);
}

/**
 * What is recorded now of an organization has committed when this is granted, and nothing more is until the transaction has; see
 * `closings_of`. The version of its slot may be in hand elsewhere for a while: it is waited for before recording is held off, and not
 * while it is.
 */
export async function holdRecording(transaction: Queries, organizationId: string): Promise<void> {
  await sql`SELECT FROM recording_versions WHERE slot = closing_slot(${organizationId}::uuid) FOR NO KEY UPDATE`.execute(
    transaction,
  );
  await sql`SELECT pg_advisory_xact_lock(${sql.lit(RECORDING_LOCK)}, closing_slot(${organizationId}::uuid))`.execute(
    transaction,
  );
}

/** Lets every process learn anew of an organization before it records of it again; part of what changes what they know. */
export async function announceChange(transaction: Queries, organizationId: string): Promise<void> {
  await sql`UPDATE recording_versions SET version = gen_random_uuid()
    WHERE slot = closing_slot(${organizationId}::uuid)`.execute(transaction);
}

/**
 * Once the transaction has committed, no statement records of the organization that began before: those under way have committed when
 * the lock is granted, and those that wait for it learn anew, and begin again. The last thing of a transaction. Throws what Postgres
 * says, also when it would have to wait for seconds.
 */
export async function makeRecordersLookAgain(transaction: Queries, organizationId: string): Promise<void> {
  await limitWaits(transaction);
  await holdRecording(transaction, organizationId);
  await announceChange(transaction, organizationId);
}
