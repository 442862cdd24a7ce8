import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { SettingsError } from '@weir/shared/settings';
import pg from 'pg';
import { SESSION_SETTINGS } from './database.ts';
import { makePartitions } from './partitions.ts';

// The same relative path from `src` and from `dist`.
const DIRECTORY = fileURLToPath(new URL('../migrations', import.meta.url));

// Any fixed number will do, as long as nothing else in this database locks it.
const MIGRATION_LOCK = 7_339_221_551;

/**
 * Brings a database to the newest schema and makes the partitions of this and the coming months. Each migration runs
 * in a transaction of its own, in the order of its number, once. Several processes may migrate at the same time: one
 * works, the others wait for it. Throws, with nothing of the failing migration kept, when one fails, and when the
 * database has migrations that this version does not know.
 */
export async function migrate(databaseUrl: string): Promise<{ applied: string[] }> {
  const client = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'weir-migrate',
    // A migration takes as long as it takes.
    options: `${SESSION_SETTINGS} -c statement_timeout=0`,
  });
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const applied = await applyMissing(client);
    await makePartitions(client, new Date());
    return { applied };
  } finally {
    // Ends the session, and with it the lock.
    await client.end();
  }
}

async function applyMissing(client: pg.Client): Promise<string[]> {
  await client.query(
    'CREATE TABLE IF NOT EXISTS migrations (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())',
  );
  const files = (await readdir(DIRECTORY)).filter((name) => name.endsWith('.sql')).sort();
  const { rows } = await client.query<{ name: string }>('SELECT name FROM migrations');
  const done = new Set(rows.map((row) => row.name));
  const unknown = [...done].filter((name) => !files.includes(name));
  if (unknown.length > 0) {
    throw new SettingsError(
      `The database was migrated by a newer Weir (it has ${unknown.join(', ')}): run that version instead.`,
    );
  }
  const missing = files.filter((name) => !done.has(name));
  for (const name of missing) {
    const sql = await readFile(`${DIRECTORY}/${name}`, 'utf8');
    await client.query('BEGIN');
    try {
      await client.query(sql);
      await client.query('INSERT INTO migrations (name) VALUES ($1)', [name]);
      await client.query('COMMIT');
    } catch (error) {
      await client.query('ROLLBACK');
      throw new Error(`Migration ${name} failed and was rolled back.`, { cause: error });
    }
  }
  return missing;
}
