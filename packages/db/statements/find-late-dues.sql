SELECT d.subscription_id, d.cycle, d.charge_id, 'USAGE' AS type, d.rebilling
FROM
  (SELECT * FROM subscriptions WHERE organization_id = $1::uuid AND id = ANY ($2::uuid[]) OFFSET 0) AS s
  CROSS JOIN LATERAL (
    WITH RECURSIVE
      known AS (
        (
          SELECT meter_id, customer_external_id
          FROM dues
          WHERE
            uuid_hash_extended (subscription_id, 0) = uuid_hash_extended (s.id, 0)
            AND meter_id IS NOT NULL
            AND true
          ORDER BY meter_id, customer_external_id
          LIMIT 1
        )
        UNION ALL
        SELECT next.*
        FROM
          known
          CROSS JOIN LATERAL (
            SELECT meter_id, customer_external_id
            FROM dues
            WHERE
              uuid_hash_extended (subscription_id, 0) = uuid_hash_extended (s.id, 0)
              AND meter_id IS NOT NULL
              AND (meter_id, customer_external_id) > (known.meter_id, known.customer_external_id)
            ORDER BY meter_id, customer_external_id
            LIMIT 1
          ) AS next
      )
    SELECT *
    FROM known
  ) AS billed
  CROSS JOIN LATERAL (
    SELECT
    FROM late_events
    WHERE
      organization_id = s.organization_id
      AND meter_id = billed.meter_id
      AND customer_external_id = billed.customer_external_id
      AND closing > 0
      AND closing >= s.closing
      AND closing < $3::bigint
    ORDER BY closing
    LIMIT 1
  ) AS waiting
  CROSS JOIN LATERAL (
    SELECT *
    FROM dues
    WHERE
      uuid_hash_extended (subscription_id, 0) = uuid_hash_extended (s.id, 0)
      AND meter_id IS NOT NULL
      AND (organization_id = s.organization_id) IS TRUE
      AND (subscription_id = s.id) IS TRUE
      AND meter_id = billed.meter_id
      AND customer_external_id = billed.customer_external_id
      AND closing IS NOT NULL
    OFFSET 0
  ) AS d
  CROSS JOIN LATERAL (
    SELECT
    FROM late_events
    WHERE
      organization_id = d.organization_id
      AND meter_id = d.meter_id
      AND customer_external_id = d.customer_external_id
      AND "timestamp" >= d.period_start
      AND "timestamp" < d.period_end
      AND closing >= greatest(s.closing, d.closing)
      AND closing < $4::bigint
    ORDER BY "timestamp"
    LIMIT 1
  ) AS late
ORDER BY d.subscription_id, d.period_start, d.cycle, d.charge_id
