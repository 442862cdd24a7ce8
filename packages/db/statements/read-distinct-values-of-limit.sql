WITH
  due AS MATERIALIZED (
    SELECT due.*, false AS has_late
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
    SELECT n, found.*
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
        SELECT sum(event_count) AS event_count, sum(quantity_sum) AS quantity_sum
        FROM
          (
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
          ) AS each
        OFFSET 0
      ) AS found
  ),
  hours AS MATERIALIZED (
    SELECT n, found.*
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
        SELECT sum(event_count) AS event_count, sum(quantity_sum) AS quantity_sum
        FROM
          (
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
          ) AS each
        OFFSET 0
      ) AS found
  ),
  pieces AS MATERIALIZED (
    SELECT n, found.*
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
        FROM customer_usage_hours
        WHERE
          organization_id = due.organization_id
          AND meter_id = due.meter_id
          AND customer_external_id = due.customer_external_id
          AND hour >= date_trunc('hour', stretch.since, 'UTC')
          AND hour < stretch.before
          AND last_timestamp >= stretch.since
        LIMIT 1
      ) AS anything
      CROSS JOIN LATERAL (
        SELECT sum(event_count) AS event_count, sum(quantity_sum) AS quantity_sum
        FROM
          (
            SELECT
              "timestamp" AS at, 1 AS event_count, quantity AS quantity_sum, quantity AS quantity_min,
              quantity AS quantity_max, "timestamp" AS last_timestamp, id AS last_event_id,
              quantity AS last_quantity,
              CASE
                WHEN due.has_late THEN EXISTS (
                  SELECT
                  FROM
                    (
                      SELECT "timestamp", event_id, quantity, voids
                      FROM late_events
                      WHERE
                        organization_id = due.organization_id
                        AND meter_id = due.meter_id
                        AND customer_external_id = due.customer_external_id
                        AND "timestamp" >= events."timestamp"
                        AND "timestamp" < events."timestamp" + interval '1 microsecond'
                        AND late_events.closing >= due.closing
                      OFFSET 0
                    ) AS late
                  WHERE event_id = id
                )
                ELSE false
              END AS shows_late
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
              AND "timestamp" >= stretch.since
              AND "timestamp" < stretch.before
          ) AS each
        OFFSET 0
      ) AS found
  ),
  uniques AS MATERIALIZED (
    SELECT n, count(DISTINCT value_hash)::numeric AS uniques
    FROM
      (
        SELECT n, found.value_hash
        FROM
          (
            SELECT
              n, TIMESTAMPTZ '1970-01-01 00:00:00Z' + since * interval '1 microsecond' AS since,
              TIMESTAMPTZ '1970-01-01 00:00:00Z' + before * interval '1 microsecond' AS before
            FROM unnest($17::bigint[], $18::bigint[], $19::bigint[]) AS t (n, since, before)
            OFFSET 0
          ) AS stretch
          JOIN due USING (n)
          CROSS JOIN LATERAL (
            SELECT
              ~ (~ B'0'::bit(96) >> (extract(epoch FROM stretch.before - stretch.since) / 900)::integer) >> (
                extract(epoch FROM stretch.since - date_trunc('day', stretch.since, 'UTC')) / 900
              )::integer AS wanted,
              CASE
                WHEN due.has_late THEN (
                  SELECT bit_or(quarter_bit ("timestamp"))
                  FROM
                    (
                      SELECT "timestamp", event_id, quantity, voids
                      FROM late_events
                      WHERE
                        organization_id = due.organization_id
                        AND meter_id = due.meter_id
                        AND customer_external_id = due.customer_external_id
                        AND "timestamp" >= stretch.since
                        AND "timestamp" < stretch.before
                        AND late_events.closing >= due.closing
                      OFFSET 0
                    ) AS late
                )
              END AS touched
            OFFSET 0
          ) AS masks
          CROSS JOIN LATERAL (
            SELECT value_hash
            FROM customer_value_days
            WHERE
              organization_id = due.organization_id
              AND meter_id = due.meter_id
              AND customer_external_id = due.customer_external_id
              AND day = date_trunc('day', stretch.since, 'UTC')
              AND quarters & wanted & coalesce(~ touched, wanted) <> B'0'::bit(96)
            OFFSET 0
          ) AS found
        UNION ALL
        SELECT n, found.value_hash
        FROM
          (
            SELECT
              n, TIMESTAMPTZ '1970-01-01 00:00:00Z' + since * interval '1 microsecond' AS since,
              TIMESTAMPTZ '1970-01-01 00:00:00Z' + before * interval '1 microsecond' AS before
            FROM unnest($20::bigint[], $21::bigint[], $22::bigint[]) AS t (n, since, before)
            OFFSET 0
          ) AS stretch
          JOIN due USING (n)
          CROSS JOIN LATERAL (
            SELECT value_hash
            FROM customer_value_days
            WHERE
              organization_id = due.organization_id
              AND meter_id = due.meter_id
              AND customer_external_id = due.customer_external_id
              AND day >= stretch.since
              AND day < stretch.before
            OFFSET 0
          ) AS found
      ) AS each
    GROUP BY n
  ),
  summed AS MATERIALIZED (
    SELECT *
    FROM
      (
        SELECT n, sum(event_count) AS event_count, sum(quantity_sum) AS quantity_sum
        FROM
          (
            SELECT n, event_count, quantity_sum
            FROM days
            UNION ALL
            SELECT n, event_count, quantity_sum
            FROM hours
            UNION ALL
            SELECT n, event_count, quantity_sum
            FROM pieces
          ) AS counted
        GROUP BY n
      ) AS sums
      LEFT JOIN uniques USING (n)
  )
SELECT string_agg(concat_ws(' ', n, event_count, usage), ',') AS sums
FROM
  (
    SELECT
      n, event_count,
      trim_scale(
        CASE aggregation
          WHEN 'COUNT' THEN event_count
          WHEN 'SUM' THEN quantity_sum
          WHEN 'AVG' THEN quantity_sum
          WHEN 'UNIQUE_COUNT' THEN coalesce(uniques, 0)
        END
      ) AS usage
    FROM due JOIN summed USING (n)
    WHERE event_count > 0
  ) AS sums
