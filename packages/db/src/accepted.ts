// How many events the door has accepted, as Postgres has it: the counts that were drained, and the corrections.

import type { UsageEvent } from '@weir/shared/event';
import { epochMsOfId, firstIdAt } from '@weir/shared/ids';
import type { AcceptedCounts, DrainedCount, MonthCount } from '@weir/shared/month-counts';
import { utcMonthOf } from '@weir/shared/months';
import { DAY_MS } from '@weir/shared/time-zone';
import { sql } from 'kysely';
import { DRAIN_LOCK, REPAIR_LOCK } from './advisory-locks.ts';
import { plainArray } from './array-text.ts';
import type { Database, Queries } from './database.ts';
import type { Runs } from './runs.ts';
import { awaitStandby } from './standby.ts';

/**
 * How long drained counts are remembered. Redis may come back with an older state and bring some again, after a failover or
 * from a backup; older ones than this would be added twice.
 */
const REMEMBERED_MS = 30 * DAY_MS;

/** `again`: these counts were drained before, and are `events` more since: those could not be kept. */
export interface Drain {
  outcome: 'drained' | 'again';
  id: string;
  events: number;
  /** What is counted now of each of their organizations and months. */
  totals: DrainedCount[];
}

/**
 * Adds accepted counts to the totals, once however often they come. `setAside` is called when no other drain is under way;
 * undefined when one is, when there is nothing to drain, or when those drained last are not here: Postgres went back in time then, and
 * these would cover the trace of it before anybody finds it out. Once this has returned, the counts may be dropped.
 */
export async function addAcceptedCounts(
  database: Database,
  setAside: () => Promise<AcceptedCounts | undefined>,
): Promise<Drain | undefined> {
  return database.kysely.transaction().execute(async (transaction) => {
    const lock = await sql<{ held: boolean }>`SELECT pg_try_advisory_xact_lock(${DRAIN_LOCK}) AS held`.execute(
      transaction,
    );
    if (lock.rows[0]?.held !== true) return undefined;
    const accepted = await setAside();
    if (accepted === undefined || !(await hasDrained(transaction, accepted.drainedLast))) return undefined;
    return add(transaction, accepted);
  });
}

async function hasDrained(transaction: Queries, id: string | undefined): Promise<boolean> {
  if (id === undefined) return true;
  const { rows } = await sql`SELECT FROM drained_counts WHERE id = ${id}`.execute(transaction);
  return rows.length > 0;
}

async function add(transaction: Queries, { id, counts }: AcceptedCounts): Promise<Drain> {
  const events = counts.reduce((sum, count) => sum + count.events, 0);
  const inserted = await sql`
    INSERT INTO drained_counts (id, events) VALUES (${id}, ${events}) ON CONFLICT DO NOTHING`.execute(transaction);
  if (inserted.numAffectedRows === 0n) {
    // Nothing is written here, and they are dropped after this.
    await awaitStandby(transaction);
    const { rows } = await sql<{ events: string }>`SELECT events FROM drained_counts WHERE id = ${id}`.execute(
      transaction,
    );
    const more = events - Number(rows[0]?.events ?? events);
    // Of counts that went on nobody knows which counts are added.
    const totals = await readTotals(transaction, counts, more === 0);
    return { outcome: 'again', id, events: more, totals };
  }
  const forgotten = firstIdAt(Date.now() - REMEMBERED_MS);
  // By Postgres's clock as well: one that is ahead would forget what Redis says was drained a moment ago. And never those drained before
  // these: until these are dropped, Redis says that they were the last.
  await sql`DELETE FROM drained_counts
    WHERE id < ${forgotten} AND drained_at < now() - ${REMEMBERED_MS} * interval '1 millisecond'
      AND id <> (SELECT id FROM drained_counts WHERE id <> ${id} ORDER BY id DESC LIMIT 1)`.execute(transaction);
  // What may still turn up in Redis does no more after so long, and counts like all else.
  await sql`
    WITH settled AS (
      DELETE FROM perhaps_staged_events
      WHERE id < ${forgotten} AND recorded_at < now() - ${REMEMBERED_MS} * interval '1 millisecond'
      RETURNING organization_id, id
    )
    INSERT INTO accepted_events AS a (organization_id, month, events)
    SELECT organization_id, month, sum(events) FROM (
      SELECT organization_id, month_of_receipt(id) AS month, 1 AS events FROM settled
      UNION ALL SELECT * FROM ${unnested(counts)} AS t
    ) AS added (organization_id, month, events)
    GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (organization_id, month) DO UPDATE SET events = a.events + excluded.events`.execute(transaction);
  return { outcome: 'drained', id, events, totals: await readTotals(transaction, counts, true) };
}

