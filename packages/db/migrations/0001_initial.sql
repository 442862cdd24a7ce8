-- The whole schema as of 0.1.0. From here on migrations only add: a file that is released is never changed, the next one
-- has the next number. packages/db/schema.sql shows what all of them make, and a test keeps it true
-- (`npx vitest run test/schema.test.ts -u` writes it).

-- Who may do what. Secrets are stored hashed: a copy of these tables opens nothing.

CREATE TABLE organizations (
  id uuid NOT NULL,
  name text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT organizations_pkey PRIMARY KEY (id)
);

CREATE TABLE users (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  -- In lower case. Unique over all organizations, since it is what a person signs in with.
  email text NOT NULL,
  -- argon2id, in PHC string format.
  password_hash text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT users_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT users_email_key UNIQUE (email),
  CONSTRAINT users_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id)
);

CREATE TABLE sessions (
  -- SHA-256 of the token in the cookie.
  token_hash bytea NOT NULL,
  organization_id uuid NOT NULL,
  user_id uuid NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  used_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT sessions_pkey PRIMARY KEY (token_hash),
  CONSTRAINT sessions_organization_id_user_id_fkey
    FOREIGN KEY (organization_id, user_id) REFERENCES users (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX sessions_used_at_idx ON sessions (used_at);

CREATE TABLE api_keys (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  -- SHA-256 of the whole key.
  key_hash bytea NOT NULL,
  scopes text[] NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT api_keys_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT api_keys_key_hash_key UNIQUE (key_hash),
  CONSTRAINT api_keys_scopes_check
    CHECK (cardinality(scopes) > 0 AND scopes <@ ARRAY['usage.write', 'usage.read']),
  CONSTRAINT api_keys_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id)
);

-- What is sold and to whom: features, the meters behind some of them, plans and customers.

CREATE TABLE features (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  lookup_key text NOT NULL,
  type text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT features_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT features_organization_id_lookup_key_key UNIQUE (organization_id, lookup_key),
  CONSTRAINT features_type_check CHECK (type IN ('meter', 'switch', 'custom')),
  CONSTRAINT features_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id)
);

CREATE TABLE meters (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  -- Null once the feature was deleted: the meter stays, archived, since its usage may still have to be billed.
  feature_id uuid,
  name text NOT NULL,
  meter_token text NOT NULL,
  aggregation_type text NOT NULL,
  unit text,
  status text NOT NULL DEFAULT 'ACTIVE',
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT meters_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT meters_meter_token_key UNIQUE (meter_token),
  CONSTRAINT meters_organization_id_feature_id_key UNIQUE (organization_id, feature_id),
  CONSTRAINT meters_aggregation_type_check
    CHECK (aggregation_type IN ('COUNT', 'SUM', 'MAX', 'MIN', 'AVG', 'LAST', 'UNIQUE_COUNT')),
  CONSTRAINT meters_status_check CHECK (status IN ('ACTIVE', 'ARCHIVED')),
  CONSTRAINT meters_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
  CONSTRAINT meters_organization_id_feature_id_fkey FOREIGN KEY (organization_id, feature_id)
    REFERENCES features (organization_id, id) ON DELETE SET NULL (feature_id)
);

CREATE TABLE plans (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  lookup_id text NOT NULL,
  type text NOT NULL,
  billing_interval text NOT NULL,
  currency text NOT NULL,
  trial_days integer NOT NULL DEFAULT 0,
  description text,
  is_active boolean NOT NULL DEFAULT true,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT plans_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT plans_organization_id_lookup_id_key UNIQUE (organization_id, lookup_id),
  CONSTRAINT plans_type_check CHECK (type IN ('FIXED', 'USAGE', 'HYBRID')),
  CONSTRAINT plans_billing_interval_check CHECK (billing_interval IN ('day', 'week', 'month', 'year')),
  CONSTRAINT plans_trial_days_check CHECK (trial_days >= 0),
  CONSTRAINT plans_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id)
);

CREATE TABLE plan_features (
  organization_id uuid NOT NULL,
  plan_id uuid NOT NULL,
  feature_id uuid NOT NULL,
  is_enabled boolean NOT NULL DEFAULT true,
  -- Null: unlimited.
  usage_limit numeric,
  usage_reset_period text,
  is_soft_limit boolean NOT NULL DEFAULT false,
  static_value text,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT plan_features_pkey PRIMARY KEY (organization_id, plan_id, feature_id),
  CONSTRAINT plan_features_usage_limit_check CHECK (usage_limit >= 0),
  CONSTRAINT plan_features_usage_reset_period_check CHECK (usage_reset_period IN ('hour', 'day', 'week', 'month', 'year')),
  CONSTRAINT plan_features_organization_id_plan_id_fkey FOREIGN KEY (organization_id, plan_id)
    REFERENCES plans (organization_id, id) ON DELETE CASCADE,
  -- No cascade here: a feature that a plan uses is not deleted.
  CONSTRAINT plan_features_organization_id_feature_id_fkey FOREIGN KEY (organization_id, feature_id)
    REFERENCES features (organization_id, id)
);
CREATE INDEX plan_features_organization_id_feature_id_idx ON plan_features (organization_id, feature_id);

