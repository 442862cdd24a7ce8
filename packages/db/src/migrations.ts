// Which migrations a database has, and which it ought to have.

import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { errorCodeOf } from '@weir/shared/errors';
import { SettingsError } from '@weir/shared/settings';
import type pg from 'pg';

// The same relative path from `src` and from `dist`.
export const MIGRATIONS = fileURLToPath(new URL('../migrations', import.meta.url));

const FOREIGN =
  'The database has a table "migrations" of another program: give Weir a database of its own (see DATABASE_URL)';

/** Whatever runs one statement: a connection, or a pool of them. */
export type Queryable = Pick<pg.ClientBase, 'query'>;

/** The files of all migrations in a folder, in their order. */
async function listMigrations(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
}

/**
 * The migrations of this version that the database does not have. Throws a SettingsError for one that was migrated by a newer
 * version, and for one in which another program keeps its own migrations.
 */
export async function findMissing(client: Queryable, folder = MIGRATIONS): Promise<string[]> {
  const files = await listMigrations(folder);
  const done = await readDone(client);
  const unknown = [...done].filter((name) => !files.includes(name));
  if (unknown.length > 0) {
    // No version of Weir is without the first one.
    if (!done.has(files[0] ?? '')) throw new SettingsError(`${FOREIGN}.`);
    throw new SettingsError(
      `The database was migrated by a newer Weir (it has ${unknown.join(', ')}): run that version instead.`,
    );
  }
  return files.filter((name) => !done.has(name));
}

async function readDone(client: Queryable): Promise<Set<string>> {
  try {
    const { rows } = await client.query<{ name: string }>('SELECT name::text, applied_at FROM migrations');
    return new Set(rows.map(({ name }) => name));
  } catch (error) {
    // No such table; no such column.
    if (errorCodeOf(error) === '42P01') return new Set();
    if (errorCodeOf(error) === '42703') throw new SettingsError(`${FOREIGN}.`, { cause: error });
    throw error;
  }
}

/** Throws a SettingsError for a database that cannot hold every text: its events would wait in the queue for ever. */
export async function requireUtf8(client: Queryable): Promise<void> {
  const { rows } = await client.query<{ encoding: string }>(`SELECT current_setting('server_encoding') AS encoding`);
  const encoding = rows[0]?.encoding;
  if (encoding === 'UTF8') return;
  throw new SettingsError(
    `The database has the encoding ${encoding} and cannot hold every text: make one with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0.`,
  );
}
