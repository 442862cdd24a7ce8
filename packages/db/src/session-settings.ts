import pg from 'pg';
import type { Runs } from './runs.ts';

/**
 * What a statement means must not depend on how somebody has set up the role or the database. These are the settings that
 * would change it: with array_nulls off, an array that holds NULL is refused or holds the word; with another isolation, what
 * is read after waiting for a lock is from before it. What only makes statements slower or fail is left as it was set.
 */
const SETTINGS = {
  timezone: 'UTC',
  datestyle: 'ISO',
  array_nulls: 'on',
  standard_conforming_strings: 'on',
  default_transaction_isolation: 'read committed',
};

/**
 * With `synchronous_commit` off, Postgres says that events are recorded before they are on disk, and Redis forgets them then.
 * Whatever is stronger is left as the operator has set it.
 */
const KEEPS_COMMITS = `set_config('synchronous_commit',
  CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, false)`;

/** A connection to a standby: after a failover the address may lead to a former primary. It is used as little as one that is refused. */
function standby(): pg.DatabaseError {
  const error = new pg.DatabaseError('this Postgres is a standby, and takes no writes', 0, 'error');
  error.code = READ_ONLY;
  return error;
}

/** The SQLSTATE of a write where none is taken. */
export const READ_ONLY = '25006';

/**
 * Sets what Weir relies on for a new connection, and what is given besides. Awaited before the connection is used, which fails if
 * this does, and on a standby. A statement and no options of the start: a pooler takes no options, or drops them without a word.
 */
export async function setUpSession(client: Runs, given: Record<string, string | number>): Promise<void> {
  const all = Object.entries({ ...SETTINGS, ...given }).map(
    ([name, value]) => `set_config('${name}', '${value}', false)`,
  );
  const { rows } = await client.query<{ is_standby: boolean }>(
    `SELECT ${[...all, KEEPS_COMMITS].join(', ')}, pg_is_in_recovery() AS is_standby`,
  );
  if (rows[0]?.is_standby === true) throw standby();
}

/**
 * Has a statement, and a wait for a lock, end within some seconds of the death of who asked for it. Postgres looks for that only when it
 * speaks otherwise, so that what has no other bound would go on, with its locks. Where the system of Postgres cannot tell, nothing is set.
 */
export async function endWithClient(client: Runs): Promise<void> {
  try {
    await client.query(`SELECT set_config('client_connection_check_interval', '2s', false)`);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError && error.code === INVALID_VALUE)) throw error;
  }
}

/** The SQLSTATE of a setting that takes no such value. */
const INVALID_VALUE = '22023';
