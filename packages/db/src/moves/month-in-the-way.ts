// Usage goes to another id with its events, and not while some of them are in a month that was taken out. Moved to another customer, they
// tell what is late of a time that is closed: without them it would be billed to nobody. Erased, they would name the customer again once
// the month is attached, and nothing would say any more whose they are.

import { CompiledQuery } from 'kysely';
import type { Queries } from '../database.ts';
import { completeFrom, lostUntil, monthToAttach, MonthTakenOut } from '../months-taken-out.ts';
import { ROLLUPS } from '../rollups.ts';
import { own } from '../usage/usage-rows.ts';
import type { MoveKind } from './usage-moves.ts';

const { customerUsageHours: HOURS } = ROLLUPS;

const ORGANIZATION = '$1::uuid';
const OF_CUSTOMER = own({ organization: ORGANIZATION, meter: 'meters.id', customer: '$2::text' });

const OWN = `= ${ORGANIZATION}`;

/** For the kind `$3`. What is lost for good is erased as it is. */
const FIND_GONE = `WITH used AS MATERIALIZED (
  SELECT meters.id, first.hour FROM meters CROSS JOIN LATERAL (
    SELECT hour FROM ${HOURS.table} WHERE ${OF_CUSTOMER} ORDER BY hour LIMIT 1) AS first
  WHERE meters.organization_id = ${ORGANIZATION}
), complete AS MATERIALIZED (
  SELECT greatest(${completeFrom('(SELECT min(hour) FROM used)', OWN)},
    CASE WHEN $3::text = 'MOVE' THEN ${lostUntil('(SELECT min(hour) FROM used)', OWN)} END) AS since
)
SELECT ${monthToAttach('kept.hour', OWN, 'ARRAY[last_event_id]')} AS month FROM used AS meters CROSS JOIN complete CROSS JOIN LATERAL (
  SELECT hour, last_event_id FROM ${HOURS.table} WHERE ${OF_CUSTOMER} AND ${HOURS.table}.hour < complete.since OFFSET 0
) AS kept
WHERE NOT EXISTS (
  SELECT FROM events WHERE events.organization_id = ${ORGANIZATION} AND events.id = last_event_id OFFSET 0) LIMIT 1`;

/**
 * Throws {@link MonthTakenOut} where usage of a customer is in one; true: it is in one that is lost, and is not moved. Of each hour it asks
 * for the last event alone, since to count all of a large customer takes long: an hour of which only others are gone is found when it is
 * moved.
 */
export async function expectLastEvents(
  db: Queries,
  kind: MoveKind,
  organizationId: string,
  externalId: string,
): Promise<boolean> {
  const values = [organizationId, externalId, kind];
  const { rows } = await db.executeQuery<{ month: string | null }>(CompiledQuery.raw(FIND_GONE, values));
  const [gone] = rows;
  if (gone?.month != null) throw notMoved(kind, gone.month);
  return gone !== undefined;
}

/** Finds the `month` to attach for an hour of an organization whose last event is `$3`; null where no month is missing. */
export const FIND_MONTH = `SELECT ${monthToAttach('$2::timestamptz', OWN, 'ARRAY[$3::uuid]')} AS month`;

/** The error of usage whose events are in a month that was taken out. */
export function notMoved(kind: MoveKind, month: string): MonthTakenOut {
  return new MonthTakenOut(kind === 'ERASE' ? 'Nothing is erased' : 'Usage is not moved', month);
}
