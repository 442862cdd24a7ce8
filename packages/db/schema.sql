-- What all migrations make, for reading: a test writes it and keeps it true. Nothing is made from it.

CREATE TABLE accepted_corrections (
  organization_id uuid NOT NULL,
  month date NOT NULL,
  made_at timestamp with time zone NOT NULL DEFAULT now(),
  events bigint NOT NULL,
  reason text NOT NULL,
  CONSTRAINT accepted_corrections_events_check CHECK ((events <> 0)),
  CONSTRAINT accepted_corrections_pkey PRIMARY KEY (organization_id, month, made_at)
);

CREATE TABLE accepted_events (
  organization_id uuid NOT NULL,
  month date NOT NULL,
  events bigint NOT NULL,
  CONSTRAINT accepted_events_pkey PRIMARY KEY (organization_id, month)
);

CREATE TABLE api_keys (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  key_hash bytea NOT NULL,
  scopes text[] NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT api_keys_key_hash_key UNIQUE (key_hash),
  CONSTRAINT api_keys_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT api_keys_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT api_keys_scopes_check CHECK (((cardinality(scopes) > 0) AND (scopes <@ ARRAY['usage.write'::text, 'usage.read'::text])))
);

CREATE TABLE customer_usage_days (
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  customer_external_id text NOT NULL,
  day timestamp with time zone NOT NULL,
  event_count bigint NOT NULL,
  quantity_sum numeric NOT NULL,
  quantity_min numeric NOT NULL,
  quantity_max numeric NOT NULL,
  last_timestamp timestamp with time zone NOT NULL,
  last_event_id uuid NOT NULL,
  last_quantity numeric NOT NULL,
  CONSTRAINT customer_usage_days_pkey PRIMARY KEY (organization_id, meter_id, customer_external_id, day)
) WITH (fillfactor=30);

CREATE TABLE customer_usage_hours (
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  customer_external_id text NOT NULL,
  hour timestamp with time zone NOT NULL,
  event_count bigint NOT NULL,
  quantity_sum numeric NOT NULL,
  quantity_min numeric NOT NULL,
  quantity_max numeric NOT NULL,
  last_timestamp timestamp with time zone NOT NULL,
  last_event_id uuid NOT NULL,
  last_quantity numeric NOT NULL,
  CONSTRAINT customer_usage_hours_pkey PRIMARY KEY (organization_id, meter_id, customer_external_id, hour)
) WITH (fillfactor=40);

CREATE TABLE customer_value_days (
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  customer_external_id text NOT NULL,
  day timestamp with time zone NOT NULL,
  value_hash bytea NOT NULL,
  quarters bit(96) NOT NULL,
  CONSTRAINT customer_value_days_pkey PRIMARY KEY (organization_id, meter_id, customer_external_id, day, value_hash)
) WITH (fillfactor=50);

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
  metadata jsonb NOT NULL DEFAULT '{}'::jsonb,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT customers_organization_id_external_id_key UNIQUE (organization_id, external_id),
  CONSTRAINT customers_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT customers_pkey PRIMARY KEY (organization_id, id)
);

CREATE TABLE drained_counts (
  id uuid NOT NULL,
  events bigint NOT NULL,
  drained_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT drained_counts_pkey PRIMARY KEY (id)
);

CREATE TABLE duplicate_events (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  duplicate_of uuid NOT NULL,
  event text NOT NULL,
  CONSTRAINT duplicate_events_pkey PRIMARY KEY (organization_id, id)
);

CREATE TABLE events (
  id uuid NOT NULL,
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  "timestamp" timestamp with time zone NOT NULL,
  customer_external_id text NOT NULL,
  quantity numeric NOT NULL,
  idempotency_key text,
  metadata json,
  CONSTRAINT events_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT events_quantity_check CHECK ((quantity > (0)::numeric))
) PARTITION BY RANGE (id);

CREATE TABLE events_default PARTITION OF events DEFAULT;

CREATE TABLE features (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  lookup_key text NOT NULL,
  type text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT features_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT features_organization_id_lookup_key_key UNIQUE (organization_id, lookup_key),
  CONSTRAINT features_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT features_type_check CHECK ((type = ANY (ARRAY['meter'::text, 'switch'::text, 'custom'::text])))
);

CREATE TABLE idempotency_keys (
  key_hash uuid NOT NULL,
  event_id uuid NOT NULL,
  CONSTRAINT idempotency_keys_pkey PRIMARY KEY (key_hash)
);

