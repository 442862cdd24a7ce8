// Whether all events are there of which a correction has to tell what is left. A month that was taken out has its events counted in the
// rollups, and no smallest, largest or last quantity, and no distinct value, can be read of an hour without them. Every row has the first
// three, whatever its meter counts.

import type { UsageEvent } from '@weir/shared/event';
import { CompiledQuery } from 'kysely';
import { plainArray, textArray } from '../array-text.ts';
import type { Queries } from '../database.ts';
import { completeFrom, monthToAttach } from '../months-taken-out.ts';
import { BEGINNING, ofLast, ROLLUPS, type Rollup } from '../rollups.ts';
import { leftIn, ORGANIZATION, sameKey } from './take-usage.ts';

const { customerUsageHours: HOURS, meterUsageQuarters: QUARTERS } = ROLLUPS;

const OWN = `= ${ORGANIZATION}`;

/** Those of the events whose row has counted more of them than are there. Values and groups are of the same events as these rows. */
function ofRowsWithMore(rollup: Rollup, key: string): string {
  return `SELECT unnest(ids) AS id, last_event_id FROM (SELECT ${key}, array_agg(id) AS ids FROM asked GROUP BY ${key}) AS each
    CROSS JOIN LATERAL (SELECT sum(event_count) AS event_count, ${ofLast('last_event_id', 'last_timestamp', 'last_event_id')} AS last_event_id
      FROM ${rollup.table} AS kept WHERE ${sameKey(rollup, 'kept', 'each')}) AS counted
    WHERE event_count <> (SELECT count(*) FROM (${leftIn(rollup, 'each', 'events.id', 'true')}) AS still)`;
}

/**
 * A row and its events change in one transaction, and here both are read by one statement, which sees one moment: what others record,
 * move or void meanwhile is in both numbers or in neither. What was never recorded, as a duplicate or an event that waits in Redis, is in
 * neither. So they differ only where events are gone from the table.
 *
 * To count all events of a busy meter's quarter of an hour takes long, so it is done only where a month may be missing.
 */
const FIND = `WITH complete AS MATERIALIZED (
  SELECT ${completeFrom('(SELECT min(at) FROM unnest($5::timestamptz[]) AS t (at))', OWN)} AS since
), asked AS MATERIALIZED (
  SELECT id, ${ORGANIZATION} AS organization_id, meter_id, customer_external_id,
    ${BEGINNING.hour('at')} AS hour, ${BEGINNING.quarter('at')} AS quarter
  FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::timestamptz[]) AS t (id, meter_id, customer_external_id, at), complete
  WHERE ${BEGINNING.hour('at')} < complete.since
), found AS MATERIALIZED (
  ${ofRowsWithMore(HOURS, 'organization_id, meter_id, customer_external_id, hour')}
  UNION
  ${ofRowsWithMore(QUARTERS, 'organization_id, meter_id, quarter')}
)
SELECT id::text, ${monthToAttach('hour', OWN, 'last_ids')} AS month
FROM (SELECT id, array_agg(last_event_id) AS last_ids FROM found GROUP BY id) AS short JOIN asked USING (id)`;

/**
 * Returns those of the events that cannot be taken out of the count, each with a month to attach (`2026-01`), since others of their hour are in a month that was taken out of the
 * database. Needs a transaction that has read of `events`: no month is taken out while it lasts.
 */
export async function findTakenOut(
  db: Queries,
  organizationId: string,
  events: readonly UsageEvent[],
): Promise<Map<string, string>> {
  const { rows } = await db.executeQuery<{ id: string; month: string }>(
    CompiledQuery.raw(FIND, [
      organizationId,
      plainArray(events.map(({ id }) => id)),
      plainArray(events.map(({ meter_id }) => meter_id)),
      textArray(events.map(({ customer_external_id }) => customer_external_id)),
      plainArray(events.map(({ timestamp }) => timestamp)),
    ]),
  );
  return new Map(rows.map(({ id, month }) => [id, month]));
}
