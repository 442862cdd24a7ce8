// What a database holds against what was answered with 201: every event once, and rollups that add up to the same.

import { PLAIN_ROLLUPS } from '@weir/db/rollups';
import type pg from 'pg';
import type { LoadResult } from './load/plan.ts';

/** What was accepted is not what was recorded. Nothing that was measured is worth anything then. */
export class WrongCount extends Error {}

/** Every table in which each event is added up once. */
const ROLLUP_TABLES = PLAIN_ROLLUPS.filter(({ keeps }) => keeps === 'usage').map(({ table }) => table);

interface Sum {
  events: number;
  quantity: number;
}

export interface Totals extends Sum {
  keys: number;
  /** By table. */
  rollups: Record<string, Sum>;
}

/** Reads whole tables: seconds where there are tens of millions of events. */
export async function countTotals(client: pg.Client): Promise<Totals> {
  const rollups = ROLLUP_TABLES.map((table) => ({ table, events: 'event_count', quantity: 'quantity_sum' }));
  const sums = [{ table: 'events', events: '1', quantity: 'quantity' }, ...rollups];
  const columns = sums.map(
    ({ table, events, quantity }) =>
      `(SELECT jsonb_build_object('events', coalesce(sum(${events}), 0), 'quantity', coalesce(sum(${quantity}), 0))
        FROM ${table}) AS "${table}"`,
  );
  const { rows } = await client.query<Record<string, Sum> & { keys: number }>(
    `SELECT (SELECT count(*) FROM idempotency_keys)::float8 AS keys, ${columns.join(', ')}`,
  );
  if (rows[0] === undefined) throw new WrongCount('the tables could not be counted');
  const { events, keys, ...sumsOfRollups } = rows[0];
  return { ...(events as Sum), keys, rollups: sumsOfRollups };
}

/** The events that are there when it is asked, however long the answer takes. */
export async function countEvents(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ count: number }>('SELECT count(*)::float8 AS count FROM events');
  return rows[0]?.count ?? 0;
}

/** About how many events were ever written to a database, without reading them; up to a second old. */
export async function estimateEvents(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    "SELECT coalesce(sum(n_tup_ins), 0)::float8 AS count FROM pg_stat_user_tables WHERE relname ~ '^events(_|$)'",
  );
  return rows[0]?.count ?? 0;
}

type Outcome = Pick<LoadResult, 'accepted' | 'acceptedQuantity' | 'unclear'>;

/** Throws a WrongCount unless what came to a database is what the results say was accepted, in every table. */
export function check(name: string, before: Totals, after: Totals, results: readonly Outcome[]): void {
  const sum = (of: (result: Outcome) => number) => results.reduce((total, result) => total + of(result), 0);
  const accepted = sum((result) => result.accepted);
  const unclear = sum((result) => result.unclear);
  const quantity = sum((result) => result.acceptedQuantity);
  const came = after.events - before.events;
  const isRight =
    came >= accepted &&
    came <= accepted + unclear &&
    after.keys === after.events &&
    (unclear > 0 || after.quantity - before.quantity === quantity) &&
    Object.values(after.rollups).every((each) => each.events === after.events && each.quantity === after.quantity);
  if (isRight) return;
  throw new WrongCount(
    `${name}: accepted ${accepted} events (${unclear} unclear) of quantity ${quantity}, ` +
      `found ${JSON.stringify(after)}, before ${JSON.stringify(before)}`,
  );
}
