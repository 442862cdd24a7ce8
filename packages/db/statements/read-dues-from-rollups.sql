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
        FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS t (n, since, before)
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
        FROM unnest($4::bigint[], $5::bigint[], $6::bigint[]) AS t (n, since, before)
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
  pieces AS MATERIALIZED (
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
        SELECT
          "timestamp" AS at, 1 AS event_count, quantity AS quantity_sum, quantity AS quantity_min,
          quantity AS quantity_max, "timestamp" AS last_timestamp, id AS last_event_id, quantity AS last_quantity,
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
  events_of_hours AS MATERIALIZED (
    SELECT n, due.aggregation, found.*
    FROM
      all_hours AS stretch
      JOIN due USING (n)
      CROSS JOIN LATERAL (
        SELECT
          "timestamp" AS at, 1 AS event_count, quantity AS quantity_sum, quantity AS quantity_min,
          quantity AS quantity_max, "timestamp" AS last_timestamp, id AS last_event_id, quantity AS last_quantity,
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
          AND "timestamp" >= stretch.at
          AND "timestamp" < stretch.at + interval '1 hour'
        OFFSET 0
      ) AS found
    WHERE stretch.shows_late
  ),
  voided_later AS MATERIALIZED (
    SELECT n, due.aggregation, found.*
    FROM
      due
      CROSS JOIN LATERAL (
        SELECT
          "timestamp" AS at, 1 AS event_count, quantity AS quantity_sum, quantity AS quantity_min,
          quantity AS quantity_max, "timestamp" AS last_timestamp, id AS last_event_id, quantity AS last_quantity,
          false AS shows_late
        FROM
          (
            SELECT "timestamp", quantity, voids AS id
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
          ) AS events
        WHERE
          NOT EXISTS (
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
        OFFSET 0
      ) AS found
    WHERE due.has_late AND due.aggregation IN ('MAX', 'MIN', 'LAST')
  ),
  extremes AS MATERIALIZED (
    SELECT
      n, max(quantity_max) AS quantity_max, min(quantity_min) AS quantity_min,
      (
        array_agg(last_quantity ORDER BY last_timestamp DESC, last_event_id DESC) FILTER (
          WHERE aggregation = 'LAST'
        )
      ) [1] AS last_quantity
    FROM
      (
        SELECT *
        FROM days
        WHERE NOT shows_late AND aggregation IN ('MAX', 'MIN', 'LAST')
        UNION ALL
        SELECT *
        FROM pieces
        WHERE NOT shows_late AND aggregation IN ('MAX', 'MIN', 'LAST')
        UNION ALL
        SELECT *
        FROM all_hours
        WHERE NOT shows_late AND aggregation IN ('MAX', 'MIN', 'LAST')
        UNION ALL
        SELECT *
        FROM events_of_hours
        WHERE NOT shows_late AND aggregation IN ('MAX', 'MIN', 'LAST')
        UNION ALL
        SELECT *
        FROM voided_later
        WHERE NOT shows_late AND aggregation IN ('MAX', 'MIN', 'LAST')
      ) AS shown
    GROUP BY n
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
          due
          CROSS JOIN LATERAL (
            SELECT DISTINCT date_bin('15 minutes', "timestamp", TIMESTAMPTZ '2000-01-01 00:00:00Z') AS at
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
          ) AS quarter
          CROSS JOIN LATERAL (
            SELECT
              unique_value_hash (metadata) AS value_hash,
              CASE
                WHEN due.has_late
                AND EXISTS (
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
                ) THEN true
                ELSE EXISTS (
                  SELECT
                  FROM corrections
                  WHERE corrections.organization_id = events.organization_id AND corrections.event_id = events.id
                  OFFSET 0
                )
                AND NOT (
                  due.has_late
                  AND EXISTS (
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
                    WHERE voids = id
                  )
                )
              END AS shows_late
            FROM events
            WHERE
              event_stream (meter_id, customer_external_id) = event_stream (due.meter_id, due.customer_external_id)
              AND (organization_id = due.organization_id) IS TRUE
              AND meter_id = due.meter_id
              AND customer_external_id = due.customer_external_id
              AND "timestamp" >= greatest(quarter.at, due.since)
              AND "timestamp" < least(quarter.at + interval '15 minutes', due.before)
            OFFSET 0
          ) AS found
        WHERE due.has_late AND due.aggregation IN ('UNIQUE_COUNT') AND NOT shows_late
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
            UNION ALL
            SELECT n, found.*
            FROM
              due
              CROSS JOIN LATERAL (
                SELECT
                  sum(CASE WHEN voids IS NULL THEN -1 ELSE 1 END),
                  sum(CASE WHEN voids IS NULL THEN -1 ELSE 1 END * quantity)
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
              ) AS found
            WHERE has_late
          ) AS counted
        GROUP BY n
      ) AS sums
      LEFT JOIN extremes USING (n)
      LEFT JOIN uniques USING (n)
  )
SELECT
  string_agg(concat_ws(' ', n, event_count, usage), ',') AS sums,
  (
    SELECT
      (max(month) + interval '1 month') AT TIME ZONE 'UTC' + (
        SELECT ahead_seconds_max
        FROM installation
      ) * interval '1 second'
    FROM
      generate_series(
        date_trunc(
          'month',
          greatest(
            (SELECT min(since) FROM due) - (SELECT ahead_seconds_max FROM installation) * interval '1 second',
            (
              SELECT min(created_at)
              FROM organizations
              WHERE organizations.id = ANY (ARRAY(SELECT organization_id FROM due))
            )
          ) AT TIME ZONE 'UTC'
        ), clock_timestamp() AT TIME ZONE 'UTC', interval '1 month'
      ) AS month
    WHERE
      NOT EXISTS (
        SELECT
        FROM pg_partition_ancestors(to_regclass(to_char(month, '"events_"YYYY_MM'))) AS ancestor (relid)
        WHERE relid = 'events'::regclass
      )
  ) AS complete_from
FROM
  (
    SELECT
      n, event_count,
      trim_scale(
        CASE aggregation
          WHEN 'COUNT' THEN event_count
          WHEN 'SUM' THEN quantity_sum
          WHEN 'MAX' THEN quantity_max
          WHEN 'MIN' THEN quantity_min
          WHEN 'AVG' THEN quantity_sum
          WHEN 'LAST' THEN last_quantity
          WHEN 'UNIQUE_COUNT' THEN coalesce(uniques, 0)
        END
      ) AS usage
    FROM due JOIN summed USING (n)
    WHERE event_count > 0
  ) AS sums
