// When API keys were used last. A request only puts its key into a set; once a minute one statement writes down all that is in it.
// docs/decisions/0046-when-a-key-was-used-last.md says why.

import { markKeysUsed } from '@weir/db/api-keys';
import type { Database } from '@weir/db/database';
import type { Logger } from '@weir/shared/log';

/** Notes which API keys are used. */
export interface KeyUse {
  note(apiKeyId: string, organizationId: string): void;
  /** Writes down what was noted since the last time. Never fails: what could not be written is noted still. */
  write(): Promise<void>;
  /** Writes for the last time. */
  close(): Promise<void>;
}

const INTERVAL_MS = 60_000;

/** The connections of `database` must be quick to say that Postgres is away: closing waits for them. */
export function openKeyUse(database: Database, log: Logger): KeyUse {
  /** Organizations by their keys. */
  let used = new Map<string, string>();
  const write = async (): Promise<void> => {
    if (used.size === 0) return;
    const noted = used;
    used = new Map();
    try {
      await markKeysUsed(
        database,
        [...noted].map(([id, organizationId]) => ({ id, organizationId })),
      );
    } catch (error) {
      for (const [id, organizationId] of noted) used.set(id, organizationId);
      log.warn({ err: error }, 'the last use of API keys could not be written down; it will be tried again');
    }
  };
  const timer = setInterval(() => void write(), INTERVAL_MS);
  return {
    note: (apiKeyId, organizationId) => void used.set(apiKeyId, organizationId),
    write,
    async close() {
      clearInterval(timer);
      await write();
    },
  };
}
