// Whether all events are there of which a correction has to tell what is left. A month that was taken out has its events counted in the
// rollups, and no smallest, largest or last quantity, and no distinct value, can be read of an hour without them. Every row has the first
// three, whatever its meter counts.

import type { UsageEvent } from '@weir/shared/event';
import { CompiledQuery } from 'kysely';
import { plainArray, textArray } from '../array-text.ts';
import type { Queries } from '../database.ts';
import { BEGINNING, ROLLUPS, type Rollup } from '../rollups.ts';
import { leftIn, ORGANIZATION, sameKey } from './take-usage.ts';

const { customerUsageHours: HOURS, meterUsageQuarters: QUARTERS } = ROLLUPS;

/** Those of the events whose row has counted more of them than are there. Values and groups are of the same events as these rows. */
function ofRowsWithMore(rollup: Rollup, key: string): string {
  return `SELECT unnest(ids)::text AS id FROM (SELECT ${key}, array_agg(id) AS ids FROM asked GROUP BY ${key}) AS each
    WHERE (SELECT sum(event_count) FROM ${rollup.table} AS kept WHERE ${sameKey(rollup, 'kept', 'each')})
      <> (SELECT count(*) FROM (${leftIn(rollup, 'each', 'events.id', 'true')}) AS still)`;
}

/** How long before its own time an event may have come in: what was ever allowed. */
const AHEAD = `(SELECT ahead_seconds_max FROM installation) * interval '1 second'`;

/**
 * A row and its events change in one transaction, and here both are read by one statement, which sees one moment: what others record,
 * move or void meanwhile is in both numbers or in neither. What was never recorded, as a duplicate or an event that waits in Redis, is in
 * neither. So they differ only where events are gone from the table.
 *
 * To count all events of a busy meter's quarter of an hour takes long, so it is done only where a month may be missing. Events are in a
 * partition by when they came in: what lies behind the end of the last month without one is not counted. A month of before Weir was set
 * up has none either; its hours are counted, and found to be complete.
 */
const FIND = `WITH months AS (
  SELECT max(month) + interval '1 month' AS missing_until FROM generate_series(
    date_trunc('month', (SELECT min(at) FROM unnest($5::timestamptz[]) AS t (at)) AT TIME ZONE 'UTC' - ${AHEAD}),
    clock_timestamp() AT TIME ZONE 'UTC', interval '1 month') AS month
  WHERE NOT EXISTS (SELECT FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
    WHERE inhparent = 'events'::regclass AND relname = to_char(month, '"events_"YYYY_MM'))
), asked AS MATERIALIZED (
  SELECT id, ${ORGANIZATION} AS organization_id, meter_id, customer_external_id,
    ${BEGINNING.hour('at')} AS hour, ${BEGINNING.quarter('at')} AS quarter
  FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::timestamptz[]) AS t (id, meter_id, customer_external_id, at), months
  WHERE ${BEGINNING.hour('at')} AT TIME ZONE 'UTC' - ${AHEAD} < missing_until
)
${ofRowsWithMore(HOURS, 'organization_id, meter_id, customer_external_id, hour')}
UNION
${ofRowsWithMore(QUARTERS, 'organization_id, meter_id, quarter')}`;

/**
 * Returns those of the events that cannot be taken out of the count, since others of their hour are in a month that was taken out of the
 * database. Needs a transaction that has read of `events`: no month is taken out while it lasts.
 */
export async function findTakenOut(
  db: Queries,
  organizationId: string,
  events: readonly UsageEvent[],
): Promise<Set<string>> {
  const { rows } = await db.executeQuery<{ id: string }>(
    CompiledQuery.raw(FIND, [
      organizationId,
      plainArray(events.map(({ id }) => id)),
      plainArray(events.map(({ meter_id }) => meter_id)),
      textArray(events.map(({ customer_external_id }) => customer_external_id)),
      plainArray(events.map(({ timestamp }) => timestamp)),
    ]),
  );
  return new Set(rows.map(({ id }) => id));
}
