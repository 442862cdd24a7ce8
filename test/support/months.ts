// Months of `events` that are taken out of the database and attached again.

import { makePartitions } from '@weir/db/partitions';
import { tableOf } from '@weir/db/months-taken-out';
import { firstIdAt } from '@weir/shared/ids';
import type { Weir } from './harness.ts';

/** Every month from then on has its partition, as where Weir has run since. */
export async function makeMonthsSince({ pool }: Weir, since: string): Promise<void> {
  const client = await pool.connect();
  try {
    for (let at = new Date(since); at.getTime() < Date.now(); at.setUTCMonth(at.getUTCMonth() + 3, 1))
      await makePartitions(client, at);
  } finally {
    client.release();
  }
}

/** Takes a month (`2025-01`) out. */
export async function detachMonth({ pool }: Weir, month: string): Promise<void> {
  await pool.query(`ALTER TABLE events DETACH PARTITION ${tableOf(month)}`);
}

export async function attachMonth({ pool }: Weir, month: string): Promise<void> {
  const first = new Date(`${month}-01T00:00:00Z`);
  const after = new Date(first);
  after.setUTCMonth(first.getUTCMonth() + 1);
  const [from, to] = [first, after].map((at) => firstIdAt(at.getTime()));
  await pool.query(`ALTER TABLE events ATTACH PARTITION ${tableOf(month)} FOR VALUES FROM ('${from}') TO ('${to}')`);
}
