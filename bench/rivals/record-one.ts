import { receivedAt, type StagedEvent } from '@weir/shared/event';
import type pg from 'pg';

// The same rows in the same tables as Weir's own statement writes for many events, as small as it gets for one.
const RECORD_ONE = `
WITH keyed AS (
  INSERT INTO idempotency_keys (organization_id, key_hash, event_id) VALUES ($2, $9, $1)
  ON CONFLICT DO NOTHING
  RETURNING event_id
),
recorded AS (
  INSERT INTO events (id, organization_id, meter_id, customer_external_id, quantity, "timestamp", received_at, idempotency_key, metadata)
  SELECT $1, $2, $3, $4, $5::numeric, $6::timestamptz, $7::timestamptz, $8, $10::jsonb FROM keyed
  RETURNING *
),
rolled AS (
  INSERT INTO usage_rollups AS u (organization_id, meter_id, customer_external_id, hour, event_count,
    quantity_sum, quantity_min, quantity_max, last_timestamp, last_event_id, last_quantity)
  SELECT organization_id, meter_id, customer_external_id, date_trunc('hour', "timestamp", 'UTC'), 1,
    quantity, quantity, quantity, "timestamp", id, quantity
  FROM recorded
  ON CONFLICT (organization_id, meter_id, customer_external_id, hour) DO UPDATE SET
    event_count = u.event_count + 1,
    quantity_sum = u.quantity_sum + excluded.quantity_sum,
    quantity_min = least(u.quantity_min, excluded.quantity_min),
    quantity_max = greatest(u.quantity_max, excluded.quantity_max),
    last_timestamp = greatest(u.last_timestamp, excluded.last_timestamp),
    last_event_id = CASE WHEN excluded.last_timestamp > u.last_timestamp THEN excluded.last_event_id ELSE u.last_event_id END,
    last_quantity = CASE WHEN excluded.last_timestamp > u.last_timestamp THEN excluded.last_quantity ELSE u.last_quantity END
)
SELECT count(*)::int AS recorded FROM recorded`;

/** Writes one event with its key and its rollup in one transaction; false when the key was taken. */
export async function recordOne(pool: pg.Pool, event: StagedEvent, keyHash: Buffer): Promise<boolean> {
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
      receivedAt(event.id),
      event.idempotency_key,
      keyHash,
      event.metadata,
    ],
  });
  return rows[0]?.recorded === 1;
}
