import type { StagedEvent, UsageEvent } from '@weir/shared/event';
import type { AggregationType, MeterStatus } from '@weir/shared/meter';
import { sql, type RawBuilder, type SelectQueryBuilder, type SqlBool } from 'kysely';
import { plainArray, textArray } from './array-text.ts';
import { AMENDS, CORRECTION_JSON, type EventCorrection } from './corrections/corrections.ts';
import type { Database } from './database.ts';
import { EVENT_JSON } from './event-json.ts';
import type { Tables } from './schema.ts';
import { IS_VOID } from './usage/usage-rows.ts';

/** A meter, as the track path knows it. */
export interface TrackedMeter {
  id: string;
  organizationId: string;
  status: MeterStatus;
  /** It never changes while the meter exists. */
  aggregation: AggregationType;
}

/** Finds meters by token. A token that no organization has is left out. */
export async function findMetersByToken(
  database: Database,
  tokens: readonly string[],
): Promise<Map<string, TrackedMeter>> {
  const { rows } = await database.pool.query<TrackedMeter & { token: string }>({
    name: 'meters-by-token',
    text: `SELECT meter_token AS token, id, organization_id AS "organizationId", status, aggregation_type AS aggregation
      FROM meters
      WHERE meter_token = ANY ($1::text[])`,
    values: [textArray(tokens)],
  });
  return new Map(rows.map(({ token, ...meter }) => [token, meter]));
}

/** A feature as its organization names it. */
export interface FeatureName {
  organizationId: string;
  lookupKey: string;
}

/** The same, by the features that they stand behind, in their order. Undefined where there is no such feature, or no meter behind it. */
export async function findMetersByFeature(
  database: Database,
  features: readonly FeatureName[],
): Promise<(TrackedMeter | undefined)[]> {
  // LIMIT leaves one plan: a look-up for each by the keys of both tables, whatever Postgres believes of how large they are.
  const { rows } = await database.pool.query<TrackedMeter & { index: number }>({
    name: 'meters-by-feature',
    text: `SELECT asked.index::int - 1 AS index, found.id, found.organization_id AS "organizationId", found.status,
        found.aggregation_type AS aggregation
      FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS asked (organization_id, lookup_key, index),
      LATERAL (
        SELECT meters.* FROM features JOIN meters
          ON meters.organization_id = features.organization_id AND meters.feature_id = features.id
        WHERE features.organization_id = asked.organization_id AND features.lookup_key = asked.lookup_key
        LIMIT 1
      ) AS found`,
    values: [
      plainArray(features.map(({ organizationId }) => organizationId)),
      textArray(features.map(({ lookupKey }) => lookupKey)),
    ],
  });
  const found: (TrackedMeter | undefined)[] = features.map(() => undefined);
  for (const { index, ...meter } of rows) found[index] = meter;
  return found;
}

/** A voided event was recorded, and a correction has taken it out of the count. */
export type EventStatus = 'recorded' | 'voided' | 'rejected' | 'duplicate';

/** An event that has left the queue, whatever became of it. One that was rejected is kept as it was staged. */
export type StoredEvent = {
  reason?: string;
  duplicate_of?: string;
  correction?: EventCorrection;
  /** The event in whose place this one counts. */
  amends?: string;
} & ({ status: 'rejected'; event: StagedEvent } | { status: 'recorded' | 'voided' | 'duplicate'; event: UsageEvent });

/** The same, as it is read. */
export interface StoredRow {
  status: EventStatus;
  id: string;
  event: string;
  reason: string | null;
  duplicate_of: string | null;
  correction: EventCorrection | null;
  amends: string | null;
}

const NO_CORRECTION = [
  sql<EventCorrection | null>`NULL`.as('correction'),
  sql<string | null>`NULL`.as('amends'),
] as const;

// An event that was replayed with two keys at the same moment may be recorded under one and a duplicate under the other. One
// that was recorded (or found to be a duplicate) after a replay may for a moment still stand among the rejected ones. What
// counted comes first.
// Each is asked for by itself: told that any is enough, Postgres may read the events of all organizations at once instead.
const isIn = (place: 'events' | 'duplicate_events', row: string) => sql`(SELECT true FROM ${sql.table(place)} AS other
  WHERE other.organization_id = ${sql.ref(`${row}.organization_id`)} AND other.id = ${sql.ref(`${row}.id`)} LIMIT 1)`;
