import type { Database } from './database.ts';

/**
 * By how many seconds the clock of this process is at least ahead of that of Postgres; negative where it is behind. A difference that the
 * question and its answer may have taken on their way is none: 0. So a slow Postgres seems to have no other time.
 */
export async function readClockOffset({ pool }: Database): Promise<number> {
  const askedAt = Date.now();
  const { rows } = await pool.query<{ ms: number }>(
    'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms',
  );
  const answeredAt = Date.now();
  const ms = rows[0]?.ms ?? NaN;
  return (Math.max(0, askedAt - ms) + Math.min(0, answeredAt - ms)) / 1000;
}
