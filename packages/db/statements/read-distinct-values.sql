WITH
  bounds AS MATERIALIZED (
    SELECT array_agg(TIMESTAMPTZ '1970-01-01 00:00:00Z' + at * interval '1 microsecond') AS boundaries
    FROM unnest($3::bigint[]) AS at
  )
SELECT
  (
    SELECT string_agg(concat_ws(' ', key, event_count, usage), ',' ORDER BY key)
    FROM
      (
        SELECT key, event_count, usage
        FROM
          (
            SELECT *
            FROM
              (
                SELECT key, event_count
                FROM
                  (
                    SELECT
                      coalesce(key, 0) AS key, sum(event_count) AS event_count,
                      trim_scale(sum(event_count)) AS usage
                    FROM
                      (
                        SELECT found.*
                        FROM
                          (
                            SELECT
                              TIMESTAMPTZ '1970-01-01 00:00:00Z' + since * interval '1 microsecond' AS since,
                              TIMESTAMPTZ '1970-01-01 00:00:00Z' + before * interval '1 microsecond' AS before
                            FROM unnest($4::bigint[], $5::bigint[]) AS stretch (since, before)
                            OFFSET 0
                          ) AS stretch
                          CROSS JOIN LATERAL (
                            SELECT width_bucket(quarter, (SELECT boundaries FROM bounds)) AS key, event_count
                            FROM meter_usage_quarters
                            WHERE
                              organization_id = $1::uuid
                              AND meter_id = $2::uuid
                              AND quarter >= since
                              AND quarter < before
                            OFFSET 0
                          ) AS found
                        UNION ALL
                        SELECT width_bucket(quarter, (SELECT boundaries FROM bounds)) AS key, event_count
                        FROM meter_usage_quarters
                        WHERE
                          organization_id = $1::uuid
                          AND meter_id = $2::uuid
                          AND quarter >= $6::timestamptz
                          AND quarter < $7::timestamptz
                          AND NOT EXISTS (
                            SELECT
                            FROM meter_usage_quarters
                            WHERE
                              organization_id = $1::uuid
                              AND meter_id = $2::uuid
                              AND quarter >= $6::timestamptz
                              AND quarter < $7::timestamptz
                              AND last_timestamp >= $7::timestamptz
                          )
                        UNION ALL
                        SELECT found.*
                        FROM
                          (SELECT $6::timestamptz AS since) AS stretch
                          CROSS JOIN LATERAL (
                            SELECT customer_external_id AS customer
                            FROM customer_usage_days
                            WHERE
                              uuid_hash_extended (meter_id, 0) = uuid_hash_extended ($2::uuid, 0)
                              AND (organization_id = $1::uuid) IS TRUE
                              AND (meter_id = $2::uuid) IS TRUE
                              AND day = date_trunc('day', stretch.since, 'UTC')
                              AND last_timestamp >= $6::timestamptz
                              AND EXISTS (
                                SELECT
                                FROM meter_usage_quarters
                                WHERE
                                  organization_id = $1::uuid
                                  AND meter_id = $2::uuid
                                  AND quarter >= $6::timestamptz
                                  AND quarter < $7::timestamptz
                                  AND last_timestamp >= $7::timestamptz
                              )
                            OFFSET 0
                          ) AS someone
                          CROSS JOIN LATERAL (
                            SELECT width_bucket(hour, (SELECT boundaries FROM bounds)) AS key, event_count
                            FROM customer_usage_hours
                            WHERE
                              organization_id = $1::uuid
                              AND meter_id = $2::uuid
                              AND customer_external_id = someone.customer
                              AND hour >= $6::timestamptz
                              AND hour < $7::timestamptz
                              AND last_timestamp < $7::timestamptz
                            OFFSET 0
                          ) AS found
                        UNION ALL
                        SELECT found.*
                        FROM
                          (SELECT $6::timestamptz AS since) AS stretch
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
                                  AND quarter >= $6::timestamptz
                                  AND quarter < $7::timestamptz
                                  AND last_timestamp >= $7::timestamptz
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
                              AND hour >= date_trunc('hour', $6::timestamptz, 'UTC')
                              AND hour < $7::timestamptz
                              AND last_timestamp >= $7::timestamptz
                            OFFSET 0
                          ) AS cut
                          CROSS JOIN LATERAL (
                            SELECT
                              width_bucket("timestamp", (SELECT boundaries FROM bounds)) AS key, 1 AS event_count
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
                              AND "timestamp" >= greatest(cut.hour, $6::timestamptz)
                              AND "timestamp" < $7::timestamptz
                            OFFSET 0
                          ) AS found
                      ) AS counted
                    GROUP BY GROUPING SETS ((key), ())
                  ) AS each
              ) AS summed
              FULL JOIN (
                WITH
                  uniques AS MATERIALIZED (
                    SELECT value_hash, key / 32 AS word, bit_or(1 << key % 32) AS buckets
                    FROM
                      (
                        SELECT stretch.key AS key, value_hash
                        FROM
                          (
                            SELECT *
                            FROM
                              (
                                SELECT *
                                FROM meter_value_days
                                WHERE
                                  organization_id = $1::uuid
                                  AND meter_id = $2::uuid
                                  AND day >= date_trunc('day', $8::timestamptz, 'UTC')
                                  AND day < $6::timestamptz
                              ) AS kept
                              FULL JOIN (
                                SELECT
                                  date_trunc('day', since, 'UTC') AS day, min(since) AS first,
                                  array_agg(width_bucket(since, (SELECT boundaries FROM bounds))) AS keys,
                                  array_agg(
                                    ~ (~ B'0'::bit(96) >> (extract(epoch FROM before - since) / 900)::integer) >> (
                                      extract(epoch FROM since - date_trunc('day', since, 'UTC')) / 900
                                    )::integer
                                  ) AS masks
                                FROM
                                  (
                                    SELECT
                                      TIMESTAMPTZ '1970-01-01 00:00:00Z' + since * interval '1 microsecond' AS since,
                                      TIMESTAMPTZ '1970-01-01 00:00:00Z' + before * interval '1 microsecond' AS before
                                    FROM unnest($9::bigint[], $10::bigint[]) AS stretch (since, before)
                                    OFFSET 0
                                  ) AS stretch
                                GROUP BY 1
                              ) AS days USING (day)
                            OFFSET 0
                          ) AS joined
                          CROSS JOIN LATERAL unnest(keys, masks) AS stretch (key, mask)
                        WHERE meter_id IS NOT NULL AND quarters & stretch.mask <> B'0'::bit(96)
                        UNION ALL
                        SELECT width_bucket($6::timestamptz, (SELECT boundaries FROM bounds)) AS key, value_hash
                        FROM meter_value_days
                        WHERE
                          organization_id = $1::uuid
                          AND meter_id = $2::uuid
                          AND day = date_trunc('day', $6::timestamptz, 'UTC')
                          AND quarters & quarter_bit ($6::timestamptz) <> B'0'::bit(96)
                          AND NOT EXISTS (
                            SELECT
                            FROM meter_usage_quarters
                            WHERE
                              organization_id = $1::uuid
                              AND meter_id = $2::uuid
                              AND quarter >= $6::timestamptz
                              AND quarter < $7::timestamptz
                              AND last_timestamp >= $7::timestamptz
                          )
                        UNION ALL
                        SELECT found.*
                        FROM
                          (SELECT $6::timestamptz AS since) AS stretch
                          CROSS JOIN LATERAL (
                            SELECT customer_external_id AS customer
                            FROM customer_usage_days
                            WHERE
                              uuid_hash_extended (meter_id, 0) = uuid_hash_extended ($2::uuid, 0)
                              AND (organization_id = $1::uuid) IS TRUE
                              AND (meter_id = $2::uuid) IS TRUE
                              AND day = date_trunc('day', stretch.since, 'UTC')
                              AND last_timestamp >= $6::timestamptz
                              AND EXISTS (
                                SELECT
                                FROM meter_usage_quarters
                                WHERE
                                  organization_id = $1::uuid
                                  AND meter_id = $2::uuid
                                  AND quarter >= $6::timestamptz
                                  AND quarter < $7::timestamptz
                                  AND last_timestamp >= $7::timestamptz
                              )
                            OFFSET 0
                          ) AS someone
                          CROSS JOIN LATERAL (
                            SELECT
                            FROM customer_usage_hours
                            WHERE
                              organization_id = $1::uuid
                              AND meter_id = $2::uuid
                              AND customer_external_id = someone.customer
                              AND hour = date_trunc('hour', $6::timestamptz, 'UTC')
                              AND last_timestamp < $7::timestamptz
                            OFFSET 0
                          ) AS over
                          CROSS JOIN LATERAL (
                            SELECT width_bucket($6::timestamptz, (SELECT boundaries FROM bounds)) AS key, value_hash
                            FROM customer_value_days
                            WHERE
                              organization_id = $1::uuid
                              AND meter_id = $2::uuid
                              AND customer_external_id = someone.customer
                              AND day = date_trunc('day', $6::timestamptz, 'UTC')
                              AND quarters & quarter_bit ($6::timestamptz) <> B'0'::bit(96)
                            OFFSET 0
                          ) AS found
                        UNION ALL
                        SELECT found.*
                        FROM
                          (SELECT $6::timestamptz AS since) AS stretch
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
                                  AND quarter >= $6::timestamptz
                                  AND quarter < $7::timestamptz
                                  AND last_timestamp >= $7::timestamptz
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
                              AND hour >= date_trunc('hour', $6::timestamptz, 'UTC')
                              AND hour < $7::timestamptz
                              AND last_timestamp >= $7::timestamptz
                            OFFSET 0
                          ) AS cut
                          CROSS JOIN LATERAL (
                            SELECT
                              width_bucket("timestamp", (SELECT boundaries FROM bounds)) AS key,
                              unique_value_hash (metadata) AS value_hash
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
                              AND "timestamp" >= greatest(cut.hour, $6::timestamptz)
                              AND "timestamp" < $7::timestamptz
                            OFFSET 0
                          ) AS found
                      ) AS each
                    WHERE value_hash IS NOT NULL
                    GROUP BY 1, 2
                  )
                SELECT word * 32 + bit::integer - 1 AS key, usage::numeric
                FROM
                  (
                    SELECT
                      word,
                      ARRAY[
                        count(*) FILTER (WHERE buckets >> 0 & 1 = 1), count(*) FILTER (WHERE buckets >> 1 & 1 = 1),
                        count(*) FILTER (WHERE buckets >> 2 & 1 = 1), count(*) FILTER (WHERE buckets >> 3 & 1 = 1),
                        count(*) FILTER (WHERE buckets >> 4 & 1 = 1), count(*) FILTER (WHERE buckets >> 5 & 1 = 1),
                        count(*) FILTER (WHERE buckets >> 6 & 1 = 1), count(*) FILTER (WHERE buckets >> 7 & 1 = 1),
                        count(*) FILTER (WHERE buckets >> 8 & 1 = 1), count(*) FILTER (WHERE buckets >> 9 & 1 = 1),
                        count(*) FILTER (WHERE buckets >> 10 & 1 = 1),
                        count(*) FILTER (WHERE buckets >> 11 & 1 = 1),
                        count(*) FILTER (WHERE buckets >> 12 & 1 = 1),
                        count(*) FILTER (WHERE buckets >> 13 & 1 = 1),
                        count(*) FILTER (WHERE buckets >> 14 & 1 = 1),
                        count(*) FILTER (WHERE buckets >> 15 & 1 = 1),
                        count(*) FILTER (WHERE buckets >> 16 & 1 = 1),
                        count(*) FILTER (WHERE buckets >> 17 & 1 = 1),
                        count(*) FILTER (WHERE buckets >> 18 & 1 = 1),
                        count(*) FILTER (WHERE buckets >> 19 & 1 = 1),
                        count(*) FILTER (WHERE buckets >> 20 & 1 = 1),
                        count(*) FILTER (WHERE buckets >> 21 & 1 = 1),
                        count(*) FILTER (WHERE buckets >> 22 & 1 = 1),
                        count(*) FILTER (WHERE buckets >> 23 & 1 = 1),
                        count(*) FILTER (WHERE buckets >> 24 & 1 = 1),
                        count(*) FILTER (WHERE buckets >> 25 & 1 = 1),
                        count(*) FILTER (WHERE buckets >> 26 & 1 = 1),
                        count(*) FILTER (WHERE buckets >> 27 & 1 = 1),
                        count(*) FILTER (WHERE buckets >> 28 & 1 = 1),
                        count(*) FILTER (WHERE buckets >> 29 & 1 = 1),
                        count(*) FILTER (WHERE buckets >> 30 & 1 = 1), count(*) FILTER (WHERE buckets >> 31 & 1 = 1)
                      ] AS counts
                    FROM uniques
                    GROUP BY word
                  ) AS words, unnest(counts) WITH ORDINALITY AS counted (usage, bit)
                WHERE usage > 0
                UNION ALL
                SELECT 0, count(*)::numeric
                FROM (SELECT FROM uniques GROUP BY value_hash) AS in_all
              ) AS uniques USING (key)
            OFFSET 0
          ) AS joined
        WHERE event_count IS NOT NULL AND usage IS NOT NULL
      ) AS sums
  ) AS sums,
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
                  AND day >= date_trunc('day', $8::timestamptz, 'UTC')
                  AND day < $7::timestamptz
                  AND last_timestamp >= $8::timestamptz
                  AND last_timestamp < $7::timestamptz
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
                  AND day >= date_trunc('day', $8::timestamptz, 'UTC')
                  AND day < $7::timestamptz
                  AND last_timestamp >= $8::timestamptz
                  AND last_timestamp < $7::timestamptz
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
              AND day = date_trunc('day', $7::timestamptz, 'UTC')
              AND last_timestamp >= $7::timestamptz
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
              AND "timestamp" >= greatest($8::timestamptz, kept.day)
              AND "timestamp" < $7::timestamptz
            ORDER BY "timestamp"
            LIMIT 1
          ) AS before_end
      ) AS present
  ) AS customers, NULL AS taken_out
