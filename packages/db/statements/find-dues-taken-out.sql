WITH
  due AS MATERIALIZED (
    SELECT
      due.*,
      EXISTS (
        SELECT
        FROM
          (
            SELECT "timestamp", event_id, quantity, voids
            FROM late_events
            WHERE
              organization_id = due.organization_id
              AND meter_id = due.meter_id
              AND customer_external_id = due.customer_external_id
              AND "timestamp" >= due.since
              AND "timestamp" < due.before
              AND late_events.closing >= due.closing
            OFFSET 0
          ) AS late
      ) AS has_late
    FROM
      (
        SELECT
          n, organization_id, meter_id, customer_external_id, aggregation,
          TIMESTAMPTZ '1970-01-01 00:00:00Z' + since * interval '1 microsecond' AS since,
          TIMESTAMPTZ '1970-01-01 00:00:00Z' + before * interval '1 microsecond' AS before, closing
        FROM
          unnest($10::uuid[], $11::uuid[], $12::text[], $13::text[], $14::bigint[], $15::bigint[], $16::bigint[]) WITH ORDINALITY AS t (organization_id, meter_id, customer_external_id, aggregation, since, before, closing, n)
        OFFSET 0
      ) AS due
  ),
  days AS MATERIALIZED (
    SELECT n, due.aggregation, found.*
    FROM
      (
        SELECT
          n, TIMESTAMPTZ '1970-01-01 00:00:00Z' + since * interval '1 microsecond' AS since,
          TIMESTAMPTZ '1970-01-01 00:00:00Z' + before * interval '1 microsecond' AS before
        FROM unnest($4::bigint[], $5::bigint[], $6::bigint[]) AS t (n, since, before)
        OFFSET 0
      ) AS stretch
      JOIN due USING (n)
      CROSS JOIN LATERAL (
        SELECT
          day AS at, event_count, quantity_sum, quantity_min, quantity_max, last_timestamp, last_event_id,
          last_quantity,
          CASE
            WHEN due.has_late
            AND due.aggregation IN ('MAX', 'MIN', 'LAST') THEN EXISTS (
              SELECT
              FROM
                (
                  SELECT "timestamp", event_id, quantity, voids
                  FROM late_events
                  WHERE
                    organization_id = due.organization_id
                    AND meter_id = due.meter_id
                    AND customer_external_id = due.customer_external_id
                    AND "timestamp" >= day
                    AND "timestamp" < day + interval '24 hours'
                    AND late_events.closing >= due.closing
                  OFFSET 0
                ) AS late
              WHERE
                voids IS NULL
                AND CASE due.aggregation
                  WHEN 'MAX' THEN late.quantity = quantity_max
                  WHEN 'MIN' THEN late.quantity = quantity_min
                  WHEN 'LAST' THEN late.event_id = last_event_id
                END
            )
            ELSE false
          END AS shows_late
        FROM customer_usage_days
        WHERE
          organization_id = due.organization_id
          AND meter_id = due.meter_id
          AND customer_external_id = due.customer_external_id
          AND day >= stretch.since
          AND day < stretch.before
        OFFSET 0
      ) AS found
  ),
  hours AS MATERIALIZED (
    SELECT n, due.aggregation, found.*
    FROM
      (
        SELECT
          n, TIMESTAMPTZ '1970-01-01 00:00:00Z' + since * interval '1 microsecond' AS since,
          TIMESTAMPTZ '1970-01-01 00:00:00Z' + before * interval '1 microsecond' AS before
        FROM unnest($7::bigint[], $8::bigint[], $9::bigint[]) AS t (n, since, before)
        OFFSET 0
      ) AS stretch
      JOIN due USING (n)
      CROSS JOIN LATERAL (
        SELECT
          hour AS at, event_count, quantity_sum, quantity_min, quantity_max, last_timestamp, last_event_id,
          last_quantity,
          CASE
            WHEN due.has_late
            AND due.aggregation IN ('MAX', 'MIN', 'LAST') THEN EXISTS (
              SELECT
              FROM
                (
                  SELECT "timestamp", event_id, quantity, voids
                  FROM late_events
                  WHERE
                    organization_id = due.organization_id
                    AND meter_id = due.meter_id
                    AND customer_external_id = due.customer_external_id
                    AND "timestamp" >= hour
                    AND "timestamp" < hour + interval '1 hour'
                    AND late_events.closing >= due.closing
                  OFFSET 0
                ) AS late
              WHERE
                voids IS NULL
                AND CASE due.aggregation
                  WHEN 'MAX' THEN late.quantity = quantity_max
                  WHEN 'MIN' THEN late.quantity = quantity_min
                  WHEN 'LAST' THEN late.event_id = last_event_id
                END
            )
            ELSE false
          END AS shows_late
        FROM customer_usage_hours
        WHERE
          organization_id = due.organization_id
          AND meter_id = due.meter_id
          AND customer_external_id = due.customer_external_id
          AND hour >= stretch.since
          AND hour < stretch.before
        OFFSET 0
      ) AS found
  ),
  hours_of_days AS MATERIALIZED (
    SELECT n, due.aggregation, found.*
    FROM
      days AS stretch
      JOIN due USING (n)
      CROSS JOIN LATERAL (
        SELECT
          hour AS at, event_count, quantity_sum, quantity_min, quantity_max, last_timestamp, last_event_id,
          last_quantity,
          CASE
            WHEN due.has_late
            AND due.aggregation IN ('MAX', 'MIN', 'LAST') THEN EXISTS (
              SELECT
              FROM
                (
                  SELECT "timestamp", event_id, quantity, voids
                  FROM late_events
                  WHERE
                    organization_id = due.organization_id
                    AND meter_id = due.meter_id
                    AND customer_external_id = due.customer_external_id
                    AND "timestamp" >= hour
                    AND "timestamp" < hour + interval '1 hour'
                    AND late_events.closing >= due.closing
                  OFFSET 0
                ) AS late
              WHERE
                voids IS NULL
                AND CASE due.aggregation
                  WHEN 'MAX' THEN late.quantity = quantity_max
                  WHEN 'MIN' THEN late.quantity = quantity_min
                  WHEN 'LAST' THEN late.event_id = last_event_id
                END
            )
            ELSE false
          END AS shows_late
        FROM customer_usage_hours
        WHERE
          organization_id = due.organization_id
          AND meter_id = due.meter_id
          AND customer_external_id = due.customer_external_id
          AND hour >= stretch.at
          AND hour < stretch.at + interval '24 hours'
        OFFSET 0
      ) AS found
    WHERE stretch.shows_late
  ), all_hours AS MATERIALIZED (SELECT * FROM hours UNION ALL SELECT * FROM hours_of_days),
  short AS MATERIALIZED (
    SELECT n, at, last_event_id AS id, organization_id
    FROM
      (
        SELECT n, hour AS at
        FROM
          (
            SELECT
              n, TIMESTAMPTZ '1970-01-01 00:00:00Z' + since * interval '1 microsecond' AS since,
              TIMESTAMPTZ '1970-01-01 00:00:00Z' + before * interval '1 microsecond' AS before
            FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS t (n, since, before)
            OFFSET 0
          ) AS stretch
          JOIN due USING (n)
          CROSS JOIN LATERAL (
            SELECT hour
            FROM customer_usage_hours
            WHERE
              organization_id = due.organization_id
              AND meter_id = due.meter_id
              AND customer_external_id = due.customer_external_id
              AND hour >= date_trunc('hour', stretch.since, 'UTC')
              AND hour < stretch.before
              AND last_timestamp >= stretch.since
            OFFSET 0
          ) AS found
        UNION
        SELECT n, at
        FROM all_hours
        WHERE shows_late
        UNION
        SELECT n, date_trunc('hour', late."timestamp", 'UTC') AS at
        FROM
          due
          CROSS JOIN LATERAL (
            SELECT "timestamp", event_id, quantity, voids
            FROM late_events
            WHERE
              organization_id = due.organization_id
              AND meter_id = due.meter_id
              AND customer_external_id = due.customer_external_id
              AND "timestamp" >= due.since
              AND "timestamp" < due.before
              AND late_events.closing >= due.closing
            OFFSET 0
          ) AS late
        WHERE has_late AND due.aggregation IN ('UNIQUE_COUNT')
      ) AS read
      JOIN due USING (n)
      CROSS JOIN LATERAL (
        SELECT event_count, last_event_id
        FROM customer_usage_hours
        WHERE
          organization_id = due.organization_id
          AND meter_id = due.meter_id
          AND customer_external_id = due.customer_external_id
          AND hour = read.at
        OFFSET 0
      ) AS kept
    WHERE
      at < TIMESTAMPTZ '1970-01-01 00:00:00Z' + $17::bigint * interval '1 microsecond'
      AND event_count <> (
        SELECT count(*)
        FROM events
        WHERE
          event_stream (meter_id, customer_external_id) = event_stream (due.meter_id, due.customer_external_id)
          AND (organization_id = due.organization_id) IS TRUE
          AND meter_id = due.meter_id
          AND customer_external_id = due.customer_external_id
          AND NOT EXISTS (
            SELECT
            FROM corrections
            WHERE corrections.organization_id = events.organization_id AND corrections.event_id = events.id
            OFFSET 0
          )
          AND "timestamp" >= read.at
          AND "timestamp" < read.at + interval '1 hour'
      )
    UNION ALL
    SELECT n, date_trunc('hour', gone."timestamp", 'UTC') AS at, gone.voids, organization_id
    FROM
      due
      CROSS JOIN LATERAL (
        SELECT "timestamp", voids
        FROM
          (
            SELECT "timestamp", event_id, quantity, voids
            FROM late_events
            WHERE
              organization_id = due.organization_id
              AND meter_id = due.meter_id
              AND customer_external_id = due.customer_external_id
              AND "timestamp" >= due.since
              AND "timestamp" < due.before
              AND late_events.closing >= due.closing
            OFFSET 0
          ) AS late
        WHERE voids IS NOT NULL
        OFFSET 0
      ) AS gone
    WHERE
      has_late
      AND due.aggregation IN ('UNIQUE_COUNT')
      AND gone."timestamp" < TIMESTAMPTZ '1970-01-01 00:00:00Z' + $17::bigint * interval '1 microsecond'
      AND NOT EXISTS (
        SELECT
        FROM events
        WHERE events.organization_id = due.organization_id AND events.id = gone.voids
      )
  )
SELECT
  n, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI') AS hour,
  (
    SELECT to_char(month, 'YYYY-MM')
    FROM
      generate_series(
        date_trunc(
          'month',
          greatest(
            first.at - (SELECT ahead_seconds_max FROM installation) * interval '1 second',
            (SELECT min(created_at) FROM organizations WHERE organizations.id = first.organization_id)
          ) AT TIME ZONE 'UTC'
        ), clock_timestamp() AT TIME ZONE 'UTC', interval '1 month'
      ) AS month
    WHERE
      NOT EXISTS (
        SELECT
        FROM pg_partition_ancestors(to_regclass(to_char(month, '"events_"YYYY_MM'))) AS ancestor (relid)
        WHERE relid = 'events'::regclass
      )
    ORDER BY
      NOT EXISTS (
        SELECT
        FROM unnest(ARRAY[first.id]) AS counted (id)
        WHERE
          counted.id >= first_event_id (month AT TIME ZONE 'UTC')
          AND counted.id < first_event_id ((month + interval '1 month') AT TIME ZONE 'UTC')
      ), month
    LIMIT 1
  ) AS month
FROM (SELECT DISTINCT ON (n) * FROM short ORDER BY n, at, id) AS first
