// The events that have left the queue, newest first by receipt, by whatever they are looked for. No index of the events is kept
// for it, since each of them would cost every event that is recorded: what is asked for is found through the rollups, through
// the idempotency keys, or on a walk through the events of the organization, whichever is shorter.

import { firstIdAt } from '@weir/shared/ids';
import { sql, type RawBuilder, type SqlBool } from 'kysely';
import type { Database } from './database.ts';
import {
  ALL_EVENTS,
  duplicateRows,
  recordedRows,
  rejectedRows,
  storedEvent,
  type EventStatus,
  type StoredEvent,
  type StoredRow,
} from './events.ts';
import { ROLLUPS } from './rollups.ts';
import { readAhead } from './times-ahead.ts';
import { IS_VOID, ofAll, own } from './usage/usage-rows.ts';

/** Which events to list. */
export interface EventFilter {
  status?: EventStatus | undefined;
  meterId?: string | undefined;
  customerExternalId?: string | undefined;
  idempotencyKey?: string | undefined;
  /** Why they were rejected: no other events have a reason. Ids in it do not count. */
  reason?: string | undefined;
  /** Times of the events, half-open, as ISO 8601 UTC. */
  since?: string | undefined;
  until?: string | undefined;
  /** The id that the page before ended with. */
  before?: string | undefined;
  limit: number;
}

/**
 * Where events are kept, in the order they are looked for: one that a replay takes away from the first place is found in the last. Those
 * that are recorded may be void.
 */
const PLACES = ['rejected', 'duplicate', 'recorded'] as const;

/** The events of an organization that match all that is given, newest first by id, at most `filter.limit`. */
export async function listStoredEvents(
  database: Database,
  organizationId: string,
  filter: EventFilter,
): Promise<StoredEvent[]> {
  const wanted = filter.status === 'voided' ? 'recorded' : filter.status;
  const asked = PLACES.filter(
    (place) => place === (wanted ?? place) && (filter.reason === undefined || place === 'rejected'),
  );
  // One after the other: several connections at once would make others wait. What is found twice is what it became.
  const { since } = filter;
  const receivedSince = since === undefined ? undefined : Date.parse(since) - (await readAhead(database)) * 1_000;
  const bounded = { ...filter, receivedSince };
  const rows = new Map<string, StoredRow>();
  for (const place of asked) {
    const page =
      place === 'recorded'
        ? await recordedPage(database, organizationId, bounded)
        : await keptPage(database, organizationId, bounded, place);
    for (const row of page) rows.set(row.id, row);
  }
  return [...rows.values()]
    .sort((a, b) => (a.id < b.id ? 1 : -1))
    .slice(0, filter.limit)
    .map(storedEvent);
}

async function recordedPage(database: Database, organizationId: string, filter: BoundedFilter): Promise<StoredRow[]> {
  const { customerExternalId, idempotencyKey, status, before, limit } = filter;
  if (customerExternalId !== undefined && idempotencyKey === undefined) {
    // Whoever has some part of all events is met soon, however many there are. Compared as a row, the organization is no part of them of
    // which Postgres believes that it is small, and sorts it; by a subquery each, it does not look how many come before either, which for
    // the first of all organizations are none. Behind its last event come those of others, which are left out.
    const walked = (table: 'events' | 'corrections', id: 'id' | 'event_id') =>
      sql`(SELECT * FROM ${sql.table(table)} WHERE (organization_id, ${sql.ref(id)}) < ((SELECT ${organizationId}::uuid), (SELECT ${before ?? LAST}::uuid))
        ORDER BY organization_id DESC, ${sql.ref(id)} DESC LIMIT ${RARE_MAX})`;
    const isOfVoid = status === 'voided';
    const corrections = walked('corrections', 'event_id');
    const newest = isOfVoid ? sql`(${voidedOf(organizationId, corrections)})` : walked('events', 'id');
    const rows = await readPage(database, organizationId, filter, newest);
    if (rows.length === limit || (isOfVoid && (await areFew(database, organizationId, corrections)))) return rows;
  }
  return await readPage(database, organizationId, filter, await sourceOf(database, organizationId, filter));
}

