// How many rows Postgres reads for something, whatever the machine: what a plan costs, apart from how long it takes.

import { openDatabase, type Database } from '@weir/db/database';
import type pg from 'pg';
import { until } from './harness.ts';

/** No table is analyzed from here on but by the test itself. */
export async function stopAnalyzing(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT oid::regclass::text AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
  );
  for (const { name } of rows) await pool.query(`ALTER TABLE ${name} SET (autovacuum_enabled = off)`);
}

/**
 * The rows of tables that some work reads, each as often as it is read, found through an index or not. A statement that takes
 * longer than half a minute fails.
 */
export async function rowsReadBy(
  { pool, databaseUrl }: { pool: pg.Pool; databaseUrl: string },
  work: (database: Database) => Promise<unknown>,
): Promise<number> {
  const read = async (): Promise<number> => {
    const { rows } = await pool.query(
      `SELECT (SELECT sum(seq_tup_read) FROM pg_stat_user_tables) + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes) AS read`,
    );
    return Number(rows[0].read);
  };
  // What this connection has read says it by itself only after a while, in the midst of the work.
  await pool.query('SELECT pg_stat_force_next_flush()');
  const before = await read();
  const database = openDatabase(databaseUrl, {
    connectionsMax: 1,
    statementTimeoutMs: 30_000,
    onConnectionError: () => {},
  });
  const { rows } = await database.pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  try {
    await work(database);
  } finally {
    await database.close();
  }
  // A connection says what it has read when it ends.
  await until(async () => {
    const { rowCount } = await pool.query('SELECT FROM pg_stat_activity WHERE pid = $1', [rows[0]?.pid]);
    return rowCount === 0;
  }, 'the connection has ended');
  return (await read()) - before;
}
