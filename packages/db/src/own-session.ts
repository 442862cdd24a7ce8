// Whether a connection has a session of Postgres to itself. Behind a pooler in transaction mode it has another one for each transaction:
// what was set for it, the locks it holds and the statements it has prepared are then another client's, and its own are gone.

import { SettingsError } from '@weir/shared/settings';
import type pg from 'pg';
import { isDatabaseAway } from './database.ts';

const SHARED =
  'A pooler in front of Postgres (PgBouncer?) gives each transaction another session, and Weir needs sessions of its own, for ' +
  'settings, locks and prepared statements: connect to Postgres itself, or have the pooler keep sessions (pool_mode = session).';

/** So many other clients are tried. Nearly always the first one gets the session that was used last. */
const OTHERS_MAX = 4;

type Client = Pick<pg.Client, 'query'>;

/** Throws a SettingsError where transactions of `client` may get another session each. `open` makes another client of the same server. */
export async function requireOwnSession(client: Client, open: () => pg.Client): Promise<void> {
  const session = await sessionOf(client);
  // What the server said at the start is the session, but for a pooler, which makes up a number.
  if ((client as { processID?: unknown }).processID === session) return;
  const others: pg.Client[] = [];
  try {
    while (others.length < OTHERS_MAX) {
      const other = open();
      other.on('error', () => {});
      others.push(other);
      await other.connect();
      // It keeps its session for as long as the transaction is open.
      await other.query('BEGIN');
      if ((await sessionOf(other)) === session || (await sessionOf(client)) !== session)
        throw new SettingsError(SHARED);
    }
  } catch (error) {
    // A pooler in statement mode takes no transactions at all.
    if (/transaction blocks not allowed/.test((error as Error).message))
      throw new SettingsError(SHARED, { cause: error });
    // One that keeps sessions may have none left for these.
    if (!isDatabaseAway(error)) throw error;
  } finally {
    await Promise.all(others.map((other) => other.end().catch(() => {})));
  }
}

async function sessionOf(client: Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid;
}