/** Whether a walk has come to the end of an organization. */
async function areFew({ kysely }: Database, organizationId: string, walked: RawBuilder<unknown>): Promise<boolean> {
  const { rows } = await sql<{ are_few: boolean }>`
    SELECT count(*) < ${RARE_MAX} AS are_few FROM ${walked} AS walked WHERE organization_id = ${organizationId}::uuid`.execute(
    kysely,
  );
  return rows[0]?.are_few ?? false;
}

/** Behind all events. */
const LAST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

interface BoundedFilter extends EventFilter {
  /** No event was received earlier whose time is that of the filter: here a walk that finds nothing more comes to its end. */
  receivedSince: number | undefined;
}

async function readPage(
  database: Database,
  organizationId: string,
  filter: BoundedFilter,
  source: RawBuilder<unknown>,
): Promise<StoredRow[]> {
  const { meterId, customerExternalId, idempotencyKey, since, until, receivedSince, before, limit } = filter;
  let query = recordedRows(database, organizationId, source);
  if (filter.status !== undefined)
    query = query.where(sql<SqlBool>`${sql.raw(IS_VOID)} = ${filter.status === 'voided'}`);
  if (meterId !== undefined) query = query.where('meter_id', '=', meterId);
  if (customerExternalId !== undefined) query = query.where('customer_external_id', '=', customerExternalId);
  if (idempotencyKey !== undefined) query = query.where('idempotency_key', '=', idempotencyKey);
  if (since !== undefined) query = query.where('timestamp', '>=', since);
  if (receivedSince !== undefined) query = query.where('id', '>=', firstIdAt(Math.max(0, receivedSince)));
  if (until !== undefined) query = query.where('timestamp', '<', until);
  if (before !== undefined) query = query.where('id', '<', before);
  return await query.orderBy('id', 'desc').limit(limit).execute();
}

/** Duplicates and rejected events, kept as they were staged. An import that is run again leaves as many duplicates as it has events. */
async function keptPage(
  database: Database,
  organizationId: string,
  filter: BoundedFilter,
  status: 'duplicate' | 'rejected',
): Promise<StoredRow[]> {
  const { meterId, customerExternalId, idempotencyKey, reason, since, until, receivedSince, before, limit } = filter;
  let query = rejectedRows(database, organizationId, amongRejected(organizationId, filter));
  if (status === 'rejected') {
    if (meterId !== undefined) query = query.where(sql<SqlBool>`(meter_id = ${meterId}::uuid) IS TRUE`);
    if (customerExternalId !== undefined) query = query.where('customer_external_id', '=', customerExternalId);
    if (reason !== undefined) query = query.where(sql<SqlBool>`reason_kind(reason) = reason_kind(${reason}::text)`);
  } else {
    query = duplicateRows(database, organizationId) as typeof query;
    const ofMeter = sql<SqlBool>`event::json ->> 'meter_id' = ${meterId}::text`;
    // A meter has many more than a customer or a key, by whose indexes they are found then.
    const isFewer = customerExternalId !== undefined || idempotencyKey !== undefined;
    if (meterId !== undefined) query = query.where(isFewer ? sql<SqlBool>`(${ofMeter}) IS TRUE` : ofMeter);
    if (customerExternalId !== undefined)
      query = query.where(sql<string>`event::json ->> 'customer_external_id'`, '=', customerExternalId);
    if (idempotencyKey !== undefined)
      query = query.where(sql<SqlBool>`duplicate_of = (${holderOf(organizationId, idempotencyKey)})`);
  }
  if (idempotencyKey !== undefined) {
    // As text: Postgres may not take the event that was rejected. Quotes inside of its texts are escaped, so that nothing else
    // in it looks like this.
    const member = `"idempotency_key":${JSON.stringify(idempotencyKey)}`;
    query = query.where(sql<SqlBool>`strpos(event, ${member}::text) > 0`);
  }
  if (since !== undefined) query = query.where(sql<SqlBool>`event_timestamp(event) >= ${since}::timestamptz`);
  if (receivedSince !== undefined) query = query.where('id', '>=', firstIdAt(Math.max(0, receivedSince)));
  if (until !== undefined) query = query.where(sql<SqlBool>`event_timestamp(event) < ${until}::timestamptz`);
  if (before !== undefined) query = query.where('id', '<', before);
  return await query.orderBy('id', 'desc').limit(limit).execute();
}

