import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { errorCodeOf } from '@weir/shared/errors';
import type pg from 'pg';
import { MIGRATION_LOCK } from './advisory-locks.ts';
import { runConcurrent } from './concurrent-indexes.ts';
import { withoutOptions } from './database-url.ts';
import { isDatabaseAway } from './database.ts';
import { NotingClient } from './noting-client.ts';
import { type Migration, readMigration } from './migration-file.ts';
import { MIGRATIONS, readSchema, requireUtf8 } from './migrations.ts';
import { requireOwnSession } from './own-session.ts';
import { hasPartition, makePartitions } from './partitions.ts';
import { clientTransaction } from './pool-transaction.ts';
import { setUpSession } from './session-settings.ts';
import { hasGivenUpWaiting, WAIT_BRIEFLY_FOR_TABLES } from './table-lock.ts';
import { explainUnreachable, isStarting } from './unreachable.ts';

/** How often it is looked whether another process has done with migrating. */
const LOCK_LOOK_MS = 200;

/** Between two attempts, in which those go on that have waited. */
const LOCK_PAUSE_MS = 500;

/** After this it is told that something holds a lock all the time. */
const LOCKED_MS_MAX = 300_000;

/** A Postgres that was just started takes connections within this, unless it reads a long log. */
const STARTING_MS_MAX = 30_000;

const STARTING_PAUSE_MS = 500;

/** Hears of each migration as it begins, and of what it waits for. */
type Tell = (line: string) => void;

/** A migration that was begun and is not known to be done. The message says what became of it, the cause why. */
export class MigrationFailed extends Error {}

export interface Migrated {
  applied: string[];
  /** A month to come has no partition yet, as something held a lock. A worker makes it. */
  isMonthLeft?: true;
}

/**
 * Brings a database to the newest schema and makes the partitions of this and the coming months. Each migration runs
 * in a transaction of its own, in the order of its number, once; one that says so in its first line runs outside of any.
 * Several processes may migrate at the same time: one works, the others wait for it. Throws a MigrationFailed when one fails, with
 * nothing of it kept where that is known; and a SettingsError for a database that is not UTF-8, one that a newer version has migrated
 * and has taken away from what this one reads, one of before the first release, and one of another program.
 */
export async function migrate(databaseUrl: string, folder = MIGRATIONS, tell: Tell = () => {}): Promise<Migrated> {
  const { connectionString, given } = withoutOptions(databaseUrl);
  const config = {
    connectionString,
    connectionTimeoutMillis: 10_000,
    // An index may take longer than whatever stands between keeps a connection on which nothing is said.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
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
    await takeLock(client, tell);
    const applied = await applyMissing(client, folder, tell);
    const isMonthLeft = !(await makeMonths(client, new Date()));
    return { applied, ...(isMonthLeft && { isMonthLeft }) };
  } finally {
    // Ends the session, and with it the lock. It may stand although connecting failed.
    await client.end();
  }
}

/**
 * Migrates as {@link migrate} does, and waits up to `waitMsMax` for a Postgres that starts or that nobody listens for yet. Told once.
 */
export async function migrateOnceUp(
  databaseUrl: string,
  tell: Tell,
  waitMsMax: number = STARTING_MS_MAX,
): Promise<Migrated> {
  const giveUpAt = performance.now() + waitMsMax;
  for (let isTold = false; ; isTold = true) {
    try {
      return await migrate(databaseUrl, MIGRATIONS, tell);
    } catch (error) {
      // Of a migration that was begun this is no error, but the cause of one.
      if (!isStarting(error) || performance.now() > giveUpAt) throw error;
      if (!isTold) tell(`Waiting: ${explainUnreachable(error)}.`);
      await delay(STARTING_PAUSE_MS);
    }
  }
}

/** Returns false where a month to come is left to a worker: nobody needs it yet, and a backup may hold its lock for hours. */
async function makeMonths(client: pg.Client, now: Date): Promise<boolean> {
  try {
    await makePartitions(client, now);
    return true;
  } catch (error) {
    if (errorCodeOf(error) === '55P03' && (await hasPartition(client, now))) return false;
    throw error;
  }
}

