-- The distinct values of each whole UNIQUE_COUNT meter in one day, hour or quarter of an hour (UTC), so that reading them does
-- not grow with the customers that share a value. A stretch of time begins at a multiple of its minutes.
CREATE TABLE meter_values (
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  -- 1440, 60 or 15.
  minutes smallint NOT NULL,
  beginning timestamptz NOT NULL,
  -- See unique_value_hash.
  value_hash bytea NOT NULL,
  -- Of the events with this value: a window that ends within the stretch has the value if it ends after this.
  first_timestamp timestamptz NOT NULL,
  CONSTRAINT meter_values_pkey PRIMARY KEY (organization_id, meter_id, minutes, beginning, value_hash)
);

INSERT INTO meter_values
SELECT organization_id, meter_id, minutes, date_bin(make_interval(mins => minutes), "timestamp", TIMESTAMPTZ '2000-01-01 00:00:00Z'),
  unique_value_hash(metadata), min("timestamp")
FROM events CROSS JOIN (VALUES (1440::smallint), (60::smallint), (15::smallint)) AS sizes (minutes)
WHERE (organization_id, meter_id) IN (SELECT m.organization_id, m.id FROM meters m WHERE m.aggregation_type = 'UNIQUE_COUNT')
GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5;