/** By which index the rejected events of a filter are found, fewest first: after a mistake of a service there are millions of one reason. */
function amongRejected(
  organizationId: string,
  { meterId, customerExternalId, idempotencyKey, reason }: EventFilter,
): RawBuilder<SqlBool> | undefined {
  const organization = sql`${organizationId}::uuid`;
  if (idempotencyKey !== undefined)
    return sql`hashtextextended(rejected_key(event), uuid_hash_extended(organization_id, 0))
      = hashtextextended(${JSON.stringify(idempotencyKey)}::text, uuid_hash_extended(${organization}, 0))`;
  if (customerExternalId !== undefined)
    return sql`hashtextextended(customer_external_id, uuid_hash_extended(organization_id, 0))
      = hashtextextended(${customerExternalId}::text, uuid_hash_extended(${organization}, 0))`;
  if (reason !== undefined)
    return meterId === undefined
      ? sql`hashtextextended(reason_kind(reason), uuid_hash_extended(organization_id, 0))
          = hashtextextended(reason_kind(${reason}::text), uuid_hash_extended(${organization}, 0))`
      : sql`hashtextextended(reason_kind(reason), uuid_hash_extended(meter_id, 0))
          = hashtextextended(reason_kind(${reason}::text), uuid_hash_extended(${meterId}::uuid, 0))`;
  return meterId === undefined ? undefined : sql`meter_id = ${meterId}::uuid`;
}

/** The event that holds an idempotency key. */
const holderOf = (organizationId: string, idempotencyKey: string) =>
  sql`SELECT event_id FROM idempotency_keys WHERE key_hash = idempotency_key_hash(${organizationId}::uuid, ${idempotencyKey}::text)`;

/** From where the recorded events of a filter are taken. */
async function sourceOf(
  database: Database,
  organizationId: string,
  filter: BoundedFilter,
): Promise<RawBuilder<unknown>> {
  const { customerExternalId, idempotencyKey, status } = filter;
  if (idempotencyKey !== undefined) {
    return sql`(SELECT * FROM events WHERE organization_id = ${organizationId}::uuid AND id = (${holderOf(organizationId, idempotencyKey)}))`;
  }
  if (status === 'voided' && customerExternalId === undefined) {
    const isOfAll = [filter.meterId, filter.since, filter.until].every((each) => each === undefined);
    return sql`(${isOfAll ? voidedOf(organizationId) : voidOfFilter(organizationId, filter)})`;
  }
  if (!(await isLookedUp(database, organizationId, filter)))
    return status === 'voided' ? sql`(${voidedOf(organizationId)})` : ALL_EVENTS;
  return customerExternalId === undefined
    ? lookedUp(organizationId, filter)
    : sql`(${streamsOf(organizationId, filter)})`;
}

/**
 * So many events can be looked up and sorted for one page. Of more, the page is found soon enough on a walk through all events of
 * the organization, newest first; on it a few would be found at its end only.
 */
const RARE_MAX = 5_000;

/** The same of one customer whom a walk meets seldom: an organization has many others. */
const RARE_OF_CUSTOMER_MAX = 50_000;

/**
 * So many are looked up and sorted where a walk would first pass as many newer ones: some tenths of a second. It is what a window
 * that lies far back costs, a customer that has left, or a meter that is not used any more. Where these have still more, it is a walk.
 */
const SORTED_MAX = 200_000;

/** Whether the events are looked up by their days, which say how many they are: each has one or more. */
async function isLookedUp(database: Database, organizationId: string, filter: EventFilter): Promise<boolean> {
  const { meterId, customerExternalId, since, until } = filter;
  if ([meterId, customerExternalId, since, until].every((each) => each === undefined)) return false;
  const rareMax = customerExternalId === undefined ? RARE_MAX : RARE_OF_CUSTOMER_MAX;
  const max = Math.max(rareMax, await countPassed(database, organizationId, filter));
  const { rows } = await sql<{ is_rare: boolean }>`
    SELECT coalesce(sum(event_count), 0) <= ${max} AS is_rare
    FROM (SELECT event_count FROM ${daysOf(organizationId, filter)} LIMIT ${max + 1}) AS days`.execute(database.kysely);
  return rows[0]?.is_rare ?? false;
}