CREATE TABLE installation (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  is_only boolean NOT NULL DEFAULT true,
  CONSTRAINT installation_is_only_check CHECK (is_only),
  CONSTRAINT installation_pkey PRIMARY KEY (is_only)
);

CREATE TABLE meter_usage_quarters (
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  quarter timestamp with time zone NOT NULL,
  part smallint NOT NULL,
  event_count bigint NOT NULL,
  quantity_sum numeric NOT NULL,
  quantity_min numeric NOT NULL,
  quantity_max numeric NOT NULL,
  last_timestamp timestamp with time zone NOT NULL,
  last_event_id uuid NOT NULL,
  last_quantity numeric NOT NULL,
  CONSTRAINT meter_usage_quarters_organization_id_meter_id_fkey FOREIGN KEY (organization_id, meter_id) REFERENCES meters(organization_id, id),
  CONSTRAINT meter_usage_quarters_pkey PRIMARY KEY (organization_id, meter_id, quarter, part)
) WITH (fillfactor=10);

CREATE TABLE meter_value_days (
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  day timestamp with time zone NOT NULL,
  value_hash bytea NOT NULL,
  quarters bit(96) NOT NULL,
  CONSTRAINT meter_value_days_pkey PRIMARY KEY (organization_id, meter_id, day, value_hash)
) WITH (fillfactor=50);

CREATE TABLE meters (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  feature_id uuid,
  name text NOT NULL,
  meter_token text NOT NULL,
  aggregation_type text NOT NULL,
  unit text,
  status text NOT NULL DEFAULT 'ACTIVE'::text,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT meters_aggregation_type_check CHECK ((aggregation_type = ANY (ARRAY['COUNT'::text, 'SUM'::text, 'MAX'::text, 'MIN'::text, 'AVG'::text, 'LAST'::text, 'UNIQUE_COUNT'::text]))),
  CONSTRAINT meters_meter_token_key UNIQUE (meter_token),
  CONSTRAINT meters_organization_id_feature_id_fkey FOREIGN KEY (organization_id, feature_id) REFERENCES features(organization_id, id) ON DELETE SET NULL (feature_id),
  CONSTRAINT meters_organization_id_feature_id_key UNIQUE (organization_id, feature_id),
  CONSTRAINT meters_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT meters_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT meters_status_check CHECK ((status = ANY (ARRAY['ACTIVE'::text, 'ARCHIVED'::text])))
);

CREATE TABLE migrations (
  name text NOT NULL,
  applied_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT migrations_pkey PRIMARY KEY (name)
);

CREATE TABLE organizations (
  id uuid NOT NULL,
  name text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT organizations_pkey PRIMARY KEY (id)
);

CREATE TABLE plan_features (
  organization_id uuid NOT NULL,
  plan_id uuid NOT NULL,
  feature_id uuid NOT NULL,
  is_enabled boolean NOT NULL DEFAULT true,
  usage_limit numeric,
  usage_reset_period text,
  is_soft_limit boolean NOT NULL DEFAULT false,
  static_value text,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT plan_features_organization_id_feature_id_fkey FOREIGN KEY (organization_id, feature_id) REFERENCES features(organization_id, id),
  CONSTRAINT plan_features_organization_id_plan_id_fkey FOREIGN KEY (organization_id, plan_id) REFERENCES plans(organization_id, id) ON DELETE CASCADE,
  CONSTRAINT plan_features_pkey PRIMARY KEY (organization_id, plan_id, feature_id),
  CONSTRAINT plan_features_usage_limit_check CHECK ((usage_limit >= (0)::numeric)),
  CONSTRAINT plan_features_usage_reset_period_check CHECK ((usage_reset_period = ANY (ARRAY['hour'::text, 'day'::text, 'week'::text, 'month'::text, 'year'::text])))
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
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT plans_billing_interval_check CHECK ((billing_interval = ANY (ARRAY['day'::text, 'week'::text, 'month'::text, 'year'::text]))),
  CONSTRAINT plans_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT plans_organization_id_lookup_id_key UNIQUE (organization_id, lookup_id),
  CONSTRAINT plans_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT plans_trial_days_check CHECK ((trial_days >= 0)),
  CONSTRAINT plans_type_check CHECK ((type = ANY (ARRAY['FIXED'::text, 'USAGE'::text, 'HYBRID'::text])))
);

CREATE TABLE rejected_events (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  meter_id uuid NOT NULL,
  customer_external_id text NOT NULL,
  reason text NOT NULL,
  event text NOT NULL,
  rejected_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT rejected_events_pkey PRIMARY KEY (organization_id, id)
);