async function readTotals(
  transaction: Queries,
  counts: readonly MonthCount[],
  areAdded: boolean,
): Promise<DrainedCount[]> {
  const { rows } = await sql<{ organization_id: string; month: string; events: string; added: string }>`
    SELECT a.organization_id, to_char(a.month, 'YYYY-MM') AS month, a.events, t.events AS added
    FROM ${unnested(counts)} AS t (organization_id, month, events)
    JOIN accepted_events a ON (a.organization_id, a.month) = (t.organization_id, t.month)`.execute(transaction);
  return rows.map(({ organization_id: organizationId, month, events, added }) => {
    return { organizationId, month, events: Number(events), added: areAdded ? Number(added) : 0 };
  });
}

/**
 * Raises the totals to what is remembered elsewhere, where Postgres went back in time and has counted fewer. `remembered` is
 * called when no drain is under way; where it says undefined nothing is done. Returns how many events were added, or undefined
 * when it has to be tried again.
 */
export async function raiseTotals(
  database: Database,
  remembered: () => Promise<MonthCount[] | undefined>,
): Promise<number | undefined> {
  return database.kysely.transaction().execute(async (transaction) => {
    const lock = await sql<{ held: boolean }>`SELECT pg_try_advisory_xact_lock(${DRAIN_LOCK}) AS held`.execute(
      transaction,
    );
    const counts = lock.rows[0]?.held === true ? await remembered() : undefined;
    if (counts === undefined) return undefined;
    const { rows } = await sql<{ events: string }>`
      SELECT coalesce(sum(t.events - coalesce(a.events, 0)), 0) AS events
      FROM ${unnested(counts)} AS t (organization_id, month, events)
      LEFT JOIN accepted_events a ON (a.organization_id, a.month) = (t.organization_id, t.month)
      WHERE t.events > coalesce(a.events, 0)`.execute(transaction);
    await sql`
      INSERT INTO accepted_events AS a (organization_id, month, events)
      SELECT t.* FROM ${unnested(counts)} AS t (organization_id, month, events)
      LEFT JOIN accepted_events a ON (a.organization_id, a.month) = (t.organization_id, t.month)
      WHERE t.events > coalesce(a.events, 0) ORDER BY 1, 2
      ON CONFLICT (organization_id, month) DO UPDATE SET events = excluded.events
        WHERE a.events < excluded.events`.execute(transaction);
    return Number(rows[0]?.events ?? 0);
  });
}

/** Writes down that the door's counts were wrong, by how much and why. */
export async function insertCorrections(
  database: Database,
  corrections: readonly MonthCount[],
  reason: string,
): Promise<void> {
  await sql`
    INSERT INTO accepted_corrections (organization_id, month, events, reason)
    SELECT t.*, ${reason} FROM ${unnested(corrections)} AS t`.execute(database.kysely);
}

/** Counts as rows of SQL: organization, first day of the month, number. */
export function unnested(counts: readonly MonthCount[]) {
  return sql`unnest(${counts.map(({ organizationId }) => organizationId)}::uuid[],
    ${counts.map(({ month }) => `${month}-01`)}::date[], ${counts.map(({ events }) => events)}::bigint[])`;
}

/** Another repair is under way; two would write the same correction twice. */
export class RepairUnderWay extends Error {}

/** Lets one repair at a time work on this database. Throws RepairUnderWay to the others. */
export async function whileRepairing<T>(database: Database, use: () => Promise<T>): Promise<T> {
  return database.kysely.connection().execute(async (session) => {
    const { rows } = await sql<{ held: boolean }>`SELECT pg_try_advisory_lock(${REPAIR_LOCK}) AS held`.execute(session);
    if (rows[0]?.held !== true) throw new RepairUnderWay('another repair is under way: wait for it to end');
    const result = await use();
    await sql`SELECT pg_advisory_unlock(${REPAIR_LOCK})`.execute(session);
    return result;
  });
}

/** Counts events as accepted. The last thing of a transaction: whoever counts for the same organization waits for it from here on. */
export async function countAccepted(client: Runs, events: readonly UsageEvent[]): Promise<void> {
  const counts = new Map<string, { organizationId: string; month: string; events: number }>();
  for (const { id, organization_id: organizationId } of events) {
    const month = utcMonthOf(epochMsOfId(id));
    const count = counts.get(organizationId + month);
    if (count === undefined) counts.set(organizationId + month, { organizationId, month, events: 1 });
    else count.events += 1;
  }
  if (counts.size === 0) return;
  const rows = [...counts.values()];
  await client.query({
    name: 'count-accepted',
    text: `INSERT INTO accepted_events AS a (organization_id, month, events)
      SELECT * FROM unnest($1::uuid[], $2::date[], $3::bigint[]) ORDER BY 1, 2
      ON CONFLICT (organization_id, month) DO UPDATE SET events = a.events + excluded.events`,
    values: [
      plainArray(rows.map(({ organizationId }) => organizationId)),
      plainArray(rows.map(({ month }) => `${month}-01`)),
      plainArray(rows.map(({ events }) => events)),
    ],
  });
}
