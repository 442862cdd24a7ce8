import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { inject } from 'vitest';
import { queryOnce, withDatabase } from './query.ts';

/** An empty, migrated database of a test file's own. */
export interface TestDatabase {
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

/**
 * Clones the template, which takes some 25 ms. Of an unobserved one Postgres neither counts what is read and written nor looks at
 * its tables by itself: only the test says when it does, and only whoever measures is counted.
 */
export async function createTestDatabase({ unobserved = false } = {}): Promise<TestDatabase> {
  const admin = inject('databaseUrl');
  const template = inject('templateDatabase');
  const name = `${template}_${randomBytes(6).toString('hex')}`;
  await queryOnce(admin, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  if (unobserved) await leaveAlone(admin, name);
  return {
    url: withDatabase(admin, name),
    drop: async () => {
      try {
        await untilUnused(admin, name);
        unused.push(name);
        if (unused.length >= DROPPED_AT_ONCE) void dropAll(admin, unused.splice(0));
      } catch (error) {
        await queryOnce(admin, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
        throw new Error('A connection to the test database was left open.', { cause: error });
      }
    },
  };
}

/** The next file does not wait for it, and what is left goes at the end of all. */
async function dropAll(admin: string, names: string[]): Promise<void> {
  for (const name of names) await queryOnce(admin, `DROP DATABASE IF EXISTS ${name}`).catch(() => {});
}

async function leaveAlone(admin: string, name: string): Promise<void> {
  await queryOnce(admin, `ALTER DATABASE ${name} SET track_counts = off`);
  await queryOnce(
    withDatabase(admin, name),
    `DO $$ DECLARE name text; BEGIN
       FOR name IN SELECT oid::regclass::text FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
       LOOP EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = off)', name); END LOOP;
     END $$`,
  );
}

/** Waits until those who were connected are gone, which takes a busy machine a moment; fails after ten seconds. */
async function untilUnused(admin: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: admin });
  await client.connect();
  try {
    const deadline = Date.now() + 10_000;
    for (;;) {
      const { rows } = await client.query(
        `SELECT query FROM pg_stat_activity WHERE datname = $1 AND backend_type = 'client backend'`,
        [name],
      );
      if (rows.length === 0) return;
      if (Date.now() > deadline) throw new Error(`still connected, after ${rows.map(({ query }) => query).join('; ')}`);
      await delay(10);
    }
  } finally {
    await client.end();
  }
}
