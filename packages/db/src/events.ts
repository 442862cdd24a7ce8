import type { StagedEvent, UsageEvent } from '@weir/shared/event';
import type { AggregationType, MeterStatus } from '@weir/shared/meter';
import { sql, type Selectable, type SqlBool } from 'kysely';
import { textArray } from './array-text.ts';
import type { Database } from './database.ts';
import { EVENT_JSON } from './event-json.ts';
import { ROLLUPS } from './rollups.ts';
import type { Tables } from './schema.ts';

/** What the track path knows of a meter. */
export interface MeterOfToken {
  id: string;
  organizationId: string;
  status: MeterStatus;
  /** It never changes while the meter exists. */
  aggregation: AggregationType;
}

/** What the track path knows of meters, by token. A token that no organization has is left out. */
export async function findMetersByToken(
  database: Database,
  tokens: readonly string[],
): Promise<Map<string, MeterOfToken>> {
  const { rows } = await database.pool.query<MeterOfToken & { token: string }>({
    name: 'meters-by-token',
    text: `SELECT meter_token AS token, id, organization_id AS "organizationId", status, aggregation_type AS aggregation
      FROM meters
      WHERE meter_token = ANY ($1::text[])`,
    values: [textArray(tokens)],
  });
  return new Map(rows.map(({ token, ...meter }) => [token, meter]));
}

export type EventStatus = 'recorded' | 'rejected' | 'duplicate';

/** An event that has left the queue, whatever became of it. One that was rejected is kept as it was staged. */
export type StoredEvent = { reason?: string; duplicate_of?: string } & (
  | { status: 'rejected'; event: StagedEvent }
  | { status: 'recorded' | 'duplicate'; event: UsageEvent }
);

/** Which events to list, newest first. `before` is the id that the page before ended with. */
export interface EventFilter {
  status?: EventStatus | undefined;
  meterId?: string | undefined;
  customerExternalId?: string | undefined;
  before?: string | undefined;
  limit: number;
}

interface StoredRow {
  status: EventStatus;
  id: string;
  event: string;
  reason: string | null;
  duplicate_of: string | null;
}

// An event that was replayed with two keys at the same moment may be recorded under one and a duplicate under the other. One
// that was recorded (or found to be a duplicate) after a replay may for a moment still stand among the rejected ones. What
// counted comes first.
const COUNTED = sql<SqlBool>`
  EXISTS (SELECT FROM events e WHERE e.organization_id = duplicate_events.organization_id AND e.id = duplicate_events.id)`;
const SETTLED = sql<SqlBool>`(
  EXISTS (SELECT FROM events e WHERE e.organization_id = rejected_events.organization_id AND e.id = rejected_events.id)
  OR EXISTS (SELECT FROM duplicate_events d
    WHERE d.organization_id = rejected_events.organization_id AND d.id = rejected_events.id))`;

/** One event of an organization that has left the queue. */
export async function findStoredEvent(
  database: Database,
  organizationId: string,
  id: string,
): Promise<StoredEvent | undefined> {
  const rows = await Promise.all([
    recordedRows(database, organizationId).where('id', '=', id).execute(),
    duplicateRows(database, organizationId).where('id', '=', id).execute(),
    rejectedRows(database, organizationId).where('id', '=', id).execute(),
  ]);
  const row = rows.flat()[0];
  return row === undefined ? undefined : storedEvent(row);
}

/** The events of an organization that have left the queue, newest first by id, at most `filter.limit`. */
export async function listStoredEvents(
  database: Database,
  organizationId: string,
  filter: EventFilter,
): Promise<StoredEvent[]> {
  const { status, meterId, customerExternalId, before, limit } = filter;
  const pages: Promise<StoredRow[]>[] = [];
  if (status === undefined || status === 'recorded') {
    let query = recordedRows(database, organizationId, (await isRare(database, organizationId, filter)) ? filter : {});
    if (meterId !== undefined) query = query.where('meter_id', '=', meterId);
    if (customerExternalId !== undefined) query = query.where('customer_external_id', '=', customerExternalId);
    if (before !== undefined) query = query.where('id', '<', before);
    pages.push(query.orderBy('id', 'desc').limit(limit).execute());
  }
  if (status === undefined || status === 'duplicate') {
    let query = duplicateRows(database, organizationId);
    if (meterId !== undefined) query = query.where(sql<string>`event::json ->> 'meter_id'`, '=', meterId);
    if (customerExternalId !== undefined)
      query = query.where(sql<string>`event::json ->> 'customer_external_id'`, '=', customerExternalId);
    if (before !== undefined) query = query.where('id', '<', before);
    pages.push(query.orderBy('id', 'desc').limit(limit).execute());
  }
  if (status === undefined || status === 'rejected') {
    let query = rejectedRows(database, organizationId);
    if (meterId !== undefined) query = query.where('meter_id', '=', meterId);
    if (customerExternalId !== undefined) query = query.where('customer_external_id', '=', customerExternalId);
    if (before !== undefined) query = query.where('id', '<', before);
    pages.push(query.orderBy('id', 'desc').limit(limit).execute());
  }
  const rows = (await Promise.all(pages)).flat();
  return rows
    .sort((a, b) => (a.id < b.id ? 1 : -1))
    .slice(0, limit)
    .map(storedEvent);
}

