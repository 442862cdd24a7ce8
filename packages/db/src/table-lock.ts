// How long whoever asks for a lock of a whole table waits for it at a time: all wait behind it who come after it, even those that would
// not have waited for what holds the lock.

import { errorCodeOf } from '@weir/shared/errors';

/**
 * Somewhat longer than `deadlock_timeout`: only after that does Postgres cancel an autovacuum that is in the way, and where both are over
 * at once it gives up without. Where that is minutes no autovacuum gives way, since nobody may wait for so long.
 */
export const WAIT_BRIEFLY_FOR_TABLES = `
  SELECT set_config('lock_timeout', (least(setting::integer, 5000) + 500)::text, true) FROM pg_settings WHERE name = 'deadlock_timeout'`;

/** Whether a transaction has given up such a wait, and may begin again: it took too long, or would have been for ever (40P01). */
export function hasGivenUpWaiting(error: unknown): boolean {
  return ['55P03', '40P01'].includes(errorCodeOf(error) ?? '');
}
