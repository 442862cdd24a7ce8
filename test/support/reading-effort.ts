// How many rows Postgres reads for something, whatever the machine: what a plan costs, apart from how long it takes.

import { openDatabase, type Database } from '@weir/db/database';
import type pg from 'pg';
import { until } from './harness.ts';

type Where = { pool: pg.Pool; databaseUrl: string };
type Work = (database: Database) => Promise<unknown>;
/** What reads less than that, a single row or page where nothing is said, has not done what it was to do, and fails. */
type Bounds = { least?: number };

/**
 * The rows of tables that some work reads, each as often as it is read, found through an index or not. A statement that takes
 * longer than half a minute fails. Of a database that is unobserved, since others say later, and at any moment, what they read.
 */
export function rowsReadBy(where: Where, work: Work, bounds?: Bounds): Promise<number> {
  const [ofTables, ofIndexes] = [
    'sum(seq_tup_read) FROM pg_stat_user_tables',
    'sum(idx_tup_read) FROM pg_stat_user_indexes',
  ];
  return readBy(where, work, `SELECT (SELECT ${ofTables}) + (SELECT ${ofIndexes}) AS read`, bounds);
}

/** The pages of the indexes of a table that some work reads: also those on which it finds no row. */
export function indexPagesReadBy(where: Where, work: Work, table: string, bounds?: Bounds): Promise<number> {
  const ofTable = `FROM pg_statio_user_indexes WHERE relname = '${table}'`;
  return readBy(where, work, `SELECT sum(idx_blks_hit + idx_blks_read) AS read ${ofTable}`, bounds);
}

async function readBy(
  { pool, databaseUrl }: Where,
  work: Work,
  counters: string,
  { least = 1 }: Bounds = {},
): Promise<number> {
  const { rows: counting } = await pool.query<{ track_counts: string }>('SHOW track_counts');
  if (counting[0]?.track_counts !== 'off') throw new Error('Others are counted here too: start it with `unobserved`.');
  const read = async (): Promise<number> => Number((await pool.query(counters)).rows[0].read);
  const before = await read();
  const observed = new URL(databaseUrl);
  observed.searchParams.set('options', '-c track_counts=on');
  const database = openDatabase(observed.href, {
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
  const done = (await read()) - before;
  if (!(done >= least)) throw new Error(`${done} was read: it returned at once, or used another connection`);
  return done;
}