CREATE TABLE sessions (
  token_hash bytea NOT NULL,
  organization_id uuid NOT NULL,
  user_id uuid NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  used_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT sessions_organization_id_user_id_fkey FOREIGN KEY (organization_id, user_id) REFERENCES users(organization_id, id) ON DELETE CASCADE,
  CONSTRAINT sessions_pkey PRIMARY KEY (token_hash)
);

CREATE TABLE users (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  email text NOT NULL,
  password_hash text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT users_email_key UNIQUE (email),
  CONSTRAINT users_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT users_pkey PRIMARY KEY (organization_id, id)
);

CREATE TABLE widget_tokens (
  token_hash bytea NOT NULL,
  organization_id uuid NOT NULL,
  api_key_id uuid NOT NULL,
  customer_external_id text NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT widget_tokens_organization_id_api_key_id_fkey FOREIGN KEY (organization_id, api_key_id) REFERENCES api_keys(organization_id, id) ON DELETE CASCADE,
  CONSTRAINT widget_tokens_pkey PRIMARY KEY (token_hash)
);

CREATE INDEX customer_usage_days_organization_id_meter_id_day_idx ON public.customer_usage_days USING btree (organization_id, meter_id, day);

CREATE INDEX customer_value_days_organization_id_meter_id_day_idx ON public.customer_value_days USING btree (organization_id, meter_id, day);

CREATE INDEX events_stream_timestamp_idx ON ONLY public.events USING btree (event_stream(meter_id, customer_external_id), "timestamp");

CREATE INDEX plan_features_organization_id_feature_id_idx ON public.plan_features USING btree (organization_id, feature_id);

CREATE INDEX sessions_used_at_idx ON public.sessions USING btree (used_at);

CREATE INDEX widget_tokens_expires_at_idx ON public.widget_tokens USING btree (expires_at);

CREATE INDEX widget_tokens_organization_id_api_key_id_idx ON public.widget_tokens USING btree (organization_id, api_key_id);

CREATE INDEX widget_tokens_organization_id_customer_external_id_idx ON public.widget_tokens USING btree (organization_id, customer_external_id);

CREATE OR REPLACE FUNCTION public.event_stream(meter_id uuid, customer_external_id text)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN hashtextextended(customer_external_id, uuid_hash_extended(meter_id, (0)::bigint))
;

CREATE OR REPLACE FUNCTION public.first_event_id(since timestamp with time zone)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN ((lpad(to_hex(((EXTRACT(epoch FROM since) * (1000)::numeric))::bigint), 12, '0'::text) || '70008000000000000000'::text))::uuid
;

CREATE OR REPLACE FUNCTION public.idempotency_key_hash(organization_id uuid, idempotency_key text)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (encode(SUBSTRING(sha256(convert_to(((organization_id)::text || idempotency_key), 'UTF8'::name)) FROM 1 FOR 16), 'hex'::text))::uuid
;

CREATE OR REPLACE FUNCTION public.month_of_receipt(id uuid)
 RETURNS date
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (date_trunc('month'::text, (to_timestamp((((((('x'::text || translate("left"((id)::text, 13), '-'::text, ''::text)))::bit(48))::bigint)::numeric / 1000.0))::double precision) AT TIME ZONE 'UTC'::text)))::date
;

CREATE OR REPLACE FUNCTION public.quarter_bit("timestamp" timestamp with time zone)
 RETURNS bit
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN ('1'::bit(96) >> (floor((EXTRACT(epoch FROM ("timestamp" - date_bin('1 day'::interval, "timestamp", '2000-01-01 00:00:00+00'::timestamp with time zone))) / (900)::numeric)))::integer)
;

CREATE OR REPLACE FUNCTION public.received_at(event events)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN to_timestamp((((((('x'::text || translate("left"(((event).id)::text, 13), '-'::text, ''::text)))::bit(48))::bigint)::numeric / 1000.0))::double precision)
;

CREATE OR REPLACE FUNCTION public.unique_value_hash(metadata json)
 RETURNS bytea
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN SUBSTRING(sha256(convert_to(CASE json_typeof((metadata -> 'user_id'::text)) WHEN 'number'::text THEN (trim_scale(((metadata ->> 'user_id'::text))::numeric))::text ELSE (metadata ->> 'user_id'::text) END, 'UTF8'::name)) FROM 1 FOR 16)
;
