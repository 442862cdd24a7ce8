-- The distinct values of whole meters by the day alone, with the quarters of an hour in which each was there: a day of any zone
-- whose clocks are whole quarters from UTC is read from the rows of the two or three UTC days that it is cut out of, where it
-- was read from those of its 24 hours. Workers of an older version cannot record any more once this is applied: let
-- them empty the queue first.

-- The quarter of an hour that a time lies in, as one of the 96 bits of its day (UTC): the first quarter is the leftmost.
CREATE FUNCTION quarter_bit("timestamp" timestamptz) RETURNS bit LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN B'1'::bit(96) >> floor(extract(epoch FROM
  "timestamp" - date_bin('1 day', "timestamp", TIMESTAMPTZ '2000-01-01 00:00:00Z')) / 900)::integer;

-- The distinct values of each whole UNIQUE_COUNT meter on one day (UTC), by its first instant. A value that comes again changes
-- its row once in each quarter of an hour, and one batch may change all rows of a page: half of it is room for their new versions.
CREATE TABLE meter_value_days (
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  day timestamptz NOT NULL,
  -- See unique_value_hash.
  value_hash bytea NOT NULL,
  -- Those in which there is an event with the value: see quarter_bit.
  quarters bit(96) NOT NULL,
  CONSTRAINT meter_value_days_pkey PRIMARY KEY (organization_id, meter_id, day, value_hash)
) WITH (fillfactor = 50);

-- The same in one quarter of an hour (UTC): for windows that end within it, and for buckets of an hour or less, of which a day
-- would be read with all of its values.
CREATE TABLE meter_value_quarters (
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  quarter timestamptz NOT NULL,
  -- Of the events with this value: a window that ends within the quarter has the value if it ends after this.
  first_timestamp timestamptz NOT NULL,
  value_hash bytea NOT NULL,
  CONSTRAINT meter_value_quarters_pkey PRIMARY KEY (organization_id, meter_id, quarter, value_hash)
);

-- What a worker would add between the copy and the end of the table would be lost.
LOCK TABLE meter_values;
INSERT INTO meter_value_quarters (organization_id, meter_id, quarter, first_timestamp, value_hash)
SELECT organization_id, meter_id, beginning, first_timestamp, value_hash
FROM meter_values WHERE minutes = 15 ORDER BY organization_id, meter_id, beginning, value_hash;

INSERT INTO meter_value_days (organization_id, meter_id, day, value_hash, quarters)
SELECT organization_id, meter_id, date_trunc('day', beginning, 'UTC'), value_hash, bit_or(quarter_bit(beginning))
FROM meter_values WHERE minutes = 15 GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4;

DROP TABLE meter_values;
