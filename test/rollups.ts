import type pg from 'pg';
import { expect } from 'vitest';

// What the rollups should be, made anew of the events; `*_differences` count the hours in which they are something else.
const DIFFERENCES = `
WITH sums AS (
  SELECT organization_id, meter_id, customer_external_id, date_trunc('hour', "timestamp", 'UTC') AS hour,
    count(*) AS event_count, sum(quantity) AS quantity_sum, min(quantity) AS quantity_min, max(quantity) AS quantity_max,
    (array_agg(id ORDER BY "timestamp" DESC, id DESC))[1] AS last_event_id,
    (array_agg(quantity ORDER BY "timestamp" DESC, id DESC))[1] AS last_quantity
  FROM events GROUP BY 1, 2, 3, 4
),
users AS (
  SELECT DISTINCT e.organization_id, e.meter_id, customer_external_id, date_trunc('hour', "timestamp", 'UTC') AS hour,
    unique_value_hash(metadata) AS value_hash
  FROM events e JOIN meters m ON (m.organization_id, m.id) = (e.organization_id, e.meter_id)
  WHERE aggregation_type = 'UNIQUE_COUNT'
)
SELECT
  (SELECT count(*)::int FROM sums s FULL JOIN usage_rollups r USING (organization_id, meter_id, customer_external_id, hour)
   WHERE (s.event_count, s.quantity_sum, s.quantity_min, s.quantity_max, s.last_event_id, s.last_quantity) IS DISTINCT FROM
         (r.event_count, r.quantity_sum, r.quantity_min, r.quantity_max, r.last_event_id, r.last_quantity)) AS rollup_differences,
  (SELECT count(*)::int FROM users u
   FULL JOIN unique_values v USING (organization_id, meter_id, customer_external_id, hour, value_hash)
   WHERE u.organization_id IS NULL OR v.organization_id IS NULL) AS user_differences`;

/** The promise under every number that is read: rollups equal the events they were made of. */
export async function expectRollupsToEqualEvents(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query(DIFFERENCES);
  expect(rows).toEqual([{ rollup_differences: 0, user_differences: 0 }]);
}
