WITH
  bounds AS MATERIALIZED (
    SELECT array_agg(TIMESTAMPTZ '1970-01-01 00:00:00Z' + at * interval '1 microsecond') AS boundaries
    FROM unnest($4::bigint[]) AS at
  ),
  chosen AS MATERIALIZED (
    SELECT DISTINCT group_hash, value, dense_rank() OVER (ORDER BY value COLLATE "C") AS nth
    FROM
      (
        SELECT group_hash, group_values[1] AS value
        FROM metadata_groups
        WHERE
          organization_id = $1::uuid
          AND meter_id = $2::uuid
          AND day >= date_trunc('day', $10::timestamptz, 'UTC')
          AND day < $8::timestamptz
          AND group_values[2] = group_value ($11::text)
      ) AS kept
  ),
  counted AS MATERIALIZED (
    SELECT key, coalesce(nth, 0) AS nth, sum(event_count) AS event_count, sum(quantity_sum) AS quantity_sum
    FROM
      (
        SELECT *
        FROM
          (
            SELECT true AS is_found, *
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
                    SELECT
                      width_bucket(quarter, (SELECT boundaries FROM bounds)) AS key, group_hash, event_count,
                      quantity_sum
                    FROM meter_group_quarters
                    WHERE
                      organization_id = $1::uuid
                      AND meter_id = $2::uuid
                      AND quarter >= since
                      AND quarter < before
                    OFFSET 0
                  ) AS found
                UNION ALL
                SELECT
                  width_bucket(quarter, (SELECT boundaries FROM bounds)) AS key, group_hash, event_count,
                  quantity_sum
                FROM meter_group_quarters
                WHERE
                  organization_id = $1::uuid
                  AND meter_id = $2::uuid
                  AND quarter >= $7::timestamptz
                  AND quarter < $8::timestamptz
                  AND NOT EXISTS (
                    SELECT
                    FROM meter_usage_quarters
                    WHERE
                      organization_id = $1::uuid
                      AND meter_id = $2::uuid
                      AND quarter >= $7::timestamptz
                      AND quarter < $8::timestamptz
                      AND last_timestamp >= $8::timestamptz
                  )
                UNION ALL
                SELECT found.*
                FROM
                  (SELECT $7::timestamptz AS since) AS stretch
                  CROSS JOIN LATERAL (
                    SELECT customer_external_id AS customer
                    FROM customer_usage_days
                    WHERE
                      uuid_hash_extended (meter_id, 0) = uuid_hash_extended ($2::uuid, 0)
                      AND (organization_id = $1::uuid) IS TRUE
                      AND (meter_id = $2::uuid) IS TRUE
                      AND day = date_trunc('day', stretch.since, 'UTC')
                      AND last_timestamp >= $7::timestamptz
                      AND EXISTS (
                        SELECT
                        FROM meter_usage_quarters
                        WHERE
                          organization_id = $1::uuid
                          AND meter_id = $2::uuid
                          AND quarter >= $7::timestamptz
                          AND quarter < $8::timestamptz
                          AND last_timestamp >= $8::timestamptz
                      )
                    OFFSET 0
                  ) AS someone
                  CROSS JOIN LATERAL (
                    SELECT
                      width_bucket(hour, (SELECT boundaries FROM bounds)) AS key, group_hash, event_count,
                      quantity_sum
                    FROM customer_group_hours
                    WHERE
                      organization_id = $1::uuid
                      AND meter_id = $2::uuid
                      AND customer_external_id = someone.customer
                      AND hour >= $7::timestamptz
                      AND hour < $8::timestamptz
                      AND hour IN (
                        SELECT hour
                        FROM customer_usage_hours
                        WHERE
                          organization_id = $1::uuid
                          AND meter_id = $2::uuid
                          AND customer_external_id = someone.customer
                          AND hour >= $7::timestamptz
                          AND hour < $8::timestamptz
                          AND last_timestamp < $8::timestamptz
                      )
                    OFFSET 0
                  ) AS found
                UNION ALL
                SELECT found.*
                FROM
                  (SELECT $7::timestamptz AS since) AS stretch
                  CROSS JOIN LATERAL (
                    SELECT customer_external_id AS customer
                    FROM customer_usage_days
                    WHERE
                      uuid_hash_extended (meter_id, 0) = uuid_hash_extended ($2::uuid, 0)
                      AND (organization_id = $1::uuid) IS TRUE
                      AND (meter_id = $2::uuid) IS TRUE
                      AND day = date_trunc('day', stretch.since, 'UTC')
                      AND last_timestamp >= $8::timestamptz
                      AND EXISTS (
                        SELECT
                        FROM meter_usage_quarters
                        WHERE
                          organization_id = $1::uuid
                          AND meter_id = $2::uuid
                          AND quarter >= $7::timestamptz
                          AND quarter < $8::timestamptz
                          AND last_timestamp >= $8::timestamptz
                      )
                    OFFSET 0
                  ) AS someone
                  CROSS JOIN LATERAL (
                    SELECT hour
                    FROM customer_usage_hours
                    WHERE
                      organization_id = $1::uuid
                      AND meter_id = $2::uuid
                      AND customer_external_id = someone.customer
                      AND hour >= date_trunc('hour', $7::timestamptz, 'UTC')
                      AND hour < $8::timestamptz
                      AND last_timestamp >= $8::timestamptz
                    OFFSET 0
                  ) AS cut
                  CROSS JOIN LATERAL (
                    SELECT
                      width_bucket("timestamp", (SELECT boundaries FROM bounds)) AS key,
                      group_of (organization_id, meter_id, $3::text[], "timestamp", metadata) AS group_hash,
                      1 AS event_count, quantity AS quantity_sum
                    FROM events
                    WHERE
                      event_stream (meter_id, customer_external_id) = event_stream ($2::uuid, customer)
                      AND (organization_id = $1::uuid) IS TRUE
                      AND meter_id = $2::uuid
                      AND customer_external_id = customer
                      AND NOT EXISTS (
                        SELECT
                        FROM corrections
                        WHERE
                          corrections.organization_id = events.organization_id
                          AND corrections.event_id = events.id
                        OFFSET 0
                      )
                      AND "timestamp" >= greatest(cut.hour, $7::timestamptz)
                      AND "timestamp" < $8::timestamptz
                    OFFSET 0
                  ) AS found
              ) AS each
          ) AS found
          FULL JOIN chosen USING (group_hash)
        OFFSET 0
      ) AS joined
    WHERE is_found AND (nth IS NOT NULL OR group_hash = '00000000-0000-0000-0000-000000000000'::uuid)
    GROUP BY 1, 2
  ),
  whole AS MATERIALIZED (
    SELECT nth, sum(event_count) AS event_count, sum(quantity_sum) AS usage
    FROM counted
    GROUP BY nth
  ),
  placed AS MATERIALIZED (
    SELECT nth, CASE WHEN nth > 0 AND place <= $9::bigint THEN place ELSE 0 END AS series
    FROM (SELECT nth, row_number() OVER (ORDER BY nth = 0, usage DESC, nth) AS place FROM whole) AS ranked
  ),
  summed AS (
    SELECT
      CASE WHEN grouping(series) = 1 THEN -1 ELSE series
      END AS series, CASE WHEN grouping(key) = 1 THEN 0 ELSE key
      END AS key, sum(event_count) AS event_count, trim_scale(sum(quantity_sum)) AS usage
    FROM (SELECT * FROM counted FULL JOIN placed USING (nth) OFFSET 0) AS joined
    WHERE key IS NOT NULL AND nth > 0
    GROUP BY GROUPING SETS ((series, key), (series), (key), ())
  )