/**
 * Asks again and again, and does not wait inside of Postgres: that would be a statement under way, and an index that is built
 * concurrently waits for every statement that began before it.
 */
async function takeLock(client: pg.Client, tell: Tell): Promise<void> {
  for (let isTold = false; ; isTold = true) {
    const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS taken', [MIGRATION_LOCK]);
    if (rows[0]?.taken === true) return;
    if (!isTold) tell(await describeHolder(client));
    await delay(LOCK_LOOK_MS);
  }
}

/** One that was interrupted goes on in Postgres until what it waits for is over, and holds its lock. */
async function describeHolder(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ pid: number }>(
    `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1 AND granted
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
       AND (classid::bigint << 32) | objid::bigint = $1`,
    [MIGRATION_LOCK],
  );
  const by = rows[0] === undefined ? '' : `, by process ${rows[0].pid} of pg_stat_activity`;
  return `Waiting: this database is being migrated already${by}.`;
}

async function applyMissing(client: pg.Client, folder: string, tell: Tell): Promise<string[]> {
  await client.query(
    'CREATE TABLE IF NOT EXISTS migrations (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())',
  );
  const { missing } = await readSchema(client, folder);
  for (const name of missing) {
    const migration = readMigration(await readFile(`${folder}/${name}`, 'utf8'));
    if (migration.steps === undefined) {
      tell(`Applying ${name}.`);
      await applyInTransaction(client, name, migration, tell);
      continue;
    }
    tell(
      `Applying ${name}: an index, which waits for every transaction that began before it, such as a backup, however long that ` +
        'takes. Everybody goes on writing.',
    );
    await runConcurrent(client, migration.steps).catch((error: unknown) => {
      throw new MigrationFailed(`Migration ${name} failed, and begins again with the next run.`, { cause: error });
    });
    await note(client, name, migration);
  }
  return missing;
}

async function note(client: pg.Client, name: string, { needs }: Migration): Promise<void> {
  await client.query('INSERT INTO migrations (name) VALUES ($1)', [name]);
  // The first ones were there before the column.
  if (needs !== null) await client.query('UPDATE migrations SET needs = $2 WHERE name = $1', [name, needs]);
}

/**
 * Who waits for a lock of a table has everybody wait who comes after it, so it does not wait for long, and begins again: what holds the
 * lock, such as a backup, goes on as well as those who record.
 */
async function applyInTransaction(client: pg.Client, name: string, migration: Migration, tell: Tell): Promise<void> {
  const giveUpAt = performance.now() + LOCKED_MS_MAX;
  for (let isTold = false; ; isTold = true) {
    if (await applyUnlessLocked(client, name, migration, performance.now() > giveUpAt)) return;
    if (!isTold)
      tell(`Waiting: something, such as a backup, holds a lock that ${name} needs. It tries for five minutes.`);
    await delay(LOCK_PAUSE_MS);
  }
}

/** Returns false, with nothing done, where a lock was not to be had, unless it is the last attempt. */
async function applyUnlessLocked(
  client: pg.Client,
  name: string,
  migration: Migration,
  isLast: boolean,
): Promise<boolean> {
  let isWritten = false;
  try {
    await clientTransaction(client, async () => {
      await client.query(WAIT_BRIEFLY_FOR_TABLES);
      await client.query(migration.sql);
      await note(client, name, migration);
      isWritten = true;
    });
    return true;
  } catch (error) {
    if (hasGivenUpWaiting(error) && !isLast) return false;
    // Whoever loses the connection while it commits does not hear what came of that.
    const became =
      isWritten && isDatabaseAway(error)
        ? `It is not known whether migration ${name} was done: run migrate again, which goes on from what is there.`
        : `Migration ${name} failed and was rolled back.`;
    throw new MigrationFailed(became, { cause: error });
  }
}
