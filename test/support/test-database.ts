import { openDatabase, type Database } from '@weir/db/database';
import type { Weir } from './harness.ts';

/** Opens the database of a Weir for a test's own statements; whoever calls closes it. */
export function openTestDatabase({ databaseUrl }: Pick<Weir, 'databaseUrl'>, connectionsMax = 4): Database {
  return openDatabase(databaseUrl, { connectionsMax, statementTimeoutMs: 30_000, onConnectionError: () => {} });
}
