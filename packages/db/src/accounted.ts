// Where every accepted event is now: recorded, rejected, a duplicate, or still queued. All of it is read from one snapshot
// of Postgres; what is queued in Redis is brought along, so that an event which is in both is counted once, by its id.

import type { MonthCount } from '@weir/shared/month-counts';
import { sql } from 'kysely';
import { unnested } from './accepted.ts';
import { DRAIN_LOCK } from './advisory-locks.ts';
import { isLockTimeout, type Database, type Queries } from './database.ts';

/** Whose events to count, and of which month of receipt (`2026-11`); without it, all. */
export interface CountFilter {
  organizationId?: string | undefined;
  month?: string | undefined;
}

export interface QueuedEvent {
  organizationId: string;
  id: string;
  /** Whether it was counted when it was staged; not so where it is replayed. */
  isCounted: boolean;
}

/** What can become of an accepted event, in the order in which it counts: the first that holds is what it is. */
export const FATES = ['recorded', 'duplicate', 'rejected', 'queued'] as const;
export type Fate = (typeof FATES)[number];

/** A look at the events. Its steps come in this order; `begin` may be taken back, and the look begun again. */
export interface Look {
  /** Brings along what is queued, in place of what was brought before. */
  setQueued(events: AsyncIterable<readonly QueuedEvent[]>): Promise<void>;
  /** Takes the snapshot. What is committed later is not seen. */
  begin(): Promise<void>;
  /**
   * What the door has accepted by the counts drained so far, with all corrections. Never less than what is remembered: a
   * Postgres that was restored has forgotten counts, too.
   */
  accepted(remembered: readonly MonthCount[]): Promise<MonthCount[]>;
  /** Which of these counts are among the drained ones, by their ids. */
  drained(ids: readonly string[]): Promise<Set<string>>;
  takeBack(): Promise<void>;
  /** Lets drains go on. What was begun stays as it was. */
  letDrain(): Promise<void>;
  /** Counts, one part after the other, `onPart` told before each: there may be many millions. */
  count(onPart: (name: string) => void): AsyncGenerator<{ fate: Fate; counts: MonthCount[] }>;
}

/** So often it is told that somebody else drains or looks. */
const TOLD_EVERY_MS = 1_000;

/**
 * Looks at the events of the filter. From the start until `letDrain` no counts are drained; while others drain or look, this waits,
 * and tells `onWait`. The connection keeps what it was used for when `use` fails, so the database is good for nothing then but
 * to be closed.
 */
export async function lookAtEvents<T>(
  database: Database,
  filter: CountFilter,
  use: (look: Look) => Promise<T>,
  onWait: () => void,
): Promise<T> {
  return database.kysely.connection().execute(async (session) => {
    await sql`CREATE TEMP TABLE queued (
      organization_id uuid, id uuid, is_counted boolean NOT NULL, PRIMARY KEY (organization_id, id))`.execute(session);
    await holdDrains(session, onWait);
    const result = await use(lookOf(session, filter));
    await sql`COMMIT`.execute(session);
    await sql`DISCARD TEMP`.execute(session);
    await sql`SELECT pg_advisory_unlock_all()`.execute(session);
    return result;
  });
}

/** In the queue of Postgres: who only tries now and then may come too late each time. */
async function holdDrains(session: Queries, onWait: () => void): Promise<void> {
  await sql`SELECT set_config('lock_timeout', ${String(TOLD_EVERY_MS)}, false)`.execute(session);
  for (let isHeld = false; !isHeld;) {
    try {
      await sql`SELECT pg_advisory_lock(${DRAIN_LOCK})`.execute(session);
      isHeld = true;
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      onWait();
    }
  }
  await sql`RESET lock_timeout`.execute(session);
}

function lookOf(session: Queries, filter: CountFilter): Look {
  const read = (query: ReturnType<typeof sql>) => readCounts(session, query);
  return {
    async setQueued(events) {
      await sql`TRUNCATE queued`.execute(session);
      for await (const page of events) await insertQueued(session, page);
      // It has no statistics of its own, and the planner would guess.
      await sql`ANALYZE queued`.execute(session);
    },
    async begin() {
      await sql`BEGIN ISOLATION LEVEL REPEATABLE READ`.execute(session);
      // The snapshot is that of the first statement, not of BEGIN.
      await sql`SELECT 1`.execute(session);
    },
    accepted: (remembered) =>
      read(sql`SELECT organization_id, month, sum(events) AS events FROM (
          SELECT organization_id, month, greatest(a.events, r.events) AS events
          FROM accepted_events a FULL JOIN ${unnested(remembered)} AS r (organization_id, month, events)
            USING (organization_id, month)
          UNION ALL SELECT organization_id, month, events FROM accepted_corrections
          -- Those that Redis has as well are counted there.
          UNION ALL SELECT organization_id, month_of_receipt(id), 1 FROM perhaps_staged_events p
            WHERE NOT EXISTS (SELECT FROM queued q WHERE (q.organization_id, q.id) = (p.organization_id, p.id) AND q.is_counted)
        ) AS accepted WHERE ${within(filter, sql`month`)} GROUP BY 1, 2`),
    async drained(ids) {
      const { rows } = await sql<{ id: string }>`
        SELECT id FROM drained_counts WHERE id = ANY (${ids}::uuid[])`.execute(session);
      return new Set(rows.map(({ id }) => id));
    },
    async takeBack() {
      await sql`ROLLBACK`.execute(session);
    },
    async letDrain() {
      await sql`SELECT pg_advisory_unlock(${DRAIN_LOCK})`.execute(session);
    },
    async *count(onPart) {
      for (const partition of await listPartitions(session)) {
        onPart(partition);
        yield { fate: 'recorded', counts: await read(recordedIn(partition, filter)) };
      }
      onPart('duplicate_events');
      yield { fate: 'duplicate', counts: await read(duplicates(filter)) };
      onPart('rejected_events');
      yield { fate: 'rejected', counts: await read(rejected(filter)) };
      yield { fate: 'queued', counts: await read(onlyQueued(filter)) };
    },
  };
}