/** How many events a walk passes before it comes to the newest day of the filter, at most `SORTED_MAX`; late ones aside. */
async function countPassed({ kysely }: Database, organizationId: string, filter: EventFilter): Promise<number> {
  const { until, before } = filter;
  const from = before === undefined ? sql`true` : sql`first_event_id(quarter) <= ${before}::uuid`;
  const newest = sql`(SELECT max(day) FROM ${daysOf(organizationId, filter, 'newest')})`;
  const { rows } = await sql<{ passed: string }>`
    WITH window_end AS MATERIALIZED (SELECT least(${until ?? null}::timestamptz, ${newest} + interval '24 hours') AS at)
    SELECT coalesce(sum(event_count), 0) AS passed FROM (
      SELECT event_count FROM meters CROSS JOIN LATERAL (
        SELECT event_count FROM ${sql.table(ROLLUPS.meterUsageQuarters.table)}
        WHERE organization_id = ${organizationId}::uuid AND meter_id = meters.id
          AND quarter >= (SELECT at FROM window_end) AND ${from} OFFSET 0
      ) AS newer WHERE meters.organization_id = ${organizationId}::uuid LIMIT ${SORTED_MAX}) AS quarters`.execute(
    kysely,
  );
  return Math.min(SORTED_MAX, Number(rows[0]?.passed ?? 0));
}

/**
 * The days of usage that the events of a filter lie in, or the newest one of each meter. Those of a customer are found by the primary
 * key, and those of all customers by the index of days.
 */
function daysOf(
  organizationId: string,
  { meterId, customerExternalId, since, until }: EventFilter,
  which: 'all' | 'newest' = 'all',
) {
  const ofMeter = meterId === undefined ? sql`true` : sql`meters.id = ${meterId}::uuid`;
  const scope = { organization: 'meters.organization_id', meter: 'meters.id' };
  const inScope =
    customerExternalId === undefined
      ? sql.raw(ofAll(scope))
      : sql`${sql.raw(own(scope))} AND customer_external_id = ${customerExternalId}::text`;
  const from = since === undefined ? sql`true` : sql`day > ${since}::timestamptz - interval '24 hours'`;
  const to = until === undefined ? sql`true` : sql`day < ${until}::timestamptz`;
  return sql`meters CROSS JOIN LATERAL (
      SELECT * FROM ${sql.table(ROLLUPS.customerUsageDays.table)}
      WHERE ${inScope} AND ${from} AND ${to} ${which === 'newest' ? sql`ORDER BY day DESC LIMIT 1` : sql`OFFSET 0`}
    ) AS days WHERE meters.organization_id = ${organizationId}::uuid AND ${ofMeter}`;
}

/** All events of a customer, meter by meter, also those that are void. */
function streamsOf(organizationId: string, { meterId, customerExternalId, since, until }: EventFilter) {
  const ofMeter = meterId === undefined ? sql`true` : sql`meters.id = ${meterId}::uuid`;
  const from = since === undefined ? sql`true` : sql`"timestamp" >= ${since}::timestamptz`;
  const to = until === undefined ? sql`true` : sql`"timestamp" < ${until}::timestamptz`;
  return sql`SELECT found.* FROM meters CROSS JOIN LATERAL (
      SELECT * FROM events WHERE event_stream(meter_id, customer_external_id) = event_stream(meters.id, ${customerExternalId}::text)
        AND (organization_id = ${organizationId}::uuid) IS TRUE
        AND meter_id = meters.id AND customer_external_id = ${customerExternalId}::text AND ${from} AND ${to} OFFSET 0
    ) AS found WHERE meters.organization_id = ${organizationId}::uuid AND ${ofMeter}`;
}

/** All that are void, or those among some, of whatever days: one of which every event is void has no row. They are read in the order of ids. */
function voidedOf(organizationId: string, corrections: RawBuilder<unknown> = sql`corrections`) {
  return sql`SELECT corrections.event_id AS id, found.organization_id, found.meter_id, "timestamp", customer_external_id, quantity, idempotency_key, metadata
    FROM ${corrections} AS corrections CROSS JOIN LATERAL (
      ${voidEvent(organizationId)}
    ) AS found WHERE corrections.organization_id = ${organizationId}::uuid`;
}

