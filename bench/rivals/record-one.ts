import { ROLLUPS } from '@weir/db/rollups';
import type { UsageEvent } from '@weir/shared/event';
import type pg from 'pg';

const { customerUsageHours, customerUsageDays, meterUsageQuarters } = ROLLUPS;

// The same rows in the same tables as Weir's own statement writes for many events, as small as it gets for one.
const AMOUNTS = `event_count, quantity_sum, quantity_min, quantity_max, last_timestamp, last_event_id, last_quantity`;
const OF_EVENT = `1, quantity, quantity, quantity, "timestamp", id, quantity`;

const IS_LATER = '(excluded.last_timestamp, excluded.last_event_id) > (u.last_timestamp, u.last_event_id)';

/** Adds the event to a rollup, called `u`. */
function addTo(key: string): string {
  return `ON CONFLICT (${key}) DO UPDATE SET
    event_count = u.event_count + 1,
    quantity_sum = u.quantity_sum + excluded.quantity_sum,
    quantity_min = least(u.quantity_min, excluded.quantity_min),
    quantity_max = greatest(u.quantity_max, excluded.quantity_max),
    last_timestamp = greatest(u.last_timestamp, excluded.last_timestamp),
    last_event_id = CASE WHEN ${IS_LATER} THEN excluded.last_event_id ELSE u.last_event_id END,
    last_quantity = CASE WHEN ${IS_LATER} THEN excluded.last_quantity ELSE u.last_quantity END`;
}

const RECORD_ONE = `
WITH keyed AS (
  INSERT INTO idempotency_keys (key_hash, event_id) VALUES ($8, $1)
  ON CONFLICT DO NOTHING
  RETURNING event_id
),
recorded AS (
  INSERT INTO events (id, organization_id, meter_id, customer_external_id, quantity, "timestamp", idempotency_key, metadata)
  SELECT $1, $2, $3, $4, $5::numeric, $6::timestamptz, $7, $9::json FROM keyed
  RETURNING id, organization_id, meter_id, customer_external_id, quantity, "timestamp"
),
by_hour AS (
  INSERT INTO ${customerUsageHours.table} AS u (organization_id, meter_id, customer_external_id, hour, ${AMOUNTS})
  SELECT organization_id, meter_id, customer_external_id, date_trunc('hour', "timestamp", 'UTC'), ${OF_EVENT} FROM recorded
  ${addTo('organization_id, meter_id, customer_external_id, hour')}
),
by_day AS (
  INSERT INTO ${customerUsageDays.table} AS u (organization_id, meter_id, customer_external_id, day, ${AMOUNTS})
  SELECT organization_id, meter_id, customer_external_id, date_trunc('day', "timestamp", 'UTC'), ${OF_EVENT} FROM recorded
  ${addTo('organization_id, meter_id, customer_external_id, day')}
),
by_quarter AS (
  INSERT INTO ${meterUsageQuarters.table} AS u (organization_id, meter_id, quarter, part, ${AMOUNTS})
  SELECT organization_id, meter_id, date_bin('15 minutes', "timestamp", TIMESTAMPTZ '2000-01-01 00:00:00Z'), pg_backend_pid() % 4, ${OF_EVENT}
  FROM recorded
  ${addTo('organization_id, meter_id, quarter, part')}
)
SELECT count(*)::int AS recorded FROM recorded`;

/** Writes one event with its key and its rollups in one transaction; false when the key was taken. */
export async function recordOne(pool: pg.Pool, event: UsageEvent, keyHash: string): Promise<boolean> {
  const { rows } = await pool.query<{ recorded: number }>({
    name: 'record-one',
    text: RECORD_ONE,
    values: [
      event.id,
      event.organization_id,
      event.meter_id,
      event.customer_external_id,
      event.quantity,
      event.timestamp,
      event.idempotency_key,
      keyHash,
      event.metadata,
    ],
  });
  return rows[0]?.recorded === 1;
}
