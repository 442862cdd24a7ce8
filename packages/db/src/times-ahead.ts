// By how much the time of an event may lie ahead of its receipt. The setting may be lowered, and what was taken before stays: the most that
// was ever allowed is kept beside the events, for those who look for them by their time.

import { monthAfter, startOfMonth, utcMonthOf } from '@weir/shared/months';
import type { Database } from './database.ts';

/** Keeps what is allowed from now on, where it is more than ever before. */
export async function raiseAhead(database: Database, seconds: number): Promise<void> {
  // Asked first: a Postgres that only reads is written to no more often than has to be.
  if ((await readAhead(database)) >= seconds) return;
  await database.pool.query('UPDATE installation SET ahead_seconds_max = $1 WHERE ahead_seconds_max < $1', [seconds]);
}

/** Returns the most that was ever allowed, in seconds. */
export async function readAhead({ pool }: Database): Promise<number> {
  const { rows } = await pool.query<{ seconds: number }>('SELECT ahead_seconds_max AS seconds FROM installation');
  return rows[0]?.seconds ?? 0;
}

/** Returns the first month (`2026-03`) of which no event came in up to the end of an earlier one (`2026-01`). */
export async function firstMonthClearOf(database: Database, month: string): Promise<string> {
  const end = Date.parse(startOfMonth(monthAfter(month))) + (await readAhead(database)) * 1_000;
  // An event that came in before the end of the month is of a time before this one.
  return monthAfter(utcMonthOf(end - 1));
}
