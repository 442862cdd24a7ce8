// Usage goes to another id with its events, and not while some of them are in a month that was taken out. Moved to another customer, they
// tell what is late of a time that is closed: without them it would be billed to nobody. Erased, they would name the customer again once
// the month is attached, and nothing would say any more whose they are.

import { epochMsOfId } from '@weir/shared/ids';
import { CompiledQuery } from 'kysely';
import type { Queries } from '../database.ts';
import { completeFrom, monthToAttach, MonthTakenOut } from '../months-taken-out.ts';
import { ROLLUPS } from '../rollups.ts';
import { own } from '../usage/usage-rows.ts';
import type { MoveKind } from './usage-moves.ts';

const { customerUsageHours: HOURS } = ROLLUPS;

const ORGANIZATION = '$1::uuid';
const OF_CUSTOMER = own({ organization: ORGANIZATION, meter: 'meters.id', customer: '$2::text' });

const isThere = (id: string): string =>
  `EXISTS (SELECT FROM events WHERE events.organization_id = ${ORGANIZATION} AND events.id = ${id} OFFSET 0)`;

const FIND_GONE = `WITH used AS MATERIALIZED (
  SELECT meters.id, first.hour FROM meters CROSS JOIN LATERAL (
    SELECT hour FROM ${HOURS.table} WHERE ${OF_CUSTOMER} ORDER BY hour LIMIT 1) AS first
  WHERE meters.organization_id = ${ORGANIZATION}
), complete AS MATERIALIZED (
  SELECT ${completeFrom('(SELECT min(hour) FROM used)')} AS since
)
SELECT last_event_id::text AS id FROM used AS meters CROSS JOIN complete CROSS JOIN LATERAL (
  SELECT last_event_id FROM ${HOURS.table} WHERE ${OF_CUSTOMER} AND ${HOURS.table}.hour < complete.since OFFSET 0
) AS kept
WHERE NOT ${isThere('last_event_id')} LIMIT 1`;

/**
 * Throws {@link MonthTakenOut} where usage of a customer is in one. Of each hour it asks for the last event alone, since to count all of
 * a large customer takes long: an hour of which only others are gone is found when it is moved.
 */
export async function expectLastEvents(
  db: Queries,
  kind: MoveKind,
  organizationId: string,
  externalId: string,
): Promise<void> {
  const { rows } = await db.executeQuery<{ id: string }>(CompiledQuery.raw(FIND_GONE, [organizationId, externalId]));
  const [gone] = rows;
  if (gone !== undefined) throw notMoved(kind, monthOf(gone.id));
}

/** Statement and values that tell {@link monthInTheWay} of an hour, and of the last event that it has counted. */
export const FIND_MONTH = `SELECT ${isThere('$3::uuid')} AS has_last, ${monthToAttach('$2::timestamptz')} AS month`;

/** The error of an hour that has counted more events than there are. */
export function monthInTheWay(
  kind: MoveKind,
  { hour, last_event_id: id }: { hour: string; last_event_id: string },
  { has_last, month }: { has_last: boolean; month: string | null },
): Error {
  if (!has_last) return notMoved(kind, monthOf(id));
  return month === null ? new Error(`the hour ${hour} has counted more events than there are`) : notMoved(kind, month);
}

const notMoved = (kind: MoveKind, month: string): MonthTakenOut =>
  new MonthTakenOut(kind === 'ERASE' ? 'Nothing is erased' : 'Usage is not moved', month);

/** The month that an event came in. */
const monthOf = (eventId: string): string => new Date(epochMsOfId(eventId)).toISOString().slice(0, 'YYYY-MM'.length);