/**
 * So many events of a meter or a customer can be looked up and sorted for one page. Of more, the page is found soon enough
 * on a walk through all events of the organization, newest first; on it a few would be found at its end only.
 */
const RARE_MAX = 5_000;

type Whose = Pick<EventFilter, 'meterId' | 'customerExternalId'>;

/** Whether there are only a few events of a meter, of a customer or of both: their days say how many, and each has one or more. */
async function isRare({ kysely }: Database, organizationId: string, whose: Whose): Promise<boolean> {
  if (whose.meterId === undefined && whose.customerExternalId === undefined) return false;
  const { rows } = await sql<{ is_rare: boolean }>`
    SELECT coalesce(sum(event_count), 0) <= ${RARE_MAX} AS is_rare
    FROM (SELECT event_count FROM ${daysOf(organizationId, whose)} LIMIT ${RARE_MAX + 1}) AS days`.execute(kysely);
  return rows[0]?.is_rare ?? false;
}

/** The days of usage of a meter, of a customer or of both, found by their index whichever it is. */
function daysOf(organizationId: string, { meterId, customerExternalId }: Whose) {
  const ofMeter = meterId === undefined ? sql`true` : sql`meters.id = ${meterId}::uuid`;
  const ofCustomer =
    customerExternalId === undefined ? sql`true` : sql`customer_external_id = ${customerExternalId}::text`;
  return sql`meters CROSS JOIN LATERAL (
      SELECT * FROM ${sql.table(ROLLUPS.customerUsageDays.table)} WHERE organization_id = ${organizationId}::uuid AND meter_id = meters.id AND ${ofCustomer} OFFSET 0
    ) AS days WHERE meters.organization_id = ${organizationId}::uuid AND ${ofMeter}`;
}

/** The recorded events; of a meter, of a customer or of both by looking them up one day after the other. */
function recordedRows({ kysely }: Database, organizationId: string, whose: Whose = {}) {
  const lookedUp = sql`(SELECT found.* FROM (SELECT days.* FROM ${daysOf(organizationId, whose)}) AS day_of CROSS JOIN LATERAL (
      SELECT * FROM events WHERE event_stream(meter_id, customer_external_id) = event_stream(day_of.meter_id, day_of.customer_external_id)
        AND organization_id = ${organizationId}::uuid
        AND meter_id = day_of.meter_id AND customer_external_id = day_of.customer_external_id
        AND "timestamp" >= day_of.day AND "timestamp" < day_of.day + interval '24 hours' OFFSET 0
    ) AS found)`;
  const isLookedUp = whose.meterId !== undefined || whose.customerExternalId !== undefined;
  return kysely
    .selectFrom(
      (isLookedUp ? lookedUp : sql`(SELECT * FROM events)`).$castTo<Selectable<Tables['events']>>().as('events'),
    )
    .where('organization_id', '=', organizationId)
    .select([
      sql<EventStatus>`'recorded'`.as('status'),
      'id',
      sql<string>`${sql.raw(EVENT_JSON)}`.as('event'),
      sql<string | null>`NULL`.as('reason'),
      sql<string | null>`NULL`.as('duplicate_of'),
    ]);
}

function duplicateRows({ kysely }: Database, organizationId: string) {
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
    ]);
}

function rejectedRows({ kysely }: Database, organizationId: string) {
  return kysely
    .selectFrom('rejected_events')
    .where('organization_id', '=', organizationId)
    .where(sql<SqlBool>`NOT ${SETTLED}`)
    .select([
      sql<EventStatus>`'rejected'`.as('status'),
      'id',
      'event',
      'reason',
      sql<string | null>`NULL`.as('duplicate_of'),
    ]);
}

function storedEvent(row: StoredRow): StoredEvent {
  return {
    status: row.status,
    event: JSON.parse(row.event) as unknown,
    ...(row.reason !== null && { reason: row.reason }),
    ...(row.duplicate_of !== null && { duplicate_of: row.duplicate_of }),
  } as StoredEvent;
}