SELECT
  (
    SELECT json_object_agg(series, sums)
    FROM
      (
        SELECT series, string_agg(concat_ws(' ', key, event_count, usage), ',' ORDER BY key) AS sums
        FROM summed
        GROUP BY series
      ) AS written
  ) AS sums,
  (
    SELECT json_agg(json_build_array(series, value) ORDER BY series)
    FROM
      (
        SELECT *
        FROM placed FULL JOIN (SELECT DISTINCT nth, value FROM chosen) AS named USING (nth)
        OFFSET 0
      ) AS joined
    WHERE series > 0
  ) AS groups, (SELECT event_count FROM whole WHERE nth = 0) AS overflow,
  (
    SELECT count(*)
    FROM
      (
        SELECT customer
        FROM
          (
            WITH RECURSIVE
              someone AS (
                (
                  SELECT customer_external_id AS customer
                  FROM customer_usage_days
                  WHERE organization_id = $1::uuid AND meter_id = $2::uuid
                  ORDER BY customer_external_id
                  LIMIT 1
                )
                UNION ALL
                SELECT
                  (
                    SELECT customer_external_id AS customer
                    FROM customer_usage_days
                    WHERE
                      organization_id = $1::uuid
                      AND meter_id = $2::uuid
                      AND customer_external_id > someone.customer
                    ORDER BY customer_external_id
                    LIMIT 1
                  )
                FROM someone
                WHERE someone.customer IS NOT NULL
              ), passed AS MATERIALIZED (SELECT count(*) AS count FROM (SELECT FROM someone LIMIT 10001) AS first),
              of_days AS MATERIALIZED (
                SELECT customer_external_id AS customer
                FROM customer_usage_days
                WHERE
                  (SELECT count FROM passed) > 10000
                  AND uuid_hash_extended (meter_id, 0) = uuid_hash_extended ($2::uuid, 0)
                  AND (organization_id = $1::uuid) IS TRUE
                  AND (meter_id = $2::uuid) IS TRUE
                  AND day >= date_trunc('day', $10::timestamptz, 'UTC')
                  AND day < $8::timestamptz
                  AND last_timestamp >= $10::timestamptz
                  AND last_timestamp < $8::timestamptz
                LIMIT 1000001
              ),
              shorter AS MATERIALIZED (
                SELECT (SELECT count FROM passed) > 10000 AND (SELECT count(*) FROM of_days) <= 1000000 AS is_by_day
              )
            SELECT customer
            FROM of_days
            WHERE (SELECT is_by_day FROM shorter)
            UNION ALL
            SELECT customer
            FROM
              (SELECT customer FROM someone WHERE customer IS NOT NULL OFFSET 0) AS someone
              CROSS JOIN LATERAL (
                SELECT
                FROM customer_usage_days
                WHERE
                  organization_id = $1::uuid
                  AND meter_id = $2::uuid
                  AND customer_external_id = someone.customer
                  AND day >= date_trunc('day', $10::timestamptz, 'UTC')
                  AND day < $8::timestamptz
                  AND last_timestamp >= $10::timestamptz
                  AND last_timestamp < $8::timestamptz
                ORDER BY day
                LIMIT 1
              ) AS present
            WHERE NOT (SELECT is_by_day FROM shorter)
          ) AS walked
        UNION
        SELECT customer
        FROM
          (
            SELECT customer_external_id AS customer, day
            FROM customer_usage_days
            WHERE
              uuid_hash_extended (meter_id, 0) = uuid_hash_extended ($2::uuid, 0)
              AND (organization_id = $1::uuid) IS TRUE
              AND (meter_id = $2::uuid) IS TRUE
              AND day = date_trunc('day', $8::timestamptz, 'UTC')
              AND last_timestamp >= $8::timestamptz
            OFFSET 0
          ) AS kept
          CROSS JOIN LATERAL (
            SELECT
            FROM events
            WHERE
              event_stream (meter_id, customer_external_id) = event_stream ($2::uuid, kept.customer)
              AND (organization_id = $1::uuid) IS TRUE
              AND meter_id = $2::uuid
              AND customer_external_id = kept.customer
              AND NOT EXISTS (
                SELECT
                FROM corrections
                WHERE corrections.organization_id = events.organization_id AND corrections.event_id = events.id
                OFFSET 0
              )
              AND "timestamp" >= greatest($10::timestamptz, kept.day)
              AND "timestamp" < $8::timestamptz
            ORDER BY "timestamp"
            LIMIT 1
          ) AS before_end
      ) AS present
    WHERE
      CASE
        WHEN EXISTS (
          SELECT
          FROM customer_group_hours
          WHERE
            organization_id = $1::uuid
            AND meter_id = $2::uuid
            AND customer_external_id = present.customer
            AND (group_hash IN (SELECT group_hash FROM chosen)) IS TRUE
            AND hour >= date_trunc('hour', $10::timestamptz, 'UTC')
            AND hour < $8::timestamptz
            AND last_timestamp >= $10::timestamptz
            AND last_timestamp < $8::timestamptz
        ) THEN true
        ELSE EXISTS (
          SELECT
          FROM
            (
              SELECT hour, group_hash
              FROM customer_group_hours
              WHERE
                organization_id = $1::uuid
                AND meter_id = $2::uuid
                AND customer_external_id = present.customer
                AND (group_hash IN (SELECT group_hash FROM chosen)) IS TRUE
                AND hour = date_trunc('hour', $8::timestamptz, 'UTC')
                AND last_timestamp >= $8::timestamptz
              OFFSET 0
            ) AS kept
            CROSS JOIN LATERAL (
              SELECT
              FROM events
              WHERE
                event_stream (meter_id, customer_external_id) = event_stream ($2::uuid, present.customer)
                AND (organization_id = $1::uuid) IS TRUE
                AND meter_id = $2::uuid
                AND customer_external_id = present.customer
                AND NOT EXISTS (
                  SELECT
                  FROM corrections
                  WHERE corrections.organization_id = events.organization_id AND corrections.event_id = events.id
                  OFFSET 0
                )
                AND "timestamp" >= greatest($10::timestamptz, kept.hour)
                AND "timestamp" < $8::timestamptz
                AND group_of (organization_id, meter_id, $3::text[], "timestamp", metadata) = kept.group_hash
              ORDER BY "timestamp"
              LIMIT 1
            ) AS before_end
        )
      END
  ) AS customers, NULL AS taken_out,
  EXISTS (SELECT FROM meters WHERE organization_id = $1::uuid AND id = $2::uuid AND metadata_keys = $3::text[])
  AND NOT EXISTS (
    SELECT
    FROM metadata_backfills
    WHERE organization_id = $1::uuid AND meter_id = $2::uuid
  ) AS is_ready