CREATE TABLE customers (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  external_id text NOT NULL,
  name text,
  email text,
  phone text,
  billing_address_line1 text,
  billing_address_city text,
  billing_address_state text,
  billing_address_country text,
  billing_address_postal_code text,
  metadata jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT customers_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT customers_organization_id_external_id_key UNIQUE (organization_id, external_id),
  CONSTRAINT customers_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id)
);

-- What an app gives to its customer's browser, to see that customer's usage and nothing else.

CREATE TABLE widget_tokens (
  -- SHA-256 of the token.
  token_hash bytea NOT NULL,
  organization_id uuid NOT NULL,
  -- The key that asked for it. A token ends with its key, so that deleting a key leaves nothing behind that it opened.
  api_key_id uuid NOT NULL,
  customer_external_id text NOT NULL,
  expires_at timestamptz NOT NULL,
  CONSTRAINT widget_tokens_pkey PRIMARY KEY (token_hash),
  CONSTRAINT widget_tokens_organization_id_api_key_id_fkey
    FOREIGN KEY (organization_id, api_key_id) REFERENCES api_keys (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX widget_tokens_organization_id_api_key_id_idx ON widget_tokens (organization_id, api_key_id);
CREATE INDEX widget_tokens_organization_id_customer_external_id_idx ON widget_tokens (organization_id, customer_external_id);
CREATE INDEX widget_tokens_expires_at_idx ON widget_tokens (expires_at);

-- How many events the door has accepted: counted there, apart from the events, so that `npm run reconcile` can tell when
-- one of them got lost. Months are those of receipt (UTC), by their first day.

CREATE TABLE accepted_events (
  organization_id uuid NOT NULL,
  month date NOT NULL,
  events bigint NOT NULL,
  CONSTRAINT accepted_events_pkey PRIMARY KEY (organization_id, month)
);

-- The counts of the door that are in accepted_events, for some weeks: those that are drained again are not added again.
CREATE TABLE drained_counts (
  -- A UUIDv7: the id of the first batch that was counted.
  id uuid NOT NULL,
  events bigint NOT NULL,
  drained_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT drained_counts_pkey PRIMARY KEY (id)
);

-- Added to what the door has counted. Nothing is ever changed or deleted here: it is the evidence of what was found.
CREATE TABLE accepted_corrections (
  organization_id uuid NOT NULL,
  month date NOT NULL,
  made_at timestamptz NOT NULL DEFAULT now(),
  -- Above zero: events that are here, and whose count was lost. Below zero: events that are known to be lost.
  events bigint NOT NULL,
  reason text NOT NULL,
  CONSTRAINT accepted_corrections_pkey PRIMARY KEY (organization_id, month, made_at),
  CONSTRAINT accepted_corrections_events_check CHECK (events <> 0)
);

-- Tells this Weir from every other one: the queue in Redis is marked with it, so that two of them cannot share it by mistake.
-- A dump takes the row along; what tells a restored copy from the original is where it lies (see installation.ts).
CREATE TABLE installation (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  -- There is one row.
  is_only boolean NOT NULL DEFAULT true,
  CONSTRAINT installation_pkey PRIMARY KEY (is_only),
  CONSTRAINT installation_is_only_check CHECK (is_only)
);
INSERT INTO installation DEFAULT VALUES;

-- Usage. What a worker writes for one batch lies in the tables from here on, all of it in one statement.
-- No foreign key leads from events to meters: checking one for every event costs more than the rest of the insert.

CREATE TABLE events (
  -- A UUIDv7, which holds the time of receipt: nothing else does, and the ids of a month are what a partition is made of.
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
CREATE TABLE events_default PARTITION OF events DEFAULT;

-- The smallest id, a UUIDv7, of a millisecond: what bounds the partitions of events.
CREATE FUNCTION first_event_id(since timestamptz) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (lpad(to_hex((extract(epoch FROM since) * 1000)::bigint), 12, '0') || '70008000000000000000')::uuid;

-- When the front door took an event in, to the millisecond: SELECT e.received_at FROM events AS e.
CREATE FUNCTION received_at(event events) RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
RETURN to_timestamp(('x' || translate(left(event.id::text, 13), '-', ''))::bit(48)::bigint / 1000.0);

-- The month in which an event was received (UTC).
CREATE FUNCTION month_of_receipt(id uuid) RETURNS date LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN date_trunc('month', to_timestamp(
  ('x' || translate(left(id::text, 13), '-', ''))::bit(48)::bigint / 1000.0) AT TIME ZONE 'UTC')::date;

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

-- Reads what no rollup holds: what a window or a bucket cuts.
CREATE INDEX events_stream_timestamp_idx ON events (event_stream(meter_id, customer_external_id), "timestamp");

-- A key is known by the first 128 bits of the SHA-256 of its organization's id and itself; a key may be longer than an index row.
CREATE FUNCTION idempotency_key_hash(organization_id uuid, idempotency_key text) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN encode(substring(sha256(convert_to(organization_id::text || idempotency_key, 'UTF8')) FOR 16), 'hex')::uuid;

-- Unique for ever, and therefore not partitioned: a unique index on events would have to hold the id.
CREATE TABLE idempotency_keys (
  key_hash uuid NOT NULL,
  event_id uuid NOT NULL,
  CONSTRAINT idempotency_keys_pkey PRIMARY KEY (key_hash)
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

-- The rollups, which always equal the events; src/rollups.ts says how each is made of them. They are named by whose they
-- are, what they keep, and the stretch of time of a row (UTC), which is known by its first instant.
--
-- A batch changes many rows of a page at once, and none of the former versions can be cleared away while it does. Where they
-- find no room in their page, every change also writes to the indexes, and the table grows until it is vacuumed: hence the
-- fillfactors.

-- What the events of one meter and customer in one hour add up to.
CREATE TABLE customer_usage_hours (
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
  CONSTRAINT customer_usage_hours_pkey PRIMARY KEY (organization_id, meter_id, customer_external_id, hour)
) WITH (fillfactor = 40);

-- The same on one day. Times of one customer are found through the primary key, all customers of a day by the index.
CREATE TABLE customer_usage_days (
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  customer_external_id text NOT NULL,
  day timestamptz NOT NULL,
  event_count bigint NOT NULL,
  quantity_sum numeric NOT NULL,
  quantity_min numeric NOT NULL,
  quantity_max numeric NOT NULL,
  last_timestamp timestamptz NOT NULL,
  last_event_id uuid NOT NULL,
  last_quantity numeric NOT NULL,
  CONSTRAINT customer_usage_days_pkey PRIMARY KEY (organization_id, meter_id, customer_external_id, day)
) WITH (fillfactor = 30);
CREATE INDEX customer_usage_days_organization_id_meter_id_day_idx ON customer_usage_days (organization_id, meter_id, day);

-- The same of all customers of one meter, in one quarter of an hour: every time zone in use begins its days and hours with
-- one. It lies in parts, which add up to it: workers that record at the same time seldom wait for the same part of a busy meter.
CREATE TABLE meter_usage_quarters (
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  quarter timestamptz NOT NULL,
  part smallint NOT NULL,
  event_count bigint NOT NULL,
  quantity_sum numeric NOT NULL,
  quantity_min numeric NOT NULL,
  quantity_max numeric NOT NULL,
  last_timestamp timestamptz NOT NULL,
  last_event_id uuid NOT NULL,
  last_quantity numeric NOT NULL,
  CONSTRAINT meter_usage_quarters_pkey PRIMARY KEY (organization_id, meter_id, quarter, part),
  -- Usage has a meter. Only here: rows are added to this table a few times in a quarter of an hour, and every event reaches one.
  CONSTRAINT meter_usage_quarters_organization_id_meter_id_fkey
    FOREIGN KEY (organization_id, meter_id) REFERENCES meters (organization_id, id)
) WITH (fillfactor = 10);

-- The quarter of an hour that a time lies in, as one of the 96 bits of its day: the first quarter is the leftmost.
CREATE FUNCTION quarter_bit("timestamp" timestamptz) RETURNS bit LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN B'1'::bit(96) >> floor(extract(epoch FROM
  "timestamp" - date_bin('1 day', "timestamp", TIMESTAMPTZ '2000-01-01 00:00:00Z')) / 900)::integer;

-- The distinct values of one UNIQUE_COUNT meter and customer on one day, each with the quarters of an hour in which it was
-- there: a day of any time zone is cut out of two or three rows of each value.
CREATE TABLE customer_value_days (
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  customer_external_id text NOT NULL,
  day timestamptz NOT NULL,
  -- See unique_value_hash.
  value_hash bytea NOT NULL,
  -- Those in which there is an event with the value: see quarter_bit.
  quarters bit(96) NOT NULL,
  CONSTRAINT customer_value_days_pkey PRIMARY KEY (organization_id, meter_id, customer_external_id, day, value_hash)
) WITH (fillfactor = 50);
CREATE INDEX customer_value_days_organization_id_meter_id_day_idx ON customer_value_days (organization_id, meter_id, day);

-- The same of all customers of the meter, so that reading it does not grow with the customers who share a value.
CREATE TABLE meter_value_days (
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  day timestamptz NOT NULL,
  value_hash bytea NOT NULL,
  quarters bit(96) NOT NULL,
  CONSTRAINT meter_value_days_pkey PRIMARY KEY (organization_id, meter_id, day, value_hash)
) WITH (fillfactor = 50);
