-- Usage. What a worker writes for one batch lies in these tables, all of it in one statement.
-- No foreign key leads from events to meters: checking one for every event costs more than the rest of the insert.

CREATE TABLE events (
  id uuid NOT NULL,
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  "timestamp" timestamptz NOT NULL,
  -- The time in the id, to the millisecond: an event that is delivered again meets itself in the primary key.
  received_at timestamptz NOT NULL,
  customer_external_id text NOT NULL,
  quantity numeric NOT NULL,
  idempotency_key text,
  metadata jsonb,
  CONSTRAINT events_pkey PRIMARY KEY (organization_id, id, received_at),
  CONSTRAINT events_quantity_check CHECK (quantity > 0)
) PARTITION BY RANGE (received_at);

-- Reads what no rollup holds: the ragged first and last hour of a window.
CREATE INDEX events_organization_id_meter_id_timestamp_idx ON events (organization_id, meter_id, "timestamp");

-- Months are made ahead by the workers. What falls outside all of them is kept here and moved when its month is made.
CREATE TABLE events_default PARTITION OF events DEFAULT;

-- Unique for ever, and therefore not partitioned: a unique index on events would have to hold received_at.
CREATE TABLE idempotency_keys (
  organization_id uuid NOT NULL,
  -- The first 128 bits of the key's SHA-256; a key may be longer than an index row.
  key_hash bytea NOT NULL,
  event_id uuid NOT NULL,
  CONSTRAINT idempotency_keys_pkey PRIMARY KEY (organization_id, key_hash)
);

-- Events whose key an earlier event holds. They count for nothing; they are kept so that their receipt can be read.
CREATE TABLE duplicate_events (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  duplicate_of uuid NOT NULL,
  -- The event as it was staged, in JSON.
  event text NOT NULL,
  CONSTRAINT duplicate_events_pkey PRIMARY KEY (organization_id, id)
);

-- Events that are not valid, or that Postgres would not take. They count for nothing until they are replayed.
CREATE TABLE rejected_events (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  meter_id uuid NOT NULL,
  customer_external_id text NOT NULL,
  reason text NOT NULL,
  -- The event as it was staged, in JSON. As text, since jsonb might be what Postgres would not take.
  event text NOT NULL,
  rejected_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT rejected_events_pkey PRIMARY KEY (organization_id, id)
);

-- The sum of the events of one meter and customer in one hour (UTC). Always equal to those events.
CREATE TABLE usage_rollups (
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  customer_external_id text NOT NULL,
  hour timestamptz NOT NULL,
  event_count bigint NOT NULL,
  quantity_sum numeric NOT NULL,
  quantity_min numeric NOT NULL,
  quantity_max numeric NOT NULL,
  -- The latest event by timestamp, then by id.
  last_timestamp timestamptz NOT NULL,
  last_event_id uuid NOT NULL,
  last_quantity numeric NOT NULL,
  CONSTRAINT usage_rollups_pkey PRIMARY KEY (organization_id, meter_id, customer_external_id, hour)
) WITH (fillfactor = 80);
CREATE INDEX usage_rollups_organization_id_meter_id_hour_idx ON usage_rollups (organization_id, meter_id, hour);

-- The distinct values of each UNIQUE_COUNT meter and customer in one hour (UTC).
CREATE TABLE unique_values (
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  customer_external_id text NOT NULL,
  hour timestamptz NOT NULL,
  -- See unique_value_hash.
  value_hash bytea NOT NULL,
  CONSTRAINT unique_values_pkey PRIMARY KEY (organization_id, meter_id, customer_external_id, hour, value_hash)
);
CREATE INDEX unique_values_organization_id_meter_id_hour_idx ON unique_values (organization_id, meter_id, hour);

-- What a UNIQUE_COUNT meter tells apart: metadata.user_id as text, so that 42 and "42" are one user, and 42.0 is too.
-- Null where there is none.
CREATE FUNCTION unique_value_hash(metadata jsonb) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN substring(sha256(convert_to(
  CASE jsonb_typeof(metadata -> 'user_id')
    WHEN 'number' THEN trim_scale((metadata ->> 'user_id')::numeric)::text
    ELSE metadata ->> 'user_id'
  END, 'UTF8')) FOR 16);
