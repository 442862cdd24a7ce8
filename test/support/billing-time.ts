// The time that billing goes by, moved: in a test's own database months pass in a statement.

import type pg from 'pg';

/**
 * Lets billing stand still at an instant (ISO 8601 with an offset), for every connection to this database and from the next
 * statement on. Defaults of columns follow, since they call the same functions. The clock may be later: of transactions that began at the
 * instant, and have waited until then.
 */
export async function setBillingTime(database: Pick<pg.Pool, 'query'>, at: string, clock = at): Promise<void> {
  await replaceClock(database, textOf(at), textOf(clock));
}

const textOf = (at: string) => `timestamptz '${new Date(at).toISOString().slice(0, 19)}${microsOfText(at)}Z'`;

/** Lets billing go by the clock again, ahead of it by an interval such as `40 days`, or behind it by a negative one. */
export async function shiftBillingTime(database: Pick<pg.Pool, 'query'>, interval = '0 s'): Promise<void> {
  const shift = `interval '${interval}'`;
  await replaceClock(database, `now() + ${shift}`, `clock_timestamp() + ${shift}`);
}

async function replaceClock(database: Pick<pg.Pool, 'query'>, now: string, clock: string): Promise<void> {
  await database.query(
    `CREATE OR REPLACE FUNCTION billing_now() RETURNS timestamptz LANGUAGE sql STABLE RETURN ${now};
     CREATE OR REPLACE FUNCTION billing_clock() RETURNS timestamptz LANGUAGE sql VOLATILE RETURN ${clock};`,
  );
}

/** The digits after the second, of which a Date keeps three. */
function microsOfText(at: string): string {
  return /\.\d+/.exec(at)?.[0].slice(0, 7) ?? '';
}