/** The event that a row of `corrections` has made void. */
const voidEvent = (organizationId: string) =>
  sql`SELECT * FROM events WHERE organization_id = ${organizationId}::uuid AND id = corrections.event_id OFFSET 0`;

/** Those of a filter that are void, the newest of each meter: an organization may have voided very many others. */
function voidOfFilter(organizationId: string, { meterId, since, until, receivedSince, before, limit }: BoundedFilter) {
  const ofMeter = meterId === undefined ? sql`true` : sql`meters.id = ${meterId}::uuid`;
  const from = since === undefined ? sql`true` : sql`corrections.event_time >= ${since}::timestamptz`;
  const to = until === undefined ? sql`true` : sql`corrections.event_time < ${until}::timestamptz`;
  const first = firstIdAt(Math.max(0, receivedSince ?? 0));
  return sql`SELECT newest.* FROM meters CROSS JOIN LATERAL (
      SELECT found.* FROM corrections CROSS JOIN LATERAL (${voidEvent(organizationId)}) AS found
      WHERE corrections.event_meter_id = meters.id AND corrections.event_id >= ${first}::uuid AND corrections.event_id < ${before ?? LAST}::uuid
        AND ${from} AND ${to}
      ORDER BY corrections.event_id DESC LIMIT ${limit}
    ) AS newest WHERE meters.organization_id = ${organizationId}::uuid AND ${ofMeter}`;
}

/** The events of a filter, one day after the other, and those that are void. */
function lookedUp(organizationId: string, filter: BoundedFilter) {
  const since = filter.since === undefined ? sql`day_of.day` : sql`greatest(day_of.day, ${filter.since}::timestamptz)`;
  const nextDay = sql`day_of.day + interval '24 hours'`;
  const until = filter.until === undefined ? nextDay : sql`least(${nextDay}, ${filter.until}::timestamptz)`;
  return sql`(SELECT found.* FROM (SELECT days.* FROM ${daysOf(organizationId, filter)}) AS day_of CROSS JOIN LATERAL (
      SELECT * FROM events WHERE event_stream(meter_id, customer_external_id) = event_stream(day_of.meter_id, day_of.customer_external_id)
        AND (organization_id = ${organizationId}::uuid) IS TRUE
        AND meter_id = day_of.meter_id AND customer_external_id = day_of.customer_external_id
        AND "timestamp" >= ${since} AND "timestamp" < ${until} AND NOT ${sql.raw(IS_VOID)} OFFSET 0
    ) AS found ${filter.status === 'recorded' ? sql`` : sql`UNION ALL ${voidOfFilter(organizationId, filter)}`})`;
}

/** Events that were rejected for one reason on one meter and not replayed yet. */
export interface Rejection {
  /** Without what differs from event to event. */
  reason: string;
  meter_id: string;
  count: number;
  first_at: string;
  last_at: string;
}

/**
 * Those of an organization, most frequent first, at most `limit`. One that is being replayed counts until it is recorded. Of the newest
 * `countedMax` events alone; `has_more` says whether there are others.
 */
export async function listRejections(
  { kysely }: Database,
  organizationId: string,
  { limit, countedMax }: { limit: number; countedMax: number },
): Promise<{ rejections: Rejection[]; has_more: boolean }> {
  const { rows } = await sql<Rejection & { looked_at: number }>`
    WITH newest AS MATERIALIZED (
      SELECT meter_id, reason, rejected_at, row_number() OVER (ORDER BY id DESC) AS place
      FROM rejected_events WHERE organization_id = ${organizationId}::uuid ORDER BY id DESC LIMIT ${countedMax + 1}
    )
    SELECT reason_kind(reason) AS reason, meter_id, count(*)::int AS count, min(rejected_at) AS first_at, max(rejected_at) AS last_at,
      (SELECT count(*)::int FROM newest) AS looked_at
    FROM newest WHERE place <= ${countedMax} GROUP BY 1, 2 ORDER BY 3 DESC, 5 DESC, 1, 2 LIMIT ${limit}`.execute(
    kysely,
  );
  return {
    rejections: rows.map(({ reason, meter_id, count, first_at, last_at }) => {
      return { reason, meter_id, count, first_at, last_at };
    }),
    has_more: rows.some(({ looked_at }) => looked_at > countedMax),
  };
}
