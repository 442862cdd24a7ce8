// The time that billing goes by, in a database of the bench: a month ends when the bench says so.

import type pg from 'pg';

/** Lets billing stand still at an instant. */
export async function stopBillingClock(client: pg.Client, at: string): Promise<void> {
  await replace(client, `timestamptz '${at}'`, `timestamptz '${at}'`);
}

/** Lets billing go on from an instant, as fast as the clock does. */
export async function startBillingClock(client: pg.Client, at: string): Promise<void> {
  const { rows } = await client.query<{ shift: string }>(
    `SELECT ($1::timestamptz - clock_timestamp())::text AS shift`,
    [at],
  );
  const shift = `interval '${rows[0]?.shift}'`;
  await replace(client, `now() + ${shift}`, `clock_timestamp() + ${shift}`);
}

async function replace(client: pg.Client, now: string, clock: string): Promise<void> {
  await client.query(
    `CREATE OR REPLACE FUNCTION billing_now() RETURNS timestamptz LANGUAGE sql STABLE RETURN ${now};
     CREATE OR REPLACE FUNCTION billing_clock() RETURNS timestamptz LANGUAGE sql VOLATILE RETURN ${clock};`,
  );
}
