import type pg from 'pg';
import { isDatabaseAway } from './database.ts';

/** For work that may stop in the middle of a statement: with the connection goes the transaction, whatever state either is in. */
export const dropConnection = (): boolean => true;

/** Commits what `work` has written on this connection, or nothing of it, and throws what went wrong. */
export async function clientTransaction<Value>(client: pg.ClientBase, work: () => Promise<Value>): Promise<Value> {
  await client.query('BEGIN');
  try {
    const value = await work();
    await client.query('COMMIT');
    return value;
  } catch (error) {
    // A connection that was lost has rolled back by going, and what it says of that is not what went wrong.
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

/**
 * Commits what `work` has written, or nothing of it. A connection that was lost rolls back by going, as one does after an error for
 * which `isOver` is true: nobody waits for it.
 */
export async function poolTransaction<Value>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<Value>,
  isOver: (error: unknown) => boolean = () => false,
): Promise<Value> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('BEGIN');
    const value = await work(client);
    await client.query('COMMIT');
    return value;
  } catch (error) {
    if (isDatabaseAway(error) || isOver(error)) broken = error as Error;
    else await client.query('ROLLBACK').catch((error: unknown) => (broken = error as Error));
    throw error;
  } finally {
    client.release(broken);
  }
}
