// Which database this is, and whether Weir can run on it.

import { hash } from 'node:crypto';
import { SettingsError } from '@weir/shared/settings';
import pg from 'pg';
import type { Database } from './database.ts';
import { readSchema, requireUtf8 } from './migrations.ts';
import { NotingClient } from './noting-client.ts';
import { requireOwnSession } from './own-session.ts';

/** What tells one database from every other, and from its own past. */
export interface DatabaseIdentity {
  /**
   * The id of the Weir, and after a colon where it lies: another one for a copy of the database, the same for a replica that
   * took the place of its primary.
   */
  mark: string;
  /** Grows when a replica takes over and when a backup is recovered to a point in time; 0 where Postgres does not say. */
  timeline: number;
  /** Whether the counts that were asked about are among the drained ones; true when none were. */
  hasDrained: boolean;
  /** Whether it has ever counted an event that the door accepted. */
  hasCounted: boolean;
}

/** Which schemas a process runs on: that of its newest migration and all newer ones, but for those that need a newer process. */
export interface SchemaRange {
  needs: string;
  /** The one that the database had when it was looked at. */
  found: string | null;
}

/**
 * Says which schema was found. Throws a SettingsError, in one line for the operator, for a database on which this version of Weir cannot
 * run: one that is not migrated to it, one that a newer one has migrated and taken away from, one that is not UTF-8, and one behind a pooler that shares sessions. Throws what Postgres says when it does not answer.
 */
export async function requireSchema(database: Database): Promise<SchemaRange> {
  await requireSessions(database.pool);
  await requireUtf8(database.pool);
  const { missing, newest, found } = await readSchema(database.pool);
  if (missing.length > 0) {
    throw new SettingsError(
      `The database is not migrated to this version (${missing.join(', ')} missing): run npm run migrate.`,
    );
  }
  return { needs: newest, found };
}

async function requireSessions(pool: pg.Pool): Promise<void> {
  const client = await pool.connect();
  try {
    await requireOwnSession(client, () => new NotingClient(pool.options));
  } finally {
    client.release();
  }
}

/**
 * What of the server's own settings may lose commits when its machine dies, each as a line for the log. `copies`: how many machines are to
 * have a commit. Throws what Postgres says when it does not answer.
 */
export async function findRisks(database: Database, copies: number): Promise<string[]> {
  const { rows } = await database.pool.query<{ name: string; setting: string }>(
    `SELECT name, current_setting(name, true) AS setting
       FROM unnest(ARRAY['fsync', 'full_page_writes', 'synchronous_commit', 'synchronous_standby_names']) AS name`,
  );
  return rows.flatMap(({ name, setting }) => {
    switch (name) {
      case 'synchronous_standby_names':
        if (copies === 1 || setting !== '') return [];
        return 'DATABASE_COPIES is 2, and Postgres names no synchronous standby: what is recorded is lost with its disk; set synchronous_standby_names';
      case 'synchronous_commit':
        if (copies === 1 || setting === 'on' || setting === 'remote_apply') return [];
        return `DATABASE_COPIES is 2, and Postgres has synchronous_commit ${setting}: a commit does not wait for the disk of the standby; set it to on`;
      default:
        return setting === 'off'
          ? `Postgres has ${name} off: what is recorded may be lost when its machine dies; set it to on`
          : [];
    }
  });
}

// A copy made by CREATE DATABASE has another oid, a dump that was restored elsewhere has another server.
const WHERE_IT_LIES = `(SELECT oid FROM pg_database WHERE datname = current_database())::text AS oid`;
// Told by the name of the file that is being written, since what pg_control_checkpoint() says is as old as the last checkpoint.
const OF_THE_SERVER = `(SELECT system_identifier FROM pg_control_system())::text AS system,
  CASE WHEN pg_is_in_recovery() THEN NULL ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END AS timeline`;

/** Reads which database this is. `drained` is the id of counts that Redis says were drained into it. */
export async function identify(database: Database, drained: string | undefined): Promise<DatabaseIdentity> {
  const row = await readIdentity(database, drained ?? null);
  if (row === undefined) throw new SettingsError('The table "installation" is empty: restore it from a backup.');
  const place = hash('sha256', `${row.system ?? ''}/${row.oid}`, 'hex').slice(0, 16);
  return {
    mark: `${row.id}:${place}`,
    timeline: row.timeline === null ? 0 : Number.parseInt(row.timeline, 16),
    hasDrained: row.has_drained,
    hasCounted: row.has_counted,
  };
}

interface IdentityRow {
  id: string;
  oid: string;
  system: string | null;
  timeline: string | null;
  has_drained: boolean;
  has_counted: boolean;
}

async function readIdentity({ pool }: Database, drained: string | null): Promise<IdentityRow | undefined> {
  const read = async (ofTheServer: string): Promise<IdentityRow | undefined> => {
    const { rows } = await pool.query<IdentityRow>(
      `SELECT id, ${WHERE_IT_LIES}, ${ofTheServer},
         $1::uuid IS NULL OR EXISTS (SELECT FROM drained_counts WHERE drained_counts.id = $1::uuid) AS has_drained,
         EXISTS (SELECT FROM accepted_events) AS has_counted
       FROM installation`,
      [drained],
    );
    return rows[0];
  };
  try {
    return await read(OF_THE_SERVER);
  } catch (error) {
    // Some hosts keep what concerns the whole server to themselves: forbidden, not there, not supported.
    if (!(error instanceof pg.DatabaseError) || !/^(42501|42883|0A000)$/.test(error.code ?? '')) throw error;
    return await read('NULL AS system, NULL AS timeline');
  }
}