async function insertQueued(session: Queries, events: readonly QueuedEvent[]): Promise<void> {
  // An event that was replayed twice may be queued twice.
  await sql`INSERT INTO queued
    SELECT organization_id, id, bool_or(is_counted) FROM unnest(${events.map(({ organizationId }) => organizationId)}::uuid[],
      ${events.map(({ id }) => id)}::uuid[], ${events.map(({ isCounted }) => isCounted)}::boolean[])
      AS t (organization_id, id, is_counted)
    GROUP BY 1, 2
    ON CONFLICT (organization_id, id) DO UPDATE SET is_counted = queued.is_counted OR excluded.is_counted`.execute(
    session,
  );
}

const MONTH_OF_RECEIPT = sql`month_of_receipt(id)`;

/** Partition by partition, since one statement over all of them would say nothing for minutes. */
async function listPartitions(session: Queries): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`SELECT inhrelid::regclass::text AS name FROM pg_inherits
    WHERE inhparent = 'events'::regclass ORDER BY 1`.execute(session);
  return rows.map(({ name }) => name);
}

function recordedIn(partition: string, filter: CountFilter) {
  // The bounds of a partition exclude all others of a month that is asked for, without reading them.
  const ofMonth =
    filter.month === undefined
      ? sql`true`
      : sql`id >= first_event_id(${`${filter.month}-01Z`}::timestamptz)
          AND id < first_event_id((${`${filter.month}-01`}::timestamp + interval '1 month') AT TIME ZONE 'UTC')`;
  return sql`SELECT organization_id, ${MONTH_OF_RECEIPT} AS month, count(*) AS events FROM ${sql.raw(partition)}
    WHERE ${ofOrganization(filter)} AND ${ofMonth} GROUP BY 1, 2`;
}

// An event that was replayed with several keys at the same moment may be recorded under one and a duplicate under another.
const duplicates = (filter: CountFilter) => sql`
  SELECT organization_id, month_of_receipt(id) AS month, count(*) AS events FROM duplicate_events d
  WHERE ${within(filter, sql`month_of_receipt(id)`)}
    AND NOT EXISTS (SELECT FROM events e WHERE (e.organization_id, e.id) = (d.organization_id, d.id))
  GROUP BY 1, 2`;

// A replayed event that was recorded a moment ago may still stand among the rejected ones.
const rejected = (filter: CountFilter) => sql`
  SELECT organization_id, month_of_receipt(id) AS month, count(*) AS events FROM rejected_events r
  WHERE ${within(filter, sql`month_of_receipt(id)`)}
    AND NOT EXISTS (SELECT FROM events e WHERE (e.organization_id, e.id) = (r.organization_id, r.id))
    AND NOT EXISTS (SELECT FROM duplicate_events d WHERE (d.organization_id, d.id) = (r.organization_id, r.id))
  GROUP BY 1, 2`;

// A batch is taken off Redis after the commit, and a replayed event is queued while it still stands among the rejected ones.
const onlyQueued = (filter: CountFilter) => sql`
  SELECT organization_id, ${MONTH_OF_RECEIPT} AS month, count(*) AS events FROM queued q
  WHERE ${within(filter, MONTH_OF_RECEIPT)}
    AND NOT EXISTS (SELECT FROM events e
      WHERE (e.organization_id, e.id) = (q.organization_id, q.id))
    AND NOT EXISTS (SELECT FROM duplicate_events d WHERE (d.organization_id, d.id) = (q.organization_id, q.id))
    AND NOT EXISTS (SELECT FROM rejected_events r WHERE (r.organization_id, r.id) = (q.organization_id, q.id))
  GROUP BY 1, 2`;

function within(filter: CountFilter, month: ReturnType<typeof sql>) {
  const ofMonth = filter.month === undefined ? sql`true` : sql`${month} = ${`${filter.month}-01`}::date`;
  return sql`${ofOrganization(filter)} AND ${ofMonth}`;
}

function ofOrganization({ organizationId }: CountFilter) {
  return organizationId === undefined ? sql`true` : sql`organization_id = ${organizationId}::uuid`;
}

async function readCounts(session: Queries, query: ReturnType<typeof sql>): Promise<MonthCount[]> {
  const { rows } = await sql<{ organization_id: string; month: string; events: string }>`
    SELECT organization_id, to_char(month, 'YYYY-MM') AS month, events::text FROM (${query}) AS counts`.execute(
    session,
  );
  return rows.map(({ organization_id, month, events }) => ({
    organizationId: organization_id,
    month,
    events: Number(events),
  }));
}
