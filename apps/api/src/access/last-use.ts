// When API keys, and tokens of service accounts, were used last. A request only puts its credential into a set; once a minute one
// statement writes down all that is in it. docs/decisions/0046-when-a-key-was-used-last.md says why.

import type { Database } from '@weir/db/database';
import { markUsed, type UsedTable } from '@weir/db/last-used';
import type { Logger } from '@weir/shared/log';

/** Notes which credentials of one kind are used. */
export interface LastUse {
  note(id: string, organizationId: string): void;
  /** Writes down what was noted since the last time. Never fails: what could not be written is noted still. */
  write(): Promise<void>;
  /** Writes for the last time. */
  close(): Promise<void>;
}

const INTERVAL_MS = 60_000;

/** The connections of `database` must be quick to say that Postgres is away: closing waits for them. */
export function openLastUse(database: Database, table: UsedTable, log: Logger): LastUse {
  /** Organizations by their credentials. */
  let used = new Map<string, string>();
  const write = async (): Promise<void> => {
    if (used.size === 0) return;
    const noted = used;
    used = new Map();
    try {
      await markUsed(
        database,
        table,
        [...noted].map(([id, organizationId]) => ({ id, organizationId })),
      );
    } catch (error) {
      for (const [id, organizationId] of noted) used.set(id, organizationId);
      log.warn({ err: error, table }, 'the last use of credentials could not be written down; it will be tried again');
    }
  };
  const timer = setInterval(() => void write(), INTERVAL_MS);
  return {
    note: (id, organizationId) => void used.set(id, organizationId),
    write,
    async close() {
      clearInterval(timer);
      await write();
    },
  };
}
