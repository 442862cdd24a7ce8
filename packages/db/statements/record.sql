WITH
  closed AS MATERIALIZED (SELECT organization_id, number, until FROM closings_of ($2::uuid[], $11::uuid[])),
  input AS MATERIALIZED (
    SELECT t.*
    FROM
      (SELECT count(*) FROM closed) AS locked
      CROSS JOIN unnest(
        $1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::numeric[], $6::timestamptz[], $7::text[], $8::uuid[],
        $9::text[], $10::boolean[]
      ) AS t (
        id, organization_id, meter_id, customer_external_id, quantity, "timestamp", idempotency_key, key_hash,
        metadata, counts_unique_values
      )
  ),
  keyed AS (
    INSERT INTO idempotency_keys (key_hash, event_id)
    SELECT key_hash, id
    FROM input
    WHERE key_hash IS NOT NULL
    ORDER BY key_hash, id
    ON CONFLICT DO NOTHING
    RETURNING event_id
  ),
  held AS MATERIALIZED (
    SELECT i.id, k.event_id AS holder
    FROM input i JOIN idempotency_keys k USING (key_hash)
    WHERE i.id NOT IN (SELECT event_id FROM keyed)
  ),
  recorded AS (
    INSERT INTO
      events (id, organization_id, meter_id, customer_external_id, quantity, "timestamp", idempotency_key, metadata)
    SELECT
      id, organization_id, meter_id, customer_external_id, quantity, "timestamp", idempotency_key, metadata::json
    FROM input
    WHERE key_hash IS NULL OR id IN (SELECT event_id FROM keyed) OR id IN (SELECT id FROM held WHERE holder = id)
    ORDER BY organization_id, id
    ON CONFLICT DO NOTHING
    RETURNING id, organization_id, meter_id, customer_external_id, quantity, "timestamp", metadata
  ),
  late AS (
    INSERT INTO
      late_events (organization_id, meter_id, customer_external_id, "timestamp", event_id, closing, quantity)
    SELECT r.organization_id, r.meter_id, r.customer_external_id, r."timestamp", r.id, c.number, r.quantity
    FROM recorded r JOIN closed c USING (organization_id)
    WHERE r."timestamp" < c.until
  ),
  valued AS MATERIALIZED (
    SELECT
      r.organization_id, r.meter_id, r.customer_external_id, r."timestamp",
      unique_value_hash (r.metadata) AS value_hash
    FROM recorded r JOIN input i USING (id)
    WHERE i.counts_unique_values
  ),
  made_customer_usage_hours AS (
    SELECT
      organization_id, meter_id, customer_external_id, date_trunc('hour', "timestamp", 'UTC') AS hour,
      count(*) AS event_count, sum(quantity) AS quantity_sum, min(quantity) AS quantity_min,
      max(quantity) AS quantity_max,
      (array_agg("timestamp" ORDER BY "timestamp" DESC, id DESC)) [1] AS last_timestamp,
      (array_agg(id ORDER BY "timestamp" DESC, id DESC)) [1] AS last_event_id,
      (array_agg(quantity ORDER BY "timestamp" DESC, id DESC)) [1] AS last_quantity
    FROM recorded
    GROUP BY 1, 2, 3, 4
    ORDER BY 1, 2, 3, 4
  ),
  added_customer_usage_hours AS (
    INSERT INTO
      customer_usage_hours AS kept (
        organization_id, meter_id, customer_external_id, hour, event_count, quantity_sum, quantity_min,
        quantity_max, last_timestamp, last_event_id, last_quantity
      )
    SELECT *
    FROM made_customer_usage_hours
    ON CONFLICT (organization_id, meter_id, customer_external_id, hour) DO UPDATE
    SET
      event_count = kept.event_count + excluded.event_count,
      quantity_sum = kept.quantity_sum + excluded.quantity_sum,
      quantity_min = least(kept.quantity_min, excluded.quantity_min),
      quantity_max = greatest(kept.quantity_max, excluded.quantity_max),
      (last_timestamp, last_event_id, last_quantity) = (
        SELECT
          CASE WHEN newer THEN excluded.last_timestamp ELSE kept.last_timestamp
          END, CASE WHEN newer THEN excluded.last_event_id ELSE kept.last_event_id
          END, CASE WHEN newer THEN excluded.last_quantity ELSE kept.last_quantity
          END
        FROM
          (
            SELECT
              (excluded.last_timestamp, excluded.last_event_id) > (kept.last_timestamp, kept.last_event_id) AS newer
          ) AS n
      )
  ),
  made_customer_usage_days AS (
    SELECT
      organization_id, meter_id, customer_external_id, date_trunc('day', hour, 'UTC') AS day,
      sum(event_count) AS event_count, sum(quantity_sum) AS quantity_sum, min(quantity_min) AS quantity_min,
      max(quantity_max) AS quantity_max,
      (array_agg(last_timestamp ORDER BY last_timestamp DESC, last_event_id DESC)) [1] AS last_timestamp,
      (array_agg(last_event_id ORDER BY last_timestamp DESC, last_event_id DESC)) [1] AS last_event_id,
      (array_agg(last_quantity ORDER BY last_timestamp DESC, last_event_id DESC)) [1] AS last_quantity
    FROM made_customer_usage_hours
    GROUP BY 1, 2, 3, 4
    ORDER BY 1, 2, 3, 4
  ),
  added_customer_usage_days AS (
    INSERT INTO
      customer_usage_days AS kept (
        organization_id, meter_id, customer_external_id, day, event_count, quantity_sum, quantity_min, quantity_max,
        last_timestamp, last_event_id, last_quantity
      )
    SELECT *
    FROM made_customer_usage_days
    ON CONFLICT (organization_id, meter_id, customer_external_id, day) DO UPDATE
    SET
      event_count = kept.event_count + excluded.event_count,
      quantity_sum = kept.quantity_sum + excluded.quantity_sum,
      quantity_min = least(kept.quantity_min, excluded.quantity_min),
      quantity_max = greatest(kept.quantity_max, excluded.quantity_max),
      (last_timestamp, last_event_id, last_quantity) = (
        SELECT
          CASE WHEN newer THEN excluded.last_timestamp ELSE kept.last_timestamp
          END, CASE WHEN newer THEN excluded.last_event_id ELSE kept.last_event_id
          END, CASE WHEN newer THEN excluded.last_quantity ELSE kept.last_quantity
          END
        FROM
          (
            SELECT
              (excluded.last_timestamp, excluded.last_event_id) > (kept.last_timestamp, kept.last_event_id) AS newer
          ) AS n
      )
  ),
  made_meter_usage_quarters AS (
    SELECT
      organization_id, meter_id, date_bin('15 minutes', "timestamp", TIMESTAMPTZ '2000-01-01 00:00:00Z') AS quarter,
      pg_backend_pid() % 4 AS part, count(*) AS event_count, sum(quantity) AS quantity_sum,
      min(quantity) AS quantity_min, max(quantity) AS quantity_max,
      (array_agg("timestamp" ORDER BY "timestamp" DESC, id DESC)) [1] AS last_timestamp,
      (array_agg(id ORDER BY "timestamp" DESC, id DESC)) [1] AS last_event_id,
      (array_agg(quantity ORDER BY "timestamp" DESC, id DESC)) [1] AS last_quantity
    FROM recorded
    GROUP BY 1, 2, 3, 4
    ORDER BY 1, 2, 3, 4
  ),
  added_meter_usage_quarters AS (
    INSERT INTO
      meter_usage_quarters AS kept (
        organization_id, meter_id, quarter, part, event_count, quantity_sum, quantity_min, quantity_max,
        last_timestamp, last_event_id, last_quantity
      )
    SELECT *
    FROM made_meter_usage_quarters
    ON CONFLICT (organization_id, meter_id, quarter, part) DO UPDATE
    SET
      event_count = kept.event_count + excluded.event_count,
      quantity_sum = kept.quantity_sum + excluded.quantity_sum,
      quantity_min = least(kept.quantity_min, excluded.quantity_min),
      quantity_max = greatest(kept.quantity_max, excluded.quantity_max),
      (last_timestamp, last_event_id, last_quantity) = (
        SELECT
          CASE WHEN newer THEN excluded.last_timestamp ELSE kept.last_timestamp
          END, CASE WHEN newer THEN excluded.last_event_id ELSE kept.last_event_id
          END, CASE WHEN newer THEN excluded.last_quantity ELSE kept.last_quantity
          END
        FROM
          (
            SELECT
              (excluded.last_timestamp, excluded.last_event_id) > (kept.last_timestamp, kept.last_event_id) AS newer
          ) AS n
      )
  ),
  made_customer_value_days AS (
    SELECT
      organization_id, meter_id, customer_external_id, date_trunc('day', "timestamp", 'UTC') AS day, value_hash,
      bit_or(quarter_bit ("timestamp")) AS quarters
    FROM valued
    GROUP BY 1, 2, 3, 4, 5
    ORDER BY 1, 2, 3, 4, 5
  ),
  added_customer_value_days AS (
    INSERT INTO
      customer_value_days AS kept (organization_id, meter_id, customer_external_id, day, value_hash, quarters)
    SELECT *
    FROM (SELECT * FROM made_customer_value_days) AS made
    WHERE
      NOT EXISTS (
        SELECT
        FROM customer_value_days AS there
        WHERE
          (there.organization_id, there.meter_id, there.customer_external_id, there.day, there.value_hash) = (made.organization_id, made.meter_id, made.customer_external_id, made.day, made.value_hash)
          AND there.quarters & made.quarters = made.quarters
      )
    ORDER BY organization_id, meter_id, customer_external_id, day, value_hash
    ON CONFLICT (organization_id, meter_id, customer_external_id, day, value_hash) DO UPDATE
    SET quarters = kept.quarters | excluded.quarters
    WHERE kept.quarters & excluded.quarters <> excluded.quarters
  ),
  made_meter_value_days AS (
    SELECT organization_id, meter_id, day, value_hash, bit_or(quarters) AS quarters
    FROM made_customer_value_days
    GROUP BY 1, 2, 3, 4
    ORDER BY 1, 2, 3, 4
  ),
  added_meter_value_days AS (
    INSERT INTO meter_value_days AS kept (organization_id, meter_id, day, value_hash, quarters)
    SELECT *
    FROM (SELECT * FROM made_meter_value_days) AS made
    WHERE
      NOT EXISTS (
        SELECT
        FROM meter_value_days AS there
        WHERE
          (there.organization_id, there.meter_id, there.day, there.value_hash) = (made.organization_id, made.meter_id, made.day, made.value_hash)
          AND there.quarters & made.quarters = made.quarters
      )
    ORDER BY organization_id, meter_id, day, value_hash
    ON CONFLICT (organization_id, meter_id, day, value_hash) DO UPDATE
    SET quarters = kept.quarters | excluded.quarters
    WHERE kept.quarters & excluded.quarters <> excluded.quarters
  )
SELECT
  (SELECT count(*)::int FROM recorded) AS recorded,
  ARRAY(SELECT ARRAY[id, holder]::text[] FROM held WHERE holder <> id) AS held,
  ARRAY(
    SELECT id::text
    FROM input
    WHERE key_hash IS NOT NULL AND id NOT IN (SELECT event_id FROM keyed) AND id NOT IN (SELECT id FROM held)
  ) AS unsettled
