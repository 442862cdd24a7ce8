import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { readConcurrent, runConcurrent } from './concurrent-indexes.ts';
import { withoutOptions } from './database.ts';
import { NotingClient } from './noting-client.ts';
import { MIGRATIONS, findMissing, requireUtf8 } from './migrations.ts';
import { requireOwnSession } from './own-session.ts';
import { makePartitions } from './partitions.ts';
import { setUpSession } from './session-settings.ts';

// Any fixed number will do, as long as nothing else in this database locks it.
const MIGRATION_LOCK = 7_339_221_551;

/** How often it is looked whether another process has done with migrating. */
const LOCK_LOOK_MS = 200;

/**
 * Brings a database to the newest schema and makes the partitions of this and the coming months. Each migration runs
 * in a transaction of its own, in the order of its number, once; one that says so in its first line runs outside of any. Several
 * processes may migrate at the same time: one works, the others wait for it. Throws, with nothing of the failing migration kept,
 * when one fails; and a SettingsError for
 * a database that is not UTF-8, one that has migrations that this version does not know, and one of another program.
 */
export async function migrate(databaseUrl: string, folder = MIGRATIONS): Promise<{ applied: string[] }> {
  const { connectionString, given } = withoutOptions(databaseUrl);
  const config = {
    connectionString,
    connectionTimeoutMillis: 10_000,
    application_name: 'weir-migrate',
    ...(given !== '' && { options: given }),
  };
  const client = new NotingClient(config);
  // The query under way fails with it; an error that nobody listens to would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    // A migration takes as long as it takes.
    await setUpSession(client, { statement_timeout: 0 });
    await requireOwnSession(client, () => new NotingClient(config));
    await requireUtf8(client);
    await takeLock(client);
    const applied = await applyMissing(client, folder);
    await makePartitions(client, new Date());
    return { applied };
  } finally {
    // Ends the session, and with it the lock. It may stand although connecting failed.
    await client.end();
  }
}

/**
 * Asks again and again, and does not wait inside of Postgres: that would be a statement under way, and an index that is built
 * concurrently waits for every statement that began before it.
 */
async function takeLock(client: pg.Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS taken', [MIGRATION_LOCK]);
    if (rows[0]?.taken === true) return;
    await delay(LOCK_LOOK_MS);
  }
}

async function applyMissing(client: pg.Client, folder: string): Promise<string[]> {
  await client.query(
    'CREATE TABLE IF NOT EXISTS migrations (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())',
  );
  const missing = await findMissing(client, folder);
  for (const name of missing) {
    const sql = await readFile(`${folder}/${name}`, 'utf8');
    const steps = readConcurrent(sql);
    if (steps === undefined) await applyInTransaction(client, name, sql);
    else {
      await runConcurrent(client, steps).catch((error: unknown) => {
        throw new Error(`Migration ${name} failed, and begins again with the next run.`, { cause: error });
      });
      await client.query(NOTE, [name]);
    }
  }
  return missing;
}

const NOTE = 'INSERT INTO migrations (name) VALUES ($1)';

async function applyInTransaction(client: pg.Client, name: string, sql: string): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(sql);
    await client.query(NOTE, [name]);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw new Error(`Migration ${name} failed and was rolled back.`, { cause: error });
  }
}
