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
  ) AS sums, (SELECT 1) AS customers,
  (
    WITH
      complete AS MATERIALIZED (
        SELECT
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
                    $13::timestamptz - (SELECT ahead_seconds_max FROM installation) * interval '1 second',
                    (SELECT min(created_at) FROM organizations WHERE organizations.id = $1::uuid)
                  ) AT TIME ZONE 'UTC'
                ), clock_timestamp() AT TIME ZONE 'UTC', interval '1 month'
              ) AS month
            WHERE
              NOT EXISTS (
                SELECT
                FROM pg_partition_ancestors(to_regclass(to_char(month, '"events_"YYYY_MM'))) AS ancestor (relid)
                WHERE relid = 'events'::regclass
              )
          ) AS at
      )
    SELECT
      (
        SELECT to_char(month, 'YYYY-MM')
        FROM
          generate_series(
            date_trunc(
              'month',
              greatest(
                short.hour - (SELECT ahead_seconds_max FROM installation) * interval '1 second',
                (SELECT min(created_at) FROM organizations WHERE organizations.id = $1::uuid)
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
            FROM unnest(ARRAY[short.last_event_id]) AS counted (id)
            WHERE
              counted.id >= first_event_id (month AT TIME ZONE 'UTC')
              AND counted.id < first_event_id ((month + interval '1 month') AT TIME ZONE 'UTC')
          ), month
        LIMIT 1
      )
    FROM
      (
        SELECT hour, last_event_id
        FROM
          (
            SELECT kept.*
            FROM
              (
                SELECT
                  TIMESTAMPTZ '1970-01-01 00:00:00Z' + since * interval '1 microsecond' AS since,
                  TIMESTAMPTZ '1970-01-01 00:00:00Z' + before * interval '1 microsecond' AS before
                FROM unnest($11::bigint[], $12::bigint[]) AS stretch (since, before)
                OFFSET 0
              ) AS stretch
              CROSS JOIN LATERAL (
                SELECT hour, event_count, last_event_id
                FROM customer_usage_hours
                WHERE
                  organization_id = $1::uuid
                  AND meter_id = $2::uuid
                  AND customer_external_id = $3::text
                  AND hour >= date_trunc('hour', since, 'UTC')
                  AND hour < before
                  AND hour < (SELECT at FROM complete)
                OFFSET 0
              ) AS kept
            UNION ALL
            SELECT kept.*
            FROM
              (SELECT $9::timestamptz AS since, $10::timestamptz AS before) AS stretch
              CROSS JOIN LATERAL (
                SELECT hour, event_count, last_event_id
                FROM customer_usage_hours
                WHERE
                  organization_id = $1::uuid
                  AND meter_id = $2::uuid
                  AND customer_external_id = $3::text
                  AND hour >= date_trunc('hour', since, 'UTC')
                  AND hour < before
                  AND last_timestamp >= $10::timestamptz
                  AND hour < (SELECT at FROM complete)
                OFFSET 0
              ) AS kept
          ) AS cut
        WHERE
          event_count <> (
            SELECT count(*)
            FROM events
            WHERE
              event_stream (meter_id, customer_external_id) = event_stream ($2::uuid, $3::text)
              AND (organization_id = $1::uuid) IS TRUE
              AND meter_id = $2::uuid
              AND customer_external_id = $3::text
              AND NOT EXISTS (
                SELECT
                FROM corrections
                WHERE corrections.organization_id = events.organization_id AND corrections.event_id = events.id
                OFFSET 0
              )
              AND "timestamp" >= hour
              AND "timestamp" < hour + interval '1 hour'
          )
        ORDER BY hour
        LIMIT 1
      ) AS short
  ) AS taken_out
