// The time that billing goes by. ISO 8601.

import { sql } from 'kysely';
import type { Queries } from '../database.ts';

/** As all statements of this transaction see it: the instant at which it began. */
export async function readBillingTime(db: Queries): Promise<string> {
  const { rows } = await sql<{ now: string }>`SELECT billing_now() AS now`.execute(db);
  return timeOf(rows);
}

/** What it is by now. Whoever has waited for a lock reads it once that is held: others may have changed something since the transaction began. */
export async function readBillingClock(db: Queries): Promise<string> {
  const { rows } = await sql<{ now: string }>`SELECT billing_clock() AS now`.execute(db);
  return timeOf(rows);
}

function timeOf([row]: readonly { now: string }[]): string {
  if (row === undefined) throw new Error('Postgres returned no time');
  return row.now;
}
