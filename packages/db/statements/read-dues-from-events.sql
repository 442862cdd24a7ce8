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
          unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[]) WITH ORDINALITY AS t (organization_id, meter_id, customer_external_id, aggregation, since, before, closing, n)
        OFFSET 0
      ) AS due
  ),
  summed AS MATERIALIZED (
    SELECT
      n, count(*) AS event_count, sum(quantity_sum) AS quantity_sum, max(quantity_max) AS quantity_max,
      min(quantity_min) AS quantity_min,
      (
        array_agg(last_quantity ORDER BY last_timestamp DESC, last_event_id DESC) FILTER (
          WHERE aggregation = 'LAST'
        )
      ) [1] AS last_quantity, count(DISTINCT value_hash)::numeric AS uniques
    FROM
      (
        SELECT n, aggregation, found.*
        FROM
          due
          CROSS JOIN LATERAL (
            SELECT
              "timestamp" AS at, 1 AS event_count, quantity AS quantity_sum, quantity AS quantity_min,
              quantity AS quantity_max, "timestamp" AS last_timestamp, id AS last_event_id,
              quantity AS last_quantity,
              CASE WHEN due.aggregation IN ('UNIQUE_COUNT') THEN unique_value_hash (metadata)
              END AS value_hash,
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
              AND "timestamp" >= due.since
              AND "timestamp" < due.before
            OFFSET 0
          ) AS found
      ) AS counted
    WHERE NOT shows_late
    GROUP BY n
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
