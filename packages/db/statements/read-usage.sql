WITH
  bounds AS MATERIALIZED (
    SELECT array_agg(TIMESTAMPTZ '1970-01-01 00:00:00Z' + at * interval '1 microsecond') AS boundaries
    FROM unnest($4::bigint[]) AS at
  )
SELECT
  (
    SELECT string_agg(concat_ws(' ', key, event_count, usage), ',' ORDER BY key)
    FROM
      (
        SELECT coalesce(key, 0) AS key, sum(event_count) AS event_count, trim_scale(sum(quantity_sum)) AS usage
        FROM
          (
            SELECT found.*
            FROM
              (
                SELECT
                  TIMESTAMPTZ '1970-01-01 00:00:00Z' + since * interval '1 microsecond' AS since,
                  TIMESTAMPTZ '1970-01-01 00:00:00Z' + before * interval '1 microsecond' AS before
                FROM unnest($5::bigint[], $6::bigint[]) AS stretch (since, before)
                OFFSET 0
              ) AS stretch
              CROSS JOIN LATERAL (
                SELECT width_bucket(hour, (SELECT boundaries FROM bounds)) AS key, event_count, quantity_sum
                FROM customer_usage_hours
                WHERE
                  organization_id = $1::uuid
                  AND meter_id = $2::uuid
                  AND customer_external_id = $3::text
                  AND hour >= since
                  AND hour < before
                OFFSET 0
              ) AS found
            UNION ALL
            SELECT found.*
            FROM
              (
                SELECT
                  TIMESTAMPTZ '1970-01-01 00:00:00Z' + since * interval '1 microsecond' AS since,
                  TIMESTAMPTZ '1970-01-01 00:00:00Z' + before * interval '1 microsecond' AS before
                FROM unnest($7::bigint[], $8::bigint[]) AS stretch (since, before)
                OFFSET 0
              ) AS stretch
              CROSS JOIN LATERAL (
                SELECT customer_external_id AS customer
                FROM customer_usage_days
                WHERE
                  organization_id = $1::uuid
                  AND meter_id = $2::uuid
                  AND customer_external_id = $3::text
                  AND day = date_trunc('day', stretch.since, 'UTC')
                  AND last_timestamp >= since
                  AND true
                OFFSET 0
              ) AS someone
              CROSS JOIN LATERAL (
                SELECT
                  width_bucket("timestamp", (SELECT boundaries FROM bounds)) AS key, 1 AS event_count,
                  quantity AS quantity_sum
                FROM events
                WHERE
                  event_stream (meter_id, customer_external_id) = event_stream ($2::uuid, customer)
                  AND (organization_id = $1::uuid) IS TRUE
                  AND meter_id = $2::uuid
                  AND customer_external_id = customer
                  AND NOT EXISTS (
                    SELECT
                    FROM corrections
                    WHERE corrections.organization_id = events.organization_id AND corrections.event_id = events.id
                    OFFSET 0
                  )
                  AND "timestamp" >= since
                  AND "timestamp" < before
                OFFSET 0
              ) AS found
            UNION ALL
            SELECT width_bucket(day, (SELECT boundaries FROM bounds)) AS key, event_count, quantity_sum
            FROM customer_usage_days
            WHERE
              organization_id = $1::uuid
              AND meter_id = $2::uuid
              AND customer_external_id = $3::text
              AND day = $9::timestamptz
              AND last_timestamp < $10::timestamptz
            UNION ALL
            SELECT found.*
            FROM
              (SELECT $9::timestamptz AS since) AS stretch
              CROSS JOIN LATERAL (
                SELECT customer_external_id AS customer
                FROM customer_usage_days
                WHERE
                  organization_id = $1::uuid
                  AND meter_id = $2::uuid
                  AND customer_external_id = $3::text
                  AND day = date_trunc('day', stretch.since, 'UTC')
                  AND last_timestamp >= $10::timestamptz
                  AND true
                OFFSET 0
              ) AS someone
              CROSS JOIN LATERAL (
                SELECT width_bucket(hour, (SELECT boundaries FROM bounds)) AS key, event_count, quantity_sum
                FROM customer_usage_hours
                WHERE
                  organization_id = $1::uuid
                  AND meter_id = $2::uuid
                  AND customer_external_id = someone.customer
                  AND hour >= $9::timestamptz
                  AND hour < $10::timestamptz
                  AND last_timestamp < $10::timestamptz
                OFFSET 0
              ) AS found
            UNION ALL
            SELECT found.*
            FROM
              (SELECT $9::timestamptz AS since) AS stretch
              CROSS JOIN LATERAL (
                SELECT customer_external_id AS customer
                FROM customer_usage_days
                WHERE
                  organization_id = $1::uuid
                  AND meter_id = $2::uuid
                  AND customer_external_id = $3::text
                  AND day = date_trunc('day', stretch.since, 'UTC')
                  AND last_timestamp >= $10::timestamptz
                  AND true
                OFFSET 0
              ) AS someone
              CROSS JOIN LATERAL (
                SELECT hour
                FROM customer_usage_hours
                WHERE
                  organization_id = $1::uuid
                  AND meter_id = $2::uuid
                  AND customer_external_id = someone.customer
                  AND hour >= date_trunc('hour', $9::timestamptz, 'UTC')
                  AND hour < $10::timestamptz
                  AND last_timestamp >= $10::timestamptz
                OFFSET 0
              ) AS cut
              CROSS JOIN LATERAL (
                SELECT
                  width_bucket("timestamp", (SELECT boundaries FROM bounds)) AS key, 1 AS event_count,
                  quantity AS quantity_sum
                FROM events
                WHERE
                  event_stream (meter_id, customer_external_id) = event_stream ($2::uuid, customer)
                  AND (organization_id = $1::uuid) IS TRUE
                  AND meter_id = $2::uuid
                  AND customer_external_id = customer
                  AND NOT EXISTS (
                    SELECT
                    FROM corrections
                    WHERE corrections.organization_id = events.organization_id AND corrections.event_id = events.id
                    OFFSET 0
                  )
                  AND "timestamp" >= greatest(cut.hour, $9::timestamptz)
                  AND "timestamp" < $10::timestamptz
                OFFSET 0
              ) AS found
          ) AS counted
        GROUP BY GROUPING SETS ((key), ())
      ) AS sums
  ) AS sums, (SELECT 1) AS customers