const COUNTED = sql<SqlBool>`(${isIn('events', 'duplicate_events')} IS TRUE)`;
const SETTLED = sql<SqlBool>`(coalesce(${isIn('events', 'rejected_events')}, ${isIn('duplicate_events', 'rejected_events')}) IS TRUE)`;

/**
 * One event of an organization that has left the queue. Looked for in one place after the other, by one connection. One that is recorded
 * just then, after a replay, may be in none of them: whoever finds none looks again.
 */
export async function findStoredEvent(
  database: Database,
  organizationId: string,
  id: string,
): Promise<StoredEvent | undefined> {
  const row =
    (await recordedRows(database, organizationId, ALL_EVENTS).where('id', '=', id).executeTakeFirst()) ??
    (await duplicateRows(database, organizationId).where('id', '=', id).executeTakeFirst()) ??
    (await rejectedRows(database, organizationId).where('id', '=', id).executeTakeFirst());
  return row === undefined ? undefined : storedEvent(row);
}

/** All that is recorded, as {@link recordedRows} takes it. */
export const ALL_EVENTS = sql`(SELECT * FROM events)`;

/** The recorded events of an organization: those of a query that has the columns of `events`. */
export function recordedRows(
  { kysely }: Database,
  organizationId: string,
  source: RawBuilder<unknown>,
): SelectQueryBuilder<Tables, 'events', StoredRow> {
  return kysely
    .selectFrom(source.$castTo<Tables['events']>().as('events'))
    .where('organization_id', '=', organizationId)
    .select([
      sql<EventStatus>`CASE WHEN ${sql.raw(IS_VOID)} THEN 'voided' ELSE 'recorded' END`.as('status'),
      'id',
      sql<string>`${sql.raw(EVENT_JSON)}`.as('event'),
      sql<string | null>`NULL`.as('reason'),
      sql<string | null>`NULL`.as('duplicate_of'),
      sql<EventCorrection | null>`${sql.raw(CORRECTION_JSON)}`.as('correction'),
      sql<string | null>`${sql.raw(AMENDS)}`.as('amends'),
    ]);
}

/** The duplicates of an organization. */
export function duplicateRows(
  { kysely }: Database,
  organizationId: string,
): SelectQueryBuilder<Tables, 'duplicate_events', StoredRow> {
  return kysely
    .selectFrom('duplicate_events')
    .where('organization_id', '=', organizationId)
    .where(sql<SqlBool>`NOT ${COUNTED}`)
    .select([
      sql<EventStatus>`'duplicate'`.as('status'),
      'id',
      'event',
      sql<string | null>`NULL`.as('reason'),
      'duplicate_of',
      ...NO_CORRECTION,
    ]);
}

/** The rejected events of an organization that were not replayed. `among` says which they are, by an index of its own. */
export function rejectedRows(
  { kysely }: Database,
  organizationId: string,
  among?: RawBuilder<SqlBool>,
): SelectQueryBuilder<Tables, 'rejected_events', StoredRow> {
  const isOf = sql<SqlBool>`organization_id = ${organizationId}::uuid`;
  return kysely
    .selectFrom('rejected_events')
    .where(among === undefined ? isOf : sql<SqlBool>`${among} AND (${isOf}) IS TRUE`)
    .where(sql<SqlBool>`NOT ${SETTLED}`)
    .select([
      sql<EventStatus>`'rejected'`.as('status'),
      'id',
      'event',
      'reason',
      sql<string | null>`NULL`.as('duplicate_of'),
      ...NO_CORRECTION,
    ]);
}

/** Puts a row into the form in which it is passed on. */
export function storedEvent(row: StoredRow): StoredEvent {
  return {
    status: row.status,
    event: JSON.parse(row.event) as unknown,
    ...(row.reason !== null && { reason: row.reason }),
    ...(row.duplicate_of !== null && { duplicate_of: row.duplicate_of }),
    ...(row.correction !== null && { correction: row.correction }),
    ...(row.amends !== null && { amends: row.amends }),
  } as StoredEvent;
}

/** How many rejected events of an organization were not replayed yet. One that is being replayed counts until it is recorded. */
export async function countRejected({ pool }: Database, organizationId: string): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM rejected_events WHERE organization_id = $1',
    [organizationId],
  );
  return rows[0]?.count ?? 0;
}
