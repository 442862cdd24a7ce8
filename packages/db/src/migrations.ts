// Which migrations a database has, and which it ought to have.

import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { errorCodeOf } from '@weir/shared/errors';
import { SettingsError } from '@weir/shared/settings';
import type { Runs } from './runs.ts';

// The same relative path from `src` and from `dist`.
export const MIGRATIONS = fileURLToPath(new URL('../migrations', import.meta.url));

const FOREIGN =
  'The database has a table "migrations" of another program: give Weir a database of its own (see DATABASE_URL)';

/** The first migration of those that became one before the first release. */
const BEFORE_RELEASES = '0001_organizations_and_access.sql';

const TOO_OLD = `The database is of Weir before its first release (it has ${BEFORE_RELEASES}), and there is no way up from it: give this version a database of its own (see DATABASE_URL)`;

/** The files of all migrations in a folder, in their order. */
async function listMigrations(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
}

/** How the schema of a database and what this version knows of it go together. */
export interface SchemaState {
  /** Migrations of this version that the database does not have, in their order. */
  missing: string[];
  /** The number of the newest migration of this version. */
  newest: string;
  /** The number of the newest one that the database has; null where it has none. */
  found: string | null;
}

/**
 * Compares a database with the migrations of this version. Throws a SettingsError for a database on which it cannot run: one that a
 * newer version has migrated and has taken away from what this one reads, one of before the first release, and one in which
 * another program keeps its own migrations.
 */
export async function readSchema(client: Runs, folder = MIGRATIONS): Promise<SchemaState> {
  const files = await listMigrations(folder);
  const done = await readDone(client);
  const missing = files.filter((name) => !done.has(name));
  const newest = numberOf(files.at(-1) ?? '');
  const unknown = [...done.keys()].filter((name) => !files.includes(name));
  if (unknown.length > 0) {
    if (done.has(BEFORE_RELEASES)) throw new SettingsError(`${TOO_OLD}.`);
    // No version of Weir is without the first one.
    if (!done.has(files[0] ?? '')) throw new SettingsError(`${FOREIGN}.`);
    const tooNew = unknown.filter((name) => missing.length > 0 || (done.get(name) ?? '') > newest);
    if (tooNew.length > 0)
      throw new SettingsError(
        `The database was migrated by a newer Weir (it has ${tooNew.join(', ')}), and this version, which knows ${newest}, cannot run on it: run that one instead.`,
      );
  }
  return { missing, newest, found: [...done.keys()].map(numberOf).toSorted().at(-1) ?? null };
}

function numberOf(name: string): string {
  return name.slice(0, 4);
}

/** The migrations that a database has, each with the number that a process has to know to run on it. */
async function readDone(client: Runs): Promise<Map<string, string | null>> {
  try {
    // A database of the first release has no column for it.
    const { rows } = await client.query<{ name: string; needs: string | null }>(
      `SELECT name::text, applied_at, to_jsonb(migrations) ->> 'needs' AS needs FROM migrations ORDER BY name`,
    );
    return new Map(rows.map(({ name, needs }) => [name, needs]));
  } catch (error) {
    // No such table; no such column.
    if (errorCodeOf(error) === '42P01') return new Map();
    if (errorCodeOf(error) === '42703') throw new SettingsError(`${FOREIGN}.`, { cause: error });
    throw error;
  }
}

/** Throws a SettingsError for a database that cannot hold every text: its events would wait in the queue for ever. */
export async function requireUtf8(client: Runs): Promise<void> {
  const { rows } = await client.query<{ encoding: string }>(`SELECT current_setting('server_encoding') AS encoding`);
  const encoding = rows[0]?.encoding;
  if (encoding === 'UTF8') return;
  throw new SettingsError(
    `The database has the encoding ${encoding} and cannot hold every text: make one with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0.`,
  );
}
