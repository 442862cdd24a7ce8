-- Usage by the day, and of whole meters by the quarter of an hour, so that no read adds up more than it must; and less disk
-- for each event. Workers of an older version cannot record any more once this is applied: they keep their batches and try
-- again until they are replaced.

-- The smallest id, a UUIDv7, of a millisecond: what bounds the partitions of events.
CREATE FUNCTION first_event_id(since timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (lpad(to_hex((extract(epoch FROM since) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid;

-- The time of receipt of an event is in its id: nothing else holds it, and the ids of a month are what a partition is made of.
ALTER TABLE events RENAME TO events_until_0006;
ALTER INDEX events_pkey RENAME TO events_until_0006_pkey;
CREATE TABLE events (
  id uuid NOT NULL,
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  "timestamp" timestamptz NOT NULL,
  customer_external_id text NOT NULL,
  quantity numeric NOT NULL,
  idempotency_key text,
  -- As it was sent, to the letter. jsonb takes more time to make and more room.
  metadata json,
  CONSTRAINT events_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT events_quantity_check CHECK (quantity > 0)
) PARTITION BY RANGE (id);

-- Months are made ahead by the workers. What falls outside all of them is kept here and moved when its month is made.
ALTER TABLE events_default RENAME TO events_default_until_0006;
CREATE TABLE events_default PARTITION OF events DEFAULT;
DO $$
DECLARE
  month regclass;
  since timestamptz;
BEGIN
  FOR month IN SELECT inhrelid FROM pg_inherits
    WHERE inhparent = 'events_until_0006'::regclass AND inhrelid <> 'events_default_until_0006'::regclass
  LOOP
    since := to_timestamp(replace(substring(month::text FROM '\d{4}_\d{2}$'), '_', '-') || '-01 00:00:00Z', 'YYYY-MM-DD HH24:MI:SSTZ');
    EXECUTE format('ALTER TABLE %s RENAME TO %I', month, month::text || '_until_0006');
    EXECUTE format('CREATE TABLE %I PARTITION OF events FOR VALUES FROM (%L) TO (%L)', 'events_' || to_char(since AT TIME ZONE 'UTC', 'YYYY_MM'),
      first_event_id(since), first_event_id((since AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC'));
  END LOOP;
END $$;
INSERT INTO events (id, organization_id, meter_id, "timestamp", customer_external_id, quantity, idempotency_key, metadata)
SELECT id, organization_id, meter_id, "timestamp", customer_external_id, quantity, idempotency_key, metadata::text::json
FROM events_until_0006 ORDER BY organization_id, id;
DROP TABLE events_until_0006;
DROP FUNCTION unique_value_hash(jsonb);

-- When the front door took an event in, to the millisecond: SELECT e.received_at FROM events AS e.
CREATE FUNCTION received_at(event events) RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
RETURN to_timestamp(('x' || translate(left(event.id::text, 13), '-', ''))::bit(48)::bigint / 1000.0);

-- What a UNIQUE_COUNT meter tells apart: metadata.user_id as text, so that 42 and "42" are one user, and 42.0 is too.
-- Null where there is none.
CREATE FUNCTION unique_value_hash(metadata json) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN substring(sha256(convert_to(
  CASE json_typeof(metadata -> 'user_id')
    WHEN 'number' THEN trim_scale((metadata ->> 'user_id')::numeric)::text
    ELSE metadata ->> 'user_id'
  END, 'UTF8')) FOR 16);

-- One number for a meter and a customer: the events of both are found by it, and by the meter and the customer themselves,
-- since two of them may have the same number.
CREATE FUNCTION event_stream(meter_id uuid, customer_external_id text) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hashtextextended(customer_external_id, uuid_hash_extended(meter_id, 0));

-- Reads what no rollup holds: the ragged first and last stretch of a window.
CREATE INDEX events_stream_timestamp_idx ON events (event_stream(meter_id, customer_external_id), "timestamp");

-- A key is known by the first 128 bits of the SHA-256 of its organization's id and itself.
CREATE FUNCTION idempotency_key_hash(organization_id uuid, idempotency_key text) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN encode(substring(sha256(convert_to(organization_id::text || idempotency_key, 'UTF8')) FOR 16), 'hex')::uuid;

DROP TABLE idempotency_keys;
CREATE TABLE idempotency_keys (
  key_hash uuid NOT NULL,
  event_id uuid NOT NULL,
  CONSTRAINT idempotency_keys_pkey PRIMARY KEY (key_hash)
);
INSERT INTO idempotency_keys (key_hash, event_id)
SELECT idempotency_key_hash(organization_id, idempotency_key), id FROM events WHERE idempotency_key IS NOT NULL;

-- A batch changes many rows of a page at once, and none of the former versions can be cleared away while it does. Where they
-- find no room in their page, every change also writes to the indexes, and the table grows until it is vacuumed.
ALTER TABLE usage_rollups SET (fillfactor = 40);

-- Times of one customer are read by hour, through the primary key; all customers of a meter by day.
DROP INDEX usage_rollups_organization_id_meter_id_hour_idx;

-- The sum of the events of one meter and customer on one day (UTC), by its first instant. Always equal to those events.
CREATE TABLE usage_days (
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  customer_external_id text NOT NULL,
  day timestamptz NOT NULL,
  event_count bigint NOT NULL,
  quantity_sum numeric NOT NULL,
  quantity_min numeric NOT NULL,
  quantity_max numeric NOT NULL,
  -- The latest event by timestamp, then by id.
  last_timestamp timestamptz NOT NULL,
  last_event_id uuid NOT NULL,
  last_quantity numeric NOT NULL,
  CONSTRAINT usage_days_pkey PRIMARY KEY (organization_id, meter_id, customer_external_id, day)
) WITH (fillfactor = 30);
CREATE INDEX usage_days_organization_id_meter_id_day_idx ON usage_days (organization_id, meter_id, day);

INSERT INTO usage_days
SELECT organization_id, meter_id, customer_external_id, date_trunc('day', hour, 'UTC'),
  sum(event_count), sum(quantity_sum), min(quantity_min), max(quantity_max),
  (array_agg(last_timestamp ORDER BY last_timestamp DESC, last_event_id DESC))[1],
  (array_agg(last_event_id ORDER BY last_timestamp DESC, last_event_id DESC))[1],
  (array_agg(last_quantity ORDER BY last_timestamp DESC, last_event_id DESC))[1]
FROM usage_rollups GROUP BY 1, 2, 3, 4;

-- The sum of the events of one meter, of all its customers, in one quarter of an hour (UTC): every time zone in use begins its
-- days and hours with one. It lies in parts, which add up to it: workers that record at the same time seldom wait for the same
-- part of a busy meter.
CREATE TABLE meter_quarters (
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  quarter timestamptz NOT NULL,
  part smallint NOT NULL,
  event_count bigint NOT NULL,
  quantity_sum numeric NOT NULL,
  quantity_min numeric NOT NULL,
  quantity_max numeric NOT NULL,
  -- The latest event by timestamp, then by id.
  last_timestamp timestamptz NOT NULL,
  last_event_id uuid NOT NULL,
  last_quantity numeric NOT NULL,
  CONSTRAINT meter_quarters_pkey PRIMARY KEY (organization_id, meter_id, quarter, part),
  -- Usage has a meter. Only here: rows are added to this table a few times in a quarter of an hour, and every event reaches one.
  CONSTRAINT meter_quarters_organization_id_meter_id_fkey FOREIGN KEY (organization_id, meter_id) REFERENCES meters (organization_id, id)
) WITH (fillfactor = 10);

INSERT INTO meter_quarters
SELECT organization_id, meter_id, date_bin('15 minutes', "timestamp", TIMESTAMPTZ '2000-01-01 00:00:00Z'), 0,
  count(*), sum(quantity), min(quantity), max(quantity),
  (array_agg("timestamp" ORDER BY "timestamp" DESC, id DESC))[1],
  (array_agg(id ORDER BY "timestamp" DESC, id DESC))[1],
  (array_agg(quantity ORDER BY "timestamp" DESC, id DESC))[1]
FROM events GROUP BY 1, 2, 3;

-- The distinct values of each UNIQUE_COUNT meter and customer on one day (UTC).
CREATE TABLE unique_days (
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  customer_external_id text NOT NULL,
  day timestamptz NOT NULL,
  -- See unique_value_hash.
  value_hash bytea NOT NULL,
  CONSTRAINT unique_days_pkey PRIMARY KEY (organization_id, meter_id, customer_external_id, day, value_hash)
);
CREATE INDEX unique_days_organization_id_meter_id_day_idx ON unique_days (organization_id, meter_id, day);

INSERT INTO unique_days
SELECT DISTINCT organization_id, meter_id, customer_external_id, date_trunc('day', hour, 'UTC'), value_hash FROM unique_values;
