import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { inject } from 'vitest';
import { queryOnce, withDatabase } from './query.ts';

/** A database of a test's own. */
export interface TestDatabase {
  name: string;
  url: string;
  /** Lets go of it; it is removed some time later. Fails when a connection was left open: some pool was not closed. */
  drop(): Promise<void>;
}

/**
 * With each database that it drops, Postgres writes to disk whatever has changed in any, which takes it seconds, and the tests beside
 * wait for it. So many are dropped one after another, when there is little to write; the last ones at the end of all.
 */
const DROPPED_AT_ONCE = 16;
const unused: string[] = [];

/** One connection makes databases while the other one drops them. */
const SERVER_CONNECTIONS = 2;
let server: pg.Pool | undefined;

/** Runs a statement on the server of the tests, on connections that the files of a worker share. They keep no process from ending. */
export function queryServer(sql: string, values?: unknown[]): Promise<pg.QueryResult> {
  if (server === undefined) {
    const connectionString = inject('databaseUrl');
    server = new pg.Pool({ connectionString, max: SERVER_CONNECTIONS, idleTimeoutMillis: 0, allowExitOnIdle: true });
    // The server may end first.
    server.on('error', () => {});
  }
  return server.query(sql, values);
}

/**
 * An empty and migrated one: clones the template, which takes some 25 ms. Of an unobserved one Postgres neither counts what is read and
 * written nor looks at its tables by itself: only the test says when it does, and only whoever measures is counted.
 */
export async function createTestDatabase({ unobserved = false } = {}): Promise<TestDatabase> {
  const database = await createDatabase(`TEMPLATE ${inject('templateDatabase')}`);
  if (unobserved) await leaveAlone(database);
  return database;
}

/** One that is made as it is said; without a word it is empty, and nobody has migrated it. */
export async function createDatabase(how = ''): Promise<TestDatabase> {
  // Begun as the template is: the end of all drops what is named so.
  const name = `${inject('templateDatabase')}_${randomBytes(6).toString('hex')}`;
  await queryServer(`CREATE DATABASE ${name} ${how}`);
  return {
    name,
    url: withDatabase(inject('databaseUrl'), name),
    drop: async () => {
      try {
        await untilUnused(name);
        unused.push(name);
        if (unused.length >= DROPPED_AT_ONCE) void dropAll(unused.splice(0));
      } catch (error) {
        await queryServer(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
        throw new Error('A connection to the test database was left open.', { cause: error });
      }
    },
  };
}

/** The next file does not wait for it, and what is left goes at the end of all. */
async function dropAll(names: string[]): Promise<void> {
  for (const name of names) await queryServer(`DROP DATABASE IF EXISTS ${name}`).catch(() => {});
}

async function leaveAlone({ name, url }: TestDatabase): Promise<void> {
  await queryServer(`ALTER DATABASE ${name} SET track_counts = off`);
  await queryOnce(
    url,
    `DO $$ DECLARE name text; BEGIN
       FOR name IN SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
       LOOP EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = off)', name); END LOOP;
     END $$`,
  );
}

/** Waits until those who were connected are gone, which takes a busy machine a moment; fails after ten seconds. */
async function untilUnused(name: string): Promise<void> {
  const deadline = Date.now() + 10_000;
  for (;;) {
    const { rows } = await queryServer(
      `SELECT query FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend'`,
      [name],
    );
    if (rows.length === 0) return;
    if (Date.now() > deadline) throw new Error(`still connected, after ${rows.map(({ query }) => query).join('; ')}`);
    await delay(10);
  }
}
