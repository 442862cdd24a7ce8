import { readFile } from 'node:fs/promises';
import type pg from 'pg';
import { withoutOptions } from './database.ts';
import { NotingClient } from './noting-client.ts';
import { MIGRATIONS, findMissing, requireUtf8 } from './migrations.ts';
import { requireOwnSession } from './own-session.ts';
import { makePartitions } from './partitions.ts';
import { setUpSession } from './session-settings.ts';

// Any fixed number will do, as long as nothing else in this database locks it.
const MIGRATION_LOCK = 7_339_221_551;

/**
 * Brings a database to the newest schema and makes the partitions of this and the coming months. Each migration runs
 * in a transaction of its own, in the order of its number, once. Several processes may migrate at the same time: one
 * works, the others wait for it. Throws, with nothing of the failing migration kept, when one fails; and a SettingsError for
 * a database that is not UTF-8, one that has migrations that this version does not know, and one of another program.
 */
export async function migrate(databaseUrl: string): Promise<{ applied: string[] }> {
  const { connectionString, given } = withoutOptions(databaseUrl);
  const config = {
    connectionString,
    connectionTimeoutMillis: 10_000,
    application_name: 'weir-migrate',
    ...(given !== '' && { options: given }),
  };
  const client = new NotingClient(config);
  try {
    await client.connect();
    // A migration takes as long as it takes.
    await setUpSession(client, { statement_timeout: 0 });
    await requireOwnSession(client, () => new NotingClient(config));
    await requireUtf8(client);
    await client.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const applied = await applyMissing(client);
    await makePartitions(client, new Date());
    return { applied };
  } finally {
    // Ends the session, and with it the lock. It may stand although connecting failed.
    await client.end();
  }
}

async function applyMissing(client: pg.Client): Promise<string[]> {
  await client.query(
    'CREATE TABLE IF NOT EXISTS migrations (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())',
  );
  const missing = await findMissing(client);
  for (const name of missing) {
    const sql = await readFile(`${MIGRATIONS}/${name}`, 'utf8');
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
