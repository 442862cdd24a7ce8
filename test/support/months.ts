// Months of `events` that are taken out of the database and attached again.

import { makePartitions } from '@weir/db/partitions';
import { tableOf } from '@weir/db/months-taken-out';
import { recordEvents } from '@weir/db/record';
import { firstIdAt, newId } from '@weir/shared/ids';
import { countsValues, type AggregationType } from '@weir/shared/meter';
import { monthAfter } from '@weir/shared/months';
import { readFileSync } from 'node:fs';
import type { Weir } from './harness.ts';

const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
const [, emptyMonth = ''] = /only an empty one can take its place[^]*?```sql\n([^]*?)```/.exec(page) ?? [];

/** What docs/operations.md gives for a month (`2025-01`) that is lost for good: an empty one takes its place. */
export function emptyMonthSql(month: string): string {
  const names = {
    events_2026_01: tableOf(month),
    '2026-02-01': `${monthAfter(month)}-01`,
    '2026-01-01': `${month}-01`,
  };
  return Object.entries(names).reduce((sql, [written, own]) => sql.replace(written, own), emptyMonth);
}

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

/** Attaches it again, in a transaction of who asks, where it is given a connection as the pool. */
export async function attachMonth({ pool }: { pool: Pick<Weir['pool'], 'query'> }, month: string): Promise<void> {
  const first = new Date(`${month}-01T00:00:00Z`);
  const after = new Date(first);
  after.setUTCMonth(first.getUTCMonth() + 1);
  const [from, to] = [first, after].map((at) => firstIdAt(at.getTime()));
  await pool.query(`ALTER TABLE events ATTACH PARTITION ${tableOf(month)} FOR VALUES FROM ('${from}') TO ('${to}')`);
}

/** Drops a month, and puts an empty one in its place. */
export async function loseMonth({ pool }: Weir, month: string): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query(`DROP TABLE ${tableOf(month)}`);
    await client.query(emptyMonthSql(month));
  } finally {
    // With its settings.
    client.release(true);
  }
}

export interface Used {
  meter: { id: string; aggregation: AggregationType };
  customer: string;
  at: string;
  /** When it came in: at its time, where nothing is said. */
  receivedAt?: string;
  quantity?: number;
  user?: string;
}

/** Records usage of an organization, and returns the ids of the events. */
export async function recordUsed({ pool }: Weir, organization: string, used: readonly Used[]): Promise<string[]> {
  const events = used.map(({ meter, customer, at, receivedAt = at, quantity = 1, user = 'ada' }) => ({
    countsUniqueValues: countsValues(meter.aggregation),
    event: {
      id: newId(Date.parse(receivedAt)),
      organization_id: organization,
      meter_id: meter.id,
      customer_external_id: customer,
      quantity: String(quantity),
      timestamp: at,
      metadata: JSON.stringify({ user_id: user }),
    },
  }));
  await recordEvents(pool, events);
  return events.map(({ event }) => event.id);
}
