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

CREATE TABLE alert_crossings (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  alert_id uuid NOT NULL,
  customer_external_id text NOT NULL,
  subscription_id uuid,
  currency text,
  period_start timestamp with time zone NOT NULL,
  period_end timestamp with time zone NOT NULL,
  threshold numeric NOT NULL,
  value numeric NOT NULL,
  crossed_at timestamp with time zone NOT NULL DEFAULT billing_now(),
  customer_id uuid,
  time_zone text,
  CONSTRAINT alert_crossings_organization_id_alert_id_fkey FOREIGN KEY (organization_id, alert_id) REFERENCES alerts(organization_id, id),
  CONSTRAINT alert_crossings_pkey PRIMARY KEY (organization_id, id)
);

CREATE TABLE alerts (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  meter_id uuid,
  customer_id uuid,
  thresholds numeric[] NOT NULL,
  status text NOT NULL DEFAULT 'ACTIVE'::text,
  looked_after text DEFAULT ''::text,
  look_asked_at timestamp with time zone NOT NULL DEFAULT billing_now(),
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  told_from timestamp with time zone NOT NULL DEFAULT billing_now(),
  CONSTRAINT alerts_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT alerts_organization_id_meter_id_fkey FOREIGN KEY (organization_id, meter_id) REFERENCES meters(organization_id, id),
  CONSTRAINT alerts_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT alerts_status_check CHECK ((status = ANY (ARRAY['ACTIVE'::text, 'DISABLED'::text, 'DELETED'::text])))
);

CREATE TABLE api_keys (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  key_hash bytea NOT NULL,
  scopes text[] NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  last4 text,
  last_used_at timestamp with time zone,
  revoked_at timestamp with time zone,
  CONSTRAINT api_keys_key_hash_key UNIQUE (key_hash),
  CONSTRAINT api_keys_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT api_keys_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT api_keys_scopes_check CHECK (((cardinality(scopes) > 0) AND (scopes <@ ARRAY['usage.write'::text, 'usage.read'::text])))
);

CREATE TABLE audit_entries (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  action text NOT NULL,
  resource_type text NOT NULL,
  resource_id uuid,
  actor_type text NOT NULL,
  actor_id uuid,
  actor_email text,
  address text,
  user_agent text,
  changes jsonb,
  is_done boolean NOT NULL,
  actor_name text,
  CONSTRAINT audit_entries_actor_type_check CHECK ((actor_type = ANY (ARRAY['user'::text, 'api_key'::text, 'service_account'::text, 'operator'::text]))) NOT VALID,
  CONSTRAINT audit_entries_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT audit_entries_pkey PRIMARY KEY (organization_id, id)
);

CREATE TABLE billed_meters (
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  customer_external_id text NOT NULL,
  subscription_id uuid NOT NULL,
  ended_at timestamp with time zone,
  CONSTRAINT billed_meters_organization_id_subscription_id_fkey FOREIGN KEY (organization_id, subscription_id) REFERENCES subscriptions(organization_id, id),
  CONSTRAINT billed_meters_pkey PRIMARY KEY (organization_id, meter_id, customer_external_id)
);

CREATE TABLE billing_events (
  organization_id uuid NOT NULL,
  sequence bigint NOT NULL,
  type text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  actor text NOT NULL,
  data jsonb NOT NULL,
  CONSTRAINT billing_events_pkey PRIMARY KEY (organization_id, sequence)
);

CREATE TABLE billing_feeds (
  organization_id uuid NOT NULL,
  last_sequence bigint NOT NULL,
  last_at timestamp with time zone,
  CONSTRAINT billing_feeds_pkey PRIMARY KEY (organization_id)
);

CREATE TABLE charges (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  plan_id uuid NOT NULL,
  display_name text NOT NULL,
  type text NOT NULL,
  meter_id uuid,
  terms jsonb NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT billing_now(),
  ended_at timestamp with time zone,
  effective_from timestamp with time zone NOT NULL DEFAULT billing_now(),
  replaces uuid,
  CONSTRAINT charges_meter_id_check CHECK (((type = 'USAGE'::text) = (meter_id IS NOT NULL))),
  CONSTRAINT charges_organization_id_meter_id_fkey FOREIGN KEY (organization_id, meter_id) REFERENCES meters(organization_id, id),
  CONSTRAINT charges_organization_id_plan_id_fkey FOREIGN KEY (organization_id, plan_id) REFERENCES plans(organization_id, id) ON DELETE CASCADE,
  CONSTRAINT charges_organization_id_replaces_fkey FOREIGN KEY (organization_id, replaces) REFERENCES charges(organization_id, id),
  CONSTRAINT charges_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT charges_type_check CHECK ((type = ANY (ARRAY['FIXED'::text, 'USAGE'::text])))
);

CREATE TABLE closings (
  organization_id uuid NOT NULL,
  number bigint NOT NULL,
  until timestamp with time zone NOT NULL,
  closed_at timestamp with time zone NOT NULL,
  CONSTRAINT closings_pkey PRIMARY KEY (organization_id)
);

CREATE TABLE corrections (
  organization_id uuid NOT NULL,
  event_id uuid NOT NULL,
  id uuid NOT NULL,
  reason text NOT NULL,
  amended_by uuid,
  closing bigint NOT NULL,
  actor text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  event_meter_id uuid,
  event_time timestamp with time zone,
  CONSTRAINT corrections_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT corrections_pkey PRIMARY KEY (organization_id, event_id)
);

CREATE TABLE credit_entries (
  organization_id uuid NOT NULL,
  grant_id uuid NOT NULL,
  id uuid NOT NULL,
  kind text NOT NULL,
  amount numeric NOT NULL,
  invoice_id uuid,
  created_at timestamp with time zone NOT NULL DEFAULT billing_now(),
  CONSTRAINT credit_entries_amount_check CHECK ((amount > (0)::numeric)),
  CONSTRAINT credit_entries_kind_check CHECK ((kind = ANY (ARRAY['DRAW'::text, 'RETURN'::text, 'VOID'::text]))),
  CONSTRAINT credit_entries_organization_id_grant_id_fkey FOREIGN KEY (organization_id, grant_id) REFERENCES credit_grants(organization_id, id),
  CONSTRAINT credit_entries_organization_id_invoice_id_fkey FOREIGN KEY (organization_id, invoice_id) REFERENCES invoices(organization_id, id),
  CONSTRAINT credit_entries_pkey PRIMARY KEY (organization_id, grant_id, id)
);

CREATE TABLE credit_grants (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  external_id text,
  customer_id uuid NOT NULL,
  currency text NOT NULL,
  amount numeric NOT NULL,
  remaining numeric NOT NULL,
  priority integer NOT NULL DEFAULT 0,
  expires_at timestamp with time zone,
  note text,
  invoice_id uuid,
  voided_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL DEFAULT billing_now(),
  CONSTRAINT credit_grants_amount_check CHECK ((amount > (0)::numeric)),
  CONSTRAINT credit_grants_organization_id_customer_id_fkey FOREIGN KEY (organization_id, customer_id) REFERENCES customers(organization_id, id),
  CONSTRAINT credit_grants_organization_id_external_id_key UNIQUE (external_id, organization_id),
  CONSTRAINT credit_grants_organization_id_invoice_id_fkey FOREIGN KEY (organization_id, invoice_id) REFERENCES invoices(organization_id, id),
  CONSTRAINT credit_grants_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT credit_grants_priority_check CHECK (((priority >= 0) AND (priority <= 100))),
  CONSTRAINT credit_grants_remaining_check CHECK (((remaining >= (0)::numeric) AND (remaining <= amount)))
);

CREATE TABLE customer_group_hours (
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  customer_external_id text NOT NULL,
  hour timestamp with time zone NOT NULL,
  group_hash uuid NOT NULL,
  event_count bigint NOT NULL,
  quantity_sum numeric NOT NULL,
  quantity_min numeric NOT NULL,
  quantity_max numeric NOT NULL,
  last_timestamp timestamp with time zone NOT NULL,
  last_event_id uuid NOT NULL,
  last_quantity numeric NOT NULL,
  CONSTRAINT customer_group_hours_pkey PRIMARY KEY (organization_id, meter_id, customer_external_id, hour, group_hash)
) WITH (fillfactor=50);

CREATE TABLE customer_group_value_days (
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  customer_external_id text NOT NULL,
  day timestamp with time zone NOT NULL,
  group_hash uuid NOT NULL,
  value_hash bytea NOT NULL,
  quarters bit(96) NOT NULL,
  CONSTRAINT customer_group_value_days_pkey PRIMARY KEY (organization_id, meter_id, customer_external_id, day, group_hash, value_hash)
) WITH (fillfactor=50);

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
  time_zone text,
  legal_name text,
  tax_id text,
  billing_address_line2 text,
  billing_country_code text,
  erased_at timestamp with time zone,
  CONSTRAINT customers_organization_id_external_id_key UNIQUE (external_id, organization_id),
  CONSTRAINT customers_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT customers_pkey PRIMARY KEY (organization_id, id)
);

CREATE TABLE drained_counts (
  id uuid NOT NULL,
  events bigint NOT NULL,
  drained_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT drained_counts_pkey PRIMARY KEY (id)
);

CREATE TABLE dues (
  organization_id uuid NOT NULL,
  subscription_id uuid NOT NULL,
  cycle integer NOT NULL,
  charge_id uuid NOT NULL,
  display_name text NOT NULL,
  terms jsonb NOT NULL,
  meter_id uuid,
  customer_external_id text NOT NULL,
  period_start timestamp with time zone NOT NULL,
  period_end timestamp with time zone NOT NULL,
  days_in_force integer,
  days_in_period integer,
  closing bigint,
  billed numeric NOT NULL DEFAULT 0,
  rebills integer NOT NULL DEFAULT 0,
  rebilling boolean NOT NULL DEFAULT false,
  CONSTRAINT dues_organization_id_charge_id_fkey FOREIGN KEY (organization_id, charge_id) REFERENCES charges(organization_id, id),
  CONSTRAINT dues_organization_id_subscription_id_cycle_fkey FOREIGN KEY (organization_id, subscription_id, cycle) REFERENCES subscription_periods(organization_id, subscription_id, cycle),
  CONSTRAINT dues_period_check CHECK ((period_start <= period_end)),
  CONSTRAINT dues_pkey PRIMARY KEY (organization_id, subscription_id, cycle, charge_id)
);

CREATE TABLE duplicate_events (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  duplicate_of uuid NOT NULL,
  event text NOT NULL,
  CONSTRAINT duplicate_events_pkey PRIMARY KEY (organization_id, id)
);

CREATE TABLE ended_widget_tokens (
  organization_id uuid NOT NULL,
  customer_external_id text NOT NULL,
  expires_until timestamp with time zone NOT NULL,
  CONSTRAINT ended_widget_tokens_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT ended_widget_tokens_pkey PRIMARY KEY (organization_id, customer_external_id)
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
  CONSTRAINT features_organization_id_lookup_key_key UNIQUE (lookup_key, organization_id),
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
  ahead_seconds_max integer NOT NULL DEFAULT 86400,
  CONSTRAINT installation_is_only_check CHECK (is_only),
  CONSTRAINT installation_pkey PRIMARY KEY (is_only)
);

CREATE TABLE invitations (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  email text NOT NULL,
  role text NOT NULL,
  token_hash bytea NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  expires_at timestamp with time zone NOT NULL,
  made_by uuid,
  CONSTRAINT invitations_organization_id_email_key UNIQUE (organization_id, email),
  CONSTRAINT invitations_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT invitations_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT invitations_role_check CHECK ((role = ANY (ARRAY['admin'::text, 'viewer'::text]))),
  CONSTRAINT invitations_token_hash_key UNIQUE (token_hash)
);

CREATE TABLE invoice_lines (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  invoice_id uuid NOT NULL,
  "position" integer NOT NULL,
  kind text NOT NULL,
  description text NOT NULL,
  subscription_id uuid,
  cycle integer,
  charge_id uuid,
  period_start timestamp with time zone,
  period_end timestamp with time zone,
  days_in_force integer,
  days_in_period integer,
  quantity numeric,
  event_count bigint,
  detail jsonb,
  exact_amount text NOT NULL,
  billed_before numeric NOT NULL,
  amount numeric NOT NULL,
  closing bigint,
  rating_version integer NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT billing_now(),
  waived numeric,
  rebills integer NOT NULL DEFAULT 0,
  rebilled integer,
  CONSTRAINT invoice_lines_due_check CHECK (((kind = 'ADJUSTMENT'::text) = (charge_id IS NULL))),
  CONSTRAINT invoice_lines_due_fkey FOREIGN KEY (organization_id, subscription_id, cycle, charge_id) REFERENCES dues(organization_id, subscription_id, cycle, charge_id),
  CONSTRAINT invoice_lines_kind_check CHECK ((kind = ANY (ARRAY['FIXED'::text, 'USAGE'::text, 'LATE_USAGE'::text, 'ADJUSTMENT'::text]))),
  CONSTRAINT invoice_lines_organization_id_invoice_id_fkey FOREIGN KEY (organization_id, invoice_id) REFERENCES invoices(organization_id, id),
  CONSTRAINT invoice_lines_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT invoice_lines_waived_check CHECK ((waived > (0)::numeric))
);

CREATE TABLE invoice_numbers (
  organization_id uuid NOT NULL,
  year integer NOT NULL,
  last_number bigint NOT NULL,
  issue_date date,
  last_at timestamp with time zone,
  CONSTRAINT invoice_numbers_pkey PRIMARY KEY (organization_id, year)
);

CREATE TABLE invoices (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  kind text NOT NULL,
  status text NOT NULL,
  subscription_id uuid NOT NULL,
  customer_id uuid NOT NULL,
  cycle integer,
  currency text NOT NULL,
  period_start timestamp with time zone NOT NULL,
  period_end timestamp with time zone NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT billing_now(),
  finalizes_at timestamp with time zone,
  run_at timestamp with time zone,
  run_error text,
  finalized_at timestamp with time zone,
  invoice_number text,
  issue_date date,
  due_date date,
  past_due_at timestamp with time zone,
  subtotal numeric,
  total numeric,
  credits_applied numeric,
  amount_paid numeric,
  customer jsonb,
  is_past_due boolean NOT NULL DEFAULT false,
  paid_at timestamp with time zone,
  reference text,
  note text,
  issuer text,
  seller jsonb,
  buyer jsonb,
  uncollectible_at timestamp with time zone,
  CONSTRAINT invoices_cycle_check CHECK (((kind = 'SUBSCRIPTION'::text) = (cycle IS NOT NULL))),
  CONSTRAINT invoices_invoice_number_check CHECK (((status = 'DRAFT'::text) = (invoice_number IS NULL))),
  CONSTRAINT invoices_kind_check CHECK ((kind = ANY (ARRAY['SUBSCRIPTION'::text, 'ADJUSTMENT'::text]))),
  CONSTRAINT invoices_organization_id_customer_id_fkey FOREIGN KEY (organization_id, customer_id) REFERENCES customers(organization_id, id),
  CONSTRAINT invoices_organization_id_invoice_number_key UNIQUE (invoice_number, organization_id),
  CONSTRAINT invoices_organization_id_subscription_id_cycle_key UNIQUE (subscription_id, organization_id, cycle),
  CONSTRAINT invoices_organization_id_subscription_id_fkey FOREIGN KEY (organization_id, subscription_id) REFERENCES subscriptions(organization_id, id),
  CONSTRAINT invoices_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT invoices_status_check CHECK ((status = ANY (ARRAY['DRAFT'::text, 'OPEN'::text, 'PAID'::text, 'VOID'::text, 'UNCOLLECTIBLE'::text])))
);

CREATE TABLE late_events (
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  customer_external_id text NOT NULL,
  "timestamp" timestamp with time zone NOT NULL,
  event_id uuid NOT NULL,
  closing bigint NOT NULL,
  quantity numeric NOT NULL,
  voids uuid,
  CONSTRAINT late_events_pkey PRIMARY KEY (organization_id, meter_id, customer_external_id, "timestamp", event_id)
);

CREATE TABLE metadata_backfills (
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  change_id uuid NOT NULL DEFAULT gen_random_uuid(),
  stage text NOT NULL DEFAULT 'clearing'::text,
  customer_external_id text NOT NULL DEFAULT ''::text,
  hour timestamp with time zone NOT NULL DEFAULT '-infinity'::timestamp with time zone,
  event_id uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000'::uuid,
  CONSTRAINT metadata_backfills_organization_id_meter_id_fkey FOREIGN KEY (organization_id, meter_id) REFERENCES meters(organization_id, id),
  CONSTRAINT metadata_backfills_pkey PRIMARY KEY (organization_id, meter_id),
  CONSTRAINT metadata_backfills_stage_check CHECK ((stage = ANY (ARRAY['clearing'::text, 'grouping'::text, 'catching_up'::text])))
);

CREATE TABLE metadata_groups (
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  day timestamp with time zone NOT NULL,
  group_hash uuid NOT NULL,
  group_values text[] NOT NULL,
  CONSTRAINT metadata_groups_pkey PRIMARY KEY (organization_id, meter_id, day, group_hash)
);

CREATE TABLE meter_group_quarters (
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  quarter timestamp with time zone NOT NULL,
  group_hash uuid NOT NULL,
  part smallint NOT NULL,
  event_count bigint NOT NULL,
  quantity_sum numeric NOT NULL,
  quantity_min numeric NOT NULL,
  quantity_max numeric NOT NULL,
  last_timestamp timestamp with time zone NOT NULL,
  last_event_id uuid NOT NULL,
  last_quantity numeric NOT NULL,
  CONSTRAINT meter_group_quarters_pkey PRIMARY KEY (organization_id, meter_id, quarter, group_hash, part)
) WITH (fillfactor=30);

CREATE TABLE meter_group_value_days (
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  day timestamp with time zone NOT NULL,
  group_hash uuid NOT NULL,
  value_hash bytea NOT NULL,
  quarters bit(96) NOT NULL,
  CONSTRAINT meter_group_value_days_pkey PRIMARY KEY (organization_id, meter_id, day, group_hash, value_hash)
) WITH (fillfactor=50);

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
  metadata_keys text[] NOT NULL DEFAULT '{}'::text[],
  CONSTRAINT meters_aggregation_type_check CHECK ((aggregation_type = ANY (ARRAY['COUNT'::text, 'SUM'::text, 'MAX'::text, 'MIN'::text, 'AVG'::text, 'LAST'::text, 'UNIQUE_COUNT'::text]))),
  CONSTRAINT meters_metadata_keys_check CHECK ((cardinality(metadata_keys) <= 5)),
  CONSTRAINT meters_meter_token_key UNIQUE (meter_token),
  CONSTRAINT meters_organization_id_feature_id_fkey FOREIGN KEY (organization_id, feature_id) REFERENCES features(organization_id, id) ON DELETE SET NULL (feature_id),
  CONSTRAINT meters_organization_id_feature_id_key UNIQUE (feature_id, organization_id),
  CONSTRAINT meters_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT meters_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT meters_status_check CHECK ((status = ANY (ARRAY['ACTIVE'::text, 'ARCHIVED'::text])))
);

CREATE TABLE migrations (
  name text NOT NULL,
  applied_at timestamp with time zone NOT NULL DEFAULT now(),
  needs text,
  CONSTRAINT migrations_pkey PRIMARY KEY (name)
);

CREATE TABLE organizations (
  id uuid NOT NULL,
  name text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  time_zone text NOT NULL DEFAULT 'UTC'::text,
  invoice_grace_hours integer NOT NULL DEFAULT 1,
  payment_terms_days integer NOT NULL DEFAULT 30,
  invoice_prefix text NOT NULL DEFAULT 'INV'::text,
  widget_meter_ids uuid[],
  invoice_issuer text,
  finalize text NOT NULL DEFAULT 'automatic'::text,
  seller jsonb,
  CONSTRAINT organizations_finalize_check CHECK ((finalize = ANY (ARRAY['automatic'::text, 'manual'::text]))),
  CONSTRAINT organizations_invoice_grace_hours_check CHECK (((invoice_grace_hours >= 0) AND (invoice_grace_hours <= 72))),
  CONSTRAINT organizations_payment_terms_days_check CHECK (((payment_terms_days >= 0) AND (payment_terms_days <= 365))),
  CONSTRAINT organizations_pkey PRIMARY KEY (id),
  CONSTRAINT organizations_widget_meter_ids_check CHECK ((cardinality(widget_meter_ids) <= 100))
);

CREATE TABLE password_resets (
  token_hash bytea NOT NULL,
  organization_id uuid NOT NULL,
  user_id uuid NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  expires_at timestamp with time zone NOT NULL,
  made_by uuid,
  CONSTRAINT password_resets_organization_id_user_id_fkey FOREIGN KEY (organization_id, user_id) REFERENCES users(organization_id, id) ON DELETE CASCADE,
  CONSTRAINT password_resets_pkey PRIMARY KEY (token_hash)
);

CREATE TABLE payments (
  organization_id uuid NOT NULL,
  invoice_id uuid NOT NULL,
  id uuid NOT NULL,
  amount numeric NOT NULL,
  paid_at timestamp with time zone NOT NULL,
  reference text,
  created_at timestamp with time zone NOT NULL DEFAULT billing_now(),
  taken_back_at timestamp with time zone,
  note text,
  CONSTRAINT payments_amount_check CHECK ((amount > (0)::numeric)),
  CONSTRAINT payments_organization_id_invoice_id_fkey FOREIGN KEY (organization_id, invoice_id) REFERENCES invoices(organization_id, id),
  CONSTRAINT payments_pkey PRIMARY KEY (organization_id, invoice_id, id)
);

CREATE TABLE pending_claims (
  key_hash uuid NOT NULL,
  organization_id uuid NOT NULL,
  event_id uuid NOT NULL,
  idempotency_key text NOT NULL,
  fingerprint text NOT NULL,
  CONSTRAINT pending_claims_pkey PRIMARY KEY (key_hash)
);

CREATE TABLE perhaps_staged_events (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  recorded_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT perhaps_staged_events_pkey PRIMARY KEY (organization_id, id)
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
  CONSTRAINT plans_organization_id_lookup_id_key UNIQUE (lookup_id, organization_id),
  CONSTRAINT plans_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT plans_trial_days_check CHECK ((trial_days >= 0)),
  CONSTRAINT plans_type_check CHECK ((type = ANY (ARRAY['FIXED'::text, 'USAGE'::text, 'HYBRID'::text])))
);

CREATE TABLE reconciliations (
  organization_id uuid NOT NULL,
  finished_at timestamp with time zone NOT NULL DEFAULT now(),
  is_equal boolean NOT NULL,
  problems integer NOT NULL,
  CONSTRAINT reconciliations_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT reconciliations_pkey PRIMARY KEY (organization_id)
);

CREATE TABLE recording_versions (
  slot integer NOT NULL,
  version uuid NOT NULL,
  CONSTRAINT recording_versions_pkey PRIMARY KEY (slot)
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

CREATE TABLE request_keys (
  organization_id uuid NOT NULL,
  key_hash bytea NOT NULL,
  request_hash bytea NOT NULL,
  status smallint NOT NULL,
  answer text,
  withheld text[] NOT NULL,
  bytes integer NOT NULL DEFAULT COALESCE(octet_length(answer), 0),
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT request_keys_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT request_keys_pkey PRIMARY KEY (organization_id, key_hash)
);

CREATE TABLE revenue_reckonings (
  organization_id uuid NOT NULL,
  begun_at timestamp with time zone,
  part text,
  after uuid,
  stepped_at timestamp with time zone,
  sums jsonb,
  began_at timestamp with time zone,
  ended_at timestamp with time zone,
  expected jsonb,
  CONSTRAINT revenue_reckonings_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT revenue_reckonings_part_check CHECK ((part = ANY (ARRAY['drafts'::text, 'open_periods'::text]))),
  CONSTRAINT revenue_reckonings_pkey PRIMARY KEY (organization_id)
);

CREATE TABLE service_account_tokens (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  service_account_id uuid NOT NULL,
  name text NOT NULL,
  token_hash bytea NOT NULL,
  last4 text NOT NULL,
  expires_at timestamp with time zone,
  last_used_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT service_account_tokens_organization_id_service_account_id_fkey FOREIGN KEY (organization_id, service_account_id) REFERENCES service_accounts(organization_id, id) ON DELETE CASCADE,
  CONSTRAINT service_account_tokens_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT service_account_tokens_token_hash_key UNIQUE (token_hash)
);

CREATE TABLE service_accounts (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  role text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  CONSTRAINT service_accounts_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT service_accounts_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT service_accounts_role_check CHECK ((role = ANY (ARRAY['admin'::text, 'biller'::text, 'viewer'::text])))
);

CREATE TABLE sessions (
  token_hash bytea NOT NULL,
  organization_id uuid NOT NULL,
  user_id uuid NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  used_at timestamp with time zone NOT NULL DEFAULT now(),
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  address text,
  user_agent text,
  CONSTRAINT sessions_organization_id_user_id_fkey FOREIGN KEY (organization_id, user_id) REFERENCES users(organization_id, id) ON DELETE CASCADE,
  CONSTRAINT sessions_pkey PRIMARY KEY (token_hash)
);

CREATE TABLE subscription_periods (
  organization_id uuid NOT NULL,
  subscription_id uuid NOT NULL,
  cycle integer NOT NULL,
  plan_id uuid NOT NULL,
  period_start timestamp with time zone NOT NULL,
  period_end timestamp with time zone NOT NULL,
  days_in_force integer,
  days_in_period integer,
  opened_at timestamp with time zone NOT NULL DEFAULT billing_now(),
  CONSTRAINT subscription_periods_organization_id_subscription_id_fkey FOREIGN KEY (organization_id, subscription_id) REFERENCES subscriptions(organization_id, id),
  CONSTRAINT subscription_periods_period_check CHECK ((period_start <= period_end)),
  CONSTRAINT subscription_periods_pkey PRIMARY KEY (organization_id, subscription_id, cycle)
);

CREATE TABLE subscriptions (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  external_id text,
  customer_id uuid NOT NULL,
  customer_external_id text NOT NULL,
  plan_id uuid NOT NULL,
  pending_plan_id uuid,
  status text NOT NULL,
  time_zone text NOT NULL,
  currency text NOT NULL,
  billing_interval text NOT NULL,
  billing_alignment text NOT NULL,
  start_at timestamp with time zone NOT NULL,
  trial_end_at timestamp with time zone,
  anchor date NOT NULL,
  anchor_at timestamp with time zone NOT NULL,
  anchor_cycle integer NOT NULL DEFAULT 0,
  cycle integer,
  current_period_start timestamp with time zone NOT NULL,
  current_period_end timestamp with time zone NOT NULL,
  cancel_at_period_end boolean NOT NULL DEFAULT false,
  cancel_reason text,
  canceled_at timestamp with time zone,
  ended_at timestamp with time zone,
  run_at timestamp with time zone,
  run_error text,
  closing bigint NOT NULL DEFAULT 0,
  created_at timestamp with time zone NOT NULL DEFAULT billing_now(),
  is_scheduled boolean NOT NULL DEFAULT false,
  CONSTRAINT subscriptions_billing_alignment_check CHECK ((billing_alignment = ANY (ARRAY['anniversary'::text, 'calendar'::text]))),
  CONSTRAINT subscriptions_billing_interval_check CHECK ((billing_interval = ANY (ARRAY['day'::text, 'week'::text, 'month'::text, 'year'::text]))),
  CONSTRAINT subscriptions_current_period_check CHECK ((current_period_start <= current_period_end)),
  CONSTRAINT subscriptions_organization_id_customer_id_fkey FOREIGN KEY (organization_id, customer_id) REFERENCES customers(organization_id, id),
  CONSTRAINT subscriptions_organization_id_external_id_key UNIQUE (external_id, organization_id),
  CONSTRAINT subscriptions_organization_id_pending_plan_id_fkey FOREIGN KEY (organization_id, pending_plan_id) REFERENCES plans(organization_id, id),
  CONSTRAINT subscriptions_organization_id_plan_id_fkey FOREIGN KEY (organization_id, plan_id) REFERENCES plans(organization_id, id),
  CONSTRAINT subscriptions_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT subscriptions_status_check CHECK ((status = ANY (ARRAY['TRIAL'::text, 'ACTIVE'::text, 'PAST_DUE'::text, 'CANCELED'::text])))
);

CREATE TABLE touched_usage (
  organization_id uuid NOT NULL,
  id bigint NOT NULL,
  customer_external_id text NOT NULL,
  meter_id uuid,
  touched_at timestamp with time zone NOT NULL DEFAULT billing_now(),
  after_subscription_id uuid,
  CONSTRAINT touched_usage_pkey PRIMARY KEY (organization_id, id)
);

CREATE TABLE unbilled_usage_days (
  organization_id uuid NOT NULL,
  day date NOT NULL,
  meter_id uuid NOT NULL,
  reason text NOT NULL,
  events bigint NOT NULL,
  customers bigint NOT NULL,
  CONSTRAINT unbilled_usage_days_pkey PRIMARY KEY (organization_id, day, meter_id, reason),
  CONSTRAINT unbilled_usage_days_reason_check CHECK ((reason = ANY (ARRAY['price_ended'::text, 'not_in_plan'::text, 'after_end'::text, 'no_subscription'::text])))
);

CREATE TABLE unbilled_usage_looks (
  day date NOT NULL,
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  looked_on date NOT NULL,
  has_failed boolean NOT NULL DEFAULT false,
  CONSTRAINT unbilled_usage_looks_pkey PRIMARY KEY (day, organization_id, meter_id)
);

CREATE TABLE unbilled_usage_told (
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  month date NOT NULL,
  reason text NOT NULL,
  CONSTRAINT unbilled_usage_told_pkey PRIMARY KEY (organization_id, meter_id, month, reason)
);

CREATE TABLE ungrouped_events (
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  change_id uuid NOT NULL,
  event_id uuid NOT NULL,
  CONSTRAINT ungrouped_events_pkey PRIMARY KEY (organization_id, meter_id, change_id, event_id)
);

CREATE TABLE usage_moves (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  kind text NOT NULL,
  customer_id uuid,
  from_external_id text,
  to_external_id text NOT NULL,
  copies_issued_before date,
  events bigint NOT NULL DEFAULT 0,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  moved_at timestamp with time zone,
  finished_at timestamp with time zone,
  stage text,
  stage_after text NOT NULL DEFAULT ''::text,
  alert_ids uuid[],
  name_hashes bytea[],
  grouped_meter_id uuid,
  CONSTRAINT usage_moves_from_external_id_check CHECK (((from_external_id IS NULL) = ((kind = 'ERASE'::text) AND (finished_at IS NOT NULL)))),
  CONSTRAINT usage_moves_kind_check CHECK ((kind = ANY (ARRAY['ERASE'::text, 'MOVE'::text]))),
  CONSTRAINT usage_moves_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT usage_moves_pkey PRIMARY KEY (organization_id, id)
);

CREATE TABLE users (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  email text NOT NULL,
  password_hash text NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  role text NOT NULL DEFAULT 'admin'::text,
  last_seen_at timestamp with time zone,
  CONSTRAINT users_email_key UNIQUE (email),
  CONSTRAINT users_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT users_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT users_role_check CHECK ((role = ANY (ARRAY['admin'::text, 'viewer'::text])))
);

CREATE TABLE webhook_deliveries (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  endpoint_id uuid NOT NULL,
  sequence bigint,
  status text NOT NULL DEFAULT 'PENDING'::text,
  next_attempt_at timestamp with time zone,
  tries integer NOT NULL DEFAULT 0,
  attempt_count integer NOT NULL DEFAULT 0,
  attempts jsonb NOT NULL DEFAULT '[]'::jsonb,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  delivered_at timestamp with time zone,
  CONSTRAINT webhook_deliveries_organization_id_endpoint_id_fkey FOREIGN KEY (organization_id, endpoint_id) REFERENCES webhook_endpoints(organization_id, id) ON DELETE CASCADE,
  CONSTRAINT webhook_deliveries_organization_id_endpoint_id_sequence_key UNIQUE (organization_id, endpoint_id, sequence),
  CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT webhook_deliveries_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'DELIVERED'::text, 'FAILED'::text])))
);

CREATE TABLE webhook_endpoints (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  url text NOT NULL,
  event_types text[],
  status text NOT NULL DEFAULT 'ACTIVE'::text,
  disabled_reason text,
  secret bytea NOT NULL,
  previous_secret bytea,
  previous_secret_until timestamp with time zone,
  last_sequence bigint NOT NULL,
  replay_next bigint,
  replay_last bigint,
  failing_since timestamp with time zone,
  answer_ms integer,
  held_by uuid,
  held_until timestamp with time zone,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  deleted_at timestamp with time zone,
  CONSTRAINT webhook_endpoints_disabled_reason_check CHECK ((disabled_reason = ANY (ARRAY['FAILING'::text, 'GONE'::text]))),
  CONSTRAINT webhook_endpoints_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations(id),
  CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT webhook_endpoints_replay_next_check CHECK (((replay_next IS NULL) = (replay_last IS NULL))),
  CONSTRAINT webhook_endpoints_status_check CHECK ((status = ANY (ARRAY['ACTIVE'::text, 'DISABLED'::text])))
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

CREATE INDEX alert_crossings_alert_id_idx ON public.alert_crossings USING btree (alert_id, id);

CREATE UNIQUE INDEX alert_crossings_amount_key ON public.alert_crossings USING btree (organization_id, alert_id, subscription_id, period_start, threshold) WHERE (currency IS NOT NULL);

CREATE UNIQUE INDEX alert_crossings_record_key ON public.alert_crossings USING btree (organization_id, alert_id, customer_id, period_start, threshold) WHERE ((subscription_id IS NULL) AND (customer_id IS NOT NULL));

CREATE UNIQUE INDEX alert_crossings_usage_key ON public.alert_crossings USING btree (organization_id, alert_id, customer_external_id, period_start, threshold) WHERE (currency IS NULL);

CREATE INDEX alerts_slot_idx ON public.alerts USING btree (closing_slot(organization_id), organization_id) WHERE (status = 'ACTIVE'::text);

CREATE INDEX api_keys_revoked_at_idx ON public.api_keys USING btree (revoked_at) WHERE (revoked_at IS NOT NULL);

CREATE INDEX audit_entries_action_idx ON public.audit_entries USING btree (uuid_hash_extended(organization_id, (0)::bigint), action, id);

CREATE INDEX audit_entries_actor_id_action_idx ON public.audit_entries USING btree (uuid_hash_extended(actor_id, (0)::bigint), action, id);

CREATE INDEX audit_entries_actor_id_idx ON public.audit_entries USING btree (actor_id, id);

CREATE INDEX audit_entries_organization_id_action_idx ON public.audit_entries USING btree (organization_id, action, id);

CREATE INDEX audit_entries_organization_id_actor_id_idx ON public.audit_entries USING btree (organization_id, actor_id, id);

CREATE INDEX audit_entries_organization_id_resource_id_idx ON public.audit_entries USING btree (organization_id, resource_id, id);

CREATE INDEX audit_entries_resource_id_idx ON public.audit_entries USING btree (resource_id, id);

CREATE INDEX billed_meters_organization_id_subscription_id_idx ON public.billed_meters USING btree (organization_id, subscription_id);

CREATE UNIQUE INDEX charges_organization_id_plan_id_meter_id_key ON public.charges USING btree (organization_id, plan_id, meter_id) WHERE ((ended_at IS NULL) AND (meter_id IS NOT NULL));

CREATE INDEX charges_plan_id_idx ON public.charges USING btree (plan_id, organization_id);

CREATE UNIQUE INDEX corrections_amended_by_organization_id_key ON public.corrections USING btree (amended_by, organization_id) WHERE (amended_by IS NOT NULL);

CREATE INDEX corrections_event_meter_id_idx ON public.corrections USING btree (event_meter_id, event_id) INCLUDE (event_time) WHERE (event_meter_id IS NOT NULL);

CREATE UNIQUE INDEX corrections_id_key ON public.corrections USING btree (uuid_send(organization_id), id);

CREATE INDEX credit_entries_invoice_id_idx ON public.credit_entries USING btree (invoice_id, id) WHERE (invoice_id IS NOT NULL);

CREATE INDEX credit_grants_customer_id_idx ON public.credit_grants USING btree (customer_id, id);

CREATE INDEX credit_grants_invoice_id_idx ON public.credit_grants USING btree (invoice_id) WHERE (invoice_id IS NOT NULL);

CREATE INDEX credit_grants_live_idx ON public.credit_grants USING btree (((((customer_id)::text || ' '::text) || currency)), COALESCE(expires_at, 'infinity'::timestamp with time zone)) WHERE (remaining > (0)::numeric);

CREATE INDEX customer_group_hours_meter_hour_idx ON public.customer_group_hours USING btree (uuid_hash_extended(meter_id, (0)::bigint), hour);

CREATE INDEX customer_group_value_days_meter_day_idx ON public.customer_group_value_days USING btree (uuid_hash_extended(meter_id, (0)::bigint), day);

CREATE INDEX customer_usage_days_meter_day_idx ON public.customer_usage_days USING btree (uuid_hash_extended(meter_id, (0)::bigint), day);

CREATE INDEX customer_value_days_meter_day_idx ON public.customer_value_days USING btree (uuid_hash_extended(meter_id, (0)::bigint), day);

CREATE INDEX customers_external_id_idx ON public.customers USING btree (hashtextextended(external_id, uuid_hash_extended(organization_id, (0)::bigint)));

CREATE INDEX customers_name_idx ON public.customers USING btree (uuid_hash_extended(organization_id, (0)::bigint), lower(COALESCE(name, external_id)), id);

CREATE INDEX dues_charge_id_idx ON public.dues USING btree (charge_id);

CREATE INDEX dues_organization_id_meter_id_customer_external_id_idx ON public.dues USING btree (organization_id, meter_id, customer_external_id, period_start) WHERE (meter_id IS NOT NULL);

CREATE INDEX dues_rebilling_idx ON public.dues USING btree (organization_id, subscription_id) WHERE rebilling;

CREATE INDEX dues_subscription_id_meter_id_idx ON public.dues USING btree (uuid_hash_extended(subscription_id, (0)::bigint), meter_id, customer_external_id) WHERE (meter_id IS NOT NULL);

CREATE INDEX duplicate_events_customer_idx ON public.duplicate_events USING btree (organization_id, (((event)::json ->> 'customer_external_id'::text)), id);

CREATE INDEX duplicate_events_duplicate_of_idx ON public.duplicate_events USING btree (organization_id, duplicate_of, id);

CREATE INDEX duplicate_events_meter_idx ON public.duplicate_events USING btree (organization_id, (((event)::json ->> 'meter_id'::text)), id);

CREATE INDEX events_stream_timestamp_idx ON ONLY public.events USING btree (event_stream(meter_id, customer_external_id), "timestamp");

CREATE INDEX invitations_expires_at_idx ON public.invitations USING btree (expires_at);

CREATE INDEX invoice_lines_due_idx ON public.invoice_lines USING btree (organization_id, subscription_id, cycle, charge_id);

CREATE INDEX invoice_lines_invoice_id_idx ON public.invoice_lines USING btree (invoice_id, "position", id);

CREATE INDEX invoices_customer_id_idx ON public.invoices USING btree (customer_id, issue_date, id);

CREATE INDEX invoices_issue_date_idx ON public.invoices USING btree (uuid_hash_extended(organization_id, (0)::bigint), issue_date, id) WHERE (issue_date IS NOT NULL);

CREATE INDEX invoices_number_idx ON public.invoices USING btree (uuid_hash_extended(organization_id, (3)::bigint), upper(invoice_number) text_pattern_ops) WHERE (invoice_number IS NOT NULL);

CREATE INDEX invoices_organization_id_finalized_at_idx ON public.invoices USING btree (organization_id, finalized_at) WHERE (finalized_at IS NOT NULL);

CREATE INDEX invoices_organization_id_past_due_at_idx ON public.invoices USING btree (organization_id, past_due_at) WHERE ((status = 'OPEN'::text) AND (NOT is_past_due));

CREATE INDEX invoices_organization_id_run_at_id_idx ON public.invoices USING btree (organization_id, run_at, id) WHERE (run_at IS NOT NULL);

CREATE INDEX invoices_organization_id_status_subscription_id_idx ON public.invoices USING btree (organization_id, status, subscription_id) WHERE (status = ANY (ARRAY['DRAFT'::text, 'OPEN'::text]));

CREATE INDEX invoices_past_due_idx ON public.invoices USING btree (uuid_hash_extended(organization_id, (2)::bigint), id) WHERE is_past_due;

CREATE INDEX invoices_past_due_issue_date_idx ON public.invoices USING btree (uuid_hash_extended(organization_id, (4)::bigint), issue_date, id) WHERE is_past_due;

CREATE INDEX invoices_period_end_idx ON public.invoices USING btree (uuid_hash_extended(organization_id, (1)::bigint), period_end, id);

CREATE INDEX invoices_run_error_idx ON public.invoices USING btree (organization_id, subscription_id) WHERE ((run_error IS NOT NULL) AND (status = ANY (ARRAY['DRAFT'::text, 'OPEN'::text])));

CREATE INDEX invoices_status_idx ON public.invoices USING btree (uuid_hash_extended(organization_id, (5)::bigint), hashtextextended(status, (0)::bigint), id) WHERE (status = ANY (ARRAY['VOID'::text, 'UNCOLLECTIBLE'::text]));

CREATE INDEX invoices_status_issue_date_idx ON public.invoices USING btree (uuid_hash_extended(organization_id, (6)::bigint), hashtextextended(status, (0)::bigint), issue_date, id) WHERE (status = ANY (ARRAY['VOID'::text, 'UNCOLLECTIBLE'::text]));

CREATE INDEX late_events_closing_idx ON public.late_events USING btree (organization_id, meter_id, customer_external_id, closing) WHERE (closing > 0);

CREATE INDEX metadata_groups_values_idx ON public.metadata_groups USING gin (array_prepend((organization_id)::text, group_values)) WITH (fastupdate=off);

CREATE INDEX meters_metadata_keys_idx ON public.meters USING btree (organization_id, id) WHERE (metadata_keys <> '{}'::text[]);

CREATE INDEX meters_slot_idx ON public.meters USING btree (closing_slot(organization_id)) WHERE (metadata_keys <> '{}'::text[]);

CREATE INDEX password_resets_expires_at_idx ON public.password_resets USING btree (expires_at);

CREATE INDEX password_resets_organization_id_user_id_idx ON public.password_resets USING btree (organization_id, user_id);

CREATE INDEX plan_features_organization_id_feature_id_idx ON public.plan_features USING btree (organization_id, feature_id);

CREATE INDEX plans_name_idx ON public.plans USING btree (uuid_hash_extended(organization_id, (0)::bigint), lower(name), id);

CREATE INDEX rejected_events_customer_idx ON public.rejected_events USING btree (hashtextextended(customer_external_id, uuid_hash_extended(organization_id, (0)::bigint)), id);

CREATE INDEX rejected_events_key_idx ON public.rejected_events USING btree (hashtextextended(rejected_key(event), uuid_hash_extended(organization_id, (0)::bigint)), id);

CREATE INDEX rejected_events_meter_idx ON public.rejected_events USING btree (meter_id, id);

CREATE INDEX rejected_events_meter_reason_idx ON public.rejected_events USING btree (hashtextextended(reason_kind(reason), uuid_hash_extended(meter_id, (0)::bigint)), id);

CREATE INDEX rejected_events_reason_idx ON public.rejected_events USING btree (hashtextextended(reason_kind(reason), uuid_hash_extended(organization_id, (0)::bigint)), id);

CREATE INDEX request_keys_organization_id_created_at_idx ON public.request_keys USING btree (organization_id, created_at) INCLUDE (bytes);

CREATE INDEX revenue_reckonings_stepped_at_idx ON public.revenue_reckonings USING btree (stepped_at, organization_id) WHERE (begun_at IS NOT NULL);

CREATE INDEX service_account_tokens_organization_id_service_account_id_idx ON public.service_account_tokens USING btree (organization_id, service_account_id, id);

CREATE INDEX sessions_organization_id_user_id_idx ON public.sessions USING btree (organization_id, user_id);

CREATE INDEX sessions_used_at_idx ON public.sessions USING btree (used_at);

CREATE INDEX subscriptions_billed_as_idx ON public.subscriptions USING btree (hashtextextended(customer_external_id, uuid_hash_extended(organization_id, (0)::bigint)));

CREATE INDEX subscriptions_customer_external_id_idx ON public.subscriptions USING btree (customer_external_id, organization_id);

CREATE INDEX subscriptions_customer_id_idx ON public.subscriptions USING btree (customer_id, organization_id);

CREATE INDEX subscriptions_ended_idx ON public.subscriptions USING btree (uuid_hash_extended(organization_id, (2)::bigint), id) WHERE (ended_at IS NOT NULL);

CREATE INDEX subscriptions_organization_id_pending_plan_id_idx ON public.subscriptions USING btree (organization_id, pending_plan_id) WHERE (pending_plan_id IS NOT NULL);

CREATE INDEX subscriptions_organization_id_run_at_id_idx ON public.subscriptions USING btree (organization_id, run_at, id) WHERE (run_at IS NOT NULL);

CREATE INDEX subscriptions_plan_id_idx ON public.subscriptions USING btree (plan_id, organization_id);

CREATE INDEX subscriptions_run_error_idx ON public.subscriptions USING btree (organization_id) WHERE (run_error IS NOT NULL);

CREATE INDEX subscriptions_scheduled_idx ON public.subscriptions USING btree (uuid_hash_extended(organization_id, (1)::bigint), id) WHERE is_scheduled;

CREATE INDEX subscriptions_status_idx ON public.subscriptions USING btree (uuid_hash_extended(organization_id, (0)::bigint), hashtextextended(status, (0)::bigint), id) WHERE (status <> 'CANCELED'::text);

CREATE INDEX usage_moves_created_at_idx ON public.usage_moves USING btree (created_at, organization_id, id) WHERE (finished_at IS NULL);

CREATE INDEX usage_moves_kind_idx ON public.usage_moves USING btree (uuid_hash_extended(organization_id, (0)::bigint), kind, id);

CREATE UNIQUE INDEX usage_moves_organization_id_from_external_id_key ON public.usage_moves USING btree (organization_id, from_external_id) WHERE (finished_at IS NULL);

CREATE INDEX usage_moves_organization_id_to_external_id_idx ON public.usage_moves USING btree (organization_id, to_external_id);

CREATE INDEX webhook_deliveries_created_at_idx ON public.webhook_deliveries USING btree (uuid_hash_extended(endpoint_id, (0)::bigint), created_at, sequence, id);

CREATE INDEX webhook_deliveries_organization_id_endpoint_id_next_idx ON public.webhook_deliveries USING btree (organization_id, endpoint_id, next_attempt_at, sequence) WHERE (status = 'PENDING'::text);

CREATE INDEX webhook_deliveries_status_idx ON public.webhook_deliveries USING btree (uuid_hash_extended(endpoint_id, (1)::bigint), status, created_at, sequence, id);

CREATE INDEX widget_tokens_expires_at_idx ON public.widget_tokens USING btree (expires_at);

CREATE INDEX widget_tokens_organization_id_api_key_id_idx ON public.widget_tokens USING btree (organization_id, api_key_id);

CREATE INDEX widget_tokens_organization_id_customer_external_id_idx ON public.widget_tokens USING btree (organization_id, customer_external_id);

CREATE OR REPLACE FUNCTION public.billing_clock()
 RETURNS timestamp with time zone
 LANGUAGE sql
RETURN clock_timestamp()
;

CREATE OR REPLACE FUNCTION public.billing_now()
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE
RETURN now()
;

CREATE OR REPLACE FUNCTION public.change_recording_versions()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  -- In one order, so that two of them wait for each other.
  PERFORM FROM recording_versions ORDER BY slot FOR NO KEY UPDATE;
  UPDATE recording_versions SET version = gen_random_uuid();
  RETURN NEW;
END $function$
;

CREATE OR REPLACE FUNCTION public.closing_slot(organization_id uuid)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (uuid_hash(organization_id) & 63)
;

CREATE OR REPLACE FUNCTION public.closings_of(organization_ids uuid[])
 RETURNS SETOF closings
 LANGUAGE plpgsql
 ROWS 10
AS $function$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(20002, slot)
  FROM (SELECT DISTINCT closing_slot(id) AS slot FROM unnest(organization_ids) AS id ORDER BY slot) AS slots;
  RETURN QUERY SELECT * FROM closings WHERE organization_id = ANY (organization_ids);
END $function$
;

CREATE OR REPLACE FUNCTION public.closings_of(organization_ids uuid[], known_version uuid)
 RETURNS SETOF closings
 LANGUAGE plpgsql
 ROWS 10
AS $function$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(20002, slot)
  FROM (SELECT DISTINCT closing_slot(id) AS slot FROM unnest(organization_ids) AS id ORDER BY slot) AS slots;
  IF known_version IS NOT NULL AND known_version IS DISTINCT FROM (SELECT version FROM metadata_keys_version) THEN
    RAISE EXCEPTION 'the metadata keys of meters have changed' USING ERRCODE = 'WK001';
  END IF;
  RETURN QUERY SELECT * FROM closings WHERE organization_id = ANY (organization_ids);
END $function$
;

CREATE OR REPLACE FUNCTION public.closings_of(organization_ids uuid[], known_versions uuid[])
 RETURNS SETOF closings
 LANGUAGE plpgsql
 ROWS 10
AS $function$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(20002, slot)
  FROM (SELECT DISTINCT closing_slot(id) AS slot FROM unnest(organization_ids) AS id ORDER BY slot) AS slots;
  PERFORM refuse_old_knowledge(organization_ids, known_versions);
  RETURN QUERY SELECT * FROM closings WHERE organization_id = ANY (organization_ids);
END $function$
;

CREATE OR REPLACE FUNCTION public.erased_metadata(metadata json, keys text[], counts_unique_values boolean)
 RETURNS json
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (SELECT json_object_agg(kept.name, kept.value) AS json_object_agg FROM (SELECT combined.key AS name, CASE combined.key WHEN 'user_id'::text THEN (erased_metadata.metadata -> combined.key) ELSE to_json(combined.value) END AS value FROM UNNEST(erased_metadata.keys, group_values(erased_metadata.keys, erased_metadata.metadata)) combined(key, value) WHERE (combined.value IS NOT NULL) UNION ALL SELECT 'erased_user_id'::text, to_json(encode(unique_value_hash(erased_metadata.metadata), 'hex'::text)) AS to_json WHERE (erased_metadata.counts_unique_values AND (unique_value_hash(erased_metadata.metadata) IS NOT NULL) AND (NOT ('user_id'::text = ANY (erased_metadata.keys))))) kept)
;

CREATE OR REPLACE FUNCTION public.event_stream(meter_id uuid, customer_external_id text)
 RETURNS bigint
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN hashtextextended(customer_external_id, uuid_hash_extended(meter_id, (0)::bigint))
;

CREATE OR REPLACE FUNCTION public.event_timestamp(event text)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN ("substring"(event, '"timestamp":"([^"]+)"'::text))::timestamp with time zone
;

CREATE OR REPLACE FUNCTION public.first_event_id(since timestamp with time zone)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN ((lpad(to_hex(((EXTRACT(epoch FROM since) * (1000)::numeric))::bigint), 12, '0'::text) || '70008000000000000000'::text))::uuid
;

CREATE OR REPLACE FUNCTION public.group_hash(group_values text[])
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (encode(SUBSTRING(sha256(convert_to((array_to_json(group_values))::text, 'UTF8'::name)) FROM 1 FOR 16), 'hex'::text))::uuid
;

CREATE OR REPLACE FUNCTION public.group_of(organization_id uuid, meter_id uuid, keys text[], "timestamp" timestamp with time zone, metadata json)
 RETURNS uuid
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN COALESCE((SELECT kept.group_hash FROM metadata_groups kept WHERE ((kept.organization_id = group_of.organization_id) AND (kept.meter_id = group_of.meter_id) AND (kept.day = date_trunc('day'::text, group_of."timestamp", 'UTC'::text)) AND (kept.group_hash = group_hash(group_values(group_of.keys, group_of.metadata))))), '00000000-0000-0000-0000-000000000000'::uuid)
;

CREATE OR REPLACE FUNCTION public.group_value(value text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN ((char_length(value) <= 100) OR ((char_length(value) = 113) AND (value ~ '^.{80}…[0-9a-f]{32}$'::text))) THEN value ELSE (("left"(value, 80) || '…'::text) || encode(SUBSTRING(sha256(convert_to(value, 'UTF8'::name)) FROM 1 FOR 16), 'hex'::text)) END
;

CREATE OR REPLACE FUNCTION public.group_values(keys text[], metadata json)
 RETURNS text[]
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
DECLARE
  parsed jsonb := metadata;
  combined text[] := '{}';
  key text;
  value jsonb;
  kind text;
  plain text;
BEGIN
  FOREACH key IN ARRAY keys LOOP
    value := parsed -> key;
    kind := jsonb_typeof(value);
    plain := CASE
      WHEN kind = 'string' OR kind = 'boolean' THEN value #>> '{}'
      WHEN kind = 'number' THEN trim_scale((value #>> '{}')::numeric)::text
    END;
    combined := combined || group_value(plain);
  END LOOP;
  RETURN combined;
END $function$
;

CREATE OR REPLACE FUNCTION public.idempotency_key_hash(organization_id uuid, idempotency_key text)
 RETURNS uuid
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (encode(SUBSTRING(sha256(convert_to(((organization_id)::text || idempotency_key), 'UTF8'::name)) FROM 1 FOR 16), 'hex'::text))::uuid
;

CREATE OR REPLACE FUNCTION public.keep_combinations(asked metadata_groups[])
 RETURNS SETOF metadata_groups
 LANGUAGE plpgsql
AS $function$
DECLARE
  missing metadata_groups[] := ARRAY(
    SELECT each FROM unnest(asked) AS each WHERE NOT EXISTS (
      SELECT FROM metadata_groups AS kept WHERE (kept.organization_id, kept.meter_id, kept.day, kept.group_hash)
        = (each.organization_id, each.meter_id, each.day, each.group_hash)));
BEGIN
  IF cardinality(missing) > 0 THEN
    PERFORM pg_advisory_xact_lock(20005, slot)
    FROM (SELECT DISTINCT uuid_hash(meter_id) AS slot FROM unnest(missing) ORDER BY slot) AS slots;
    INSERT INTO metadata_groups
    SELECT organization_id, meter_id, day, group_hash, group_values FROM (
      SELECT each.*, row_number() OVER (PARTITION BY organization_id, meter_id, day ORDER BY group_hash) AS place
      FROM unnest(missing) AS each WHERE NOT EXISTS (
        SELECT FROM metadata_groups AS kept WHERE (kept.organization_id, kept.meter_id, kept.day, kept.group_hash)
          = (each.organization_id, each.meter_id, each.day, each.group_hash))
    ) AS added
    WHERE place <= metadata_groups_max() - (SELECT count(*) FROM metadata_groups AS kept
      WHERE (kept.organization_id, kept.meter_id, kept.day) = (added.organization_id, added.meter_id, added.day))
    ORDER BY organization_id, meter_id, day, group_hash;
  END IF;
  RETURN QUERY SELECT kept.* FROM unnest(asked) AS each JOIN metadata_groups AS kept
    USING (organization_id, meter_id, day, group_hash);
END $function$
;

CREATE OR REPLACE FUNCTION public.keep_groups(asked metadata_groups[])
 RETURNS SETOF metadata_groups
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF EXISTS (SELECT FROM unnest(asked) AS each JOIN metadata_backfills USING (organization_id, meter_id)) THEN
    RAISE EXCEPTION 'usage is being grouped by a newer version of this program';
  END IF;
  RETURN QUERY SELECT * FROM keep_combinations(asked);
END $function$
;

CREATE OR REPLACE FUNCTION public.keep_payments()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
  missing numeric;
BEGIN
  IF NEW.status = 'UNCOLLECTIBLE' THEN
    NEW.uncollectible_at := coalesce(NEW.uncollectible_at, billing_clock());
  ELSIF NEW.amount_paid > OLD.amount_paid THEN
    missing := NEW.amount_paid - (
      SELECT coalesce(sum(amount), 0) FROM payments
      WHERE organization_id = NEW.organization_id AND invoice_id = NEW.id AND taken_back_at IS NULL);
    IF missing > 0 THEN
      INSERT INTO payments (organization_id, invoice_id, id, amount, paid_at, reference)
      VALUES (NEW.organization_id, NEW.id, gen_random_uuid(), missing, coalesce(NEW.paid_at, billing_now()), NEW.reference);
    END IF;
  END IF;
  RETURN NEW;
END $function$
;

CREATE OR REPLACE FUNCTION public.metadata_groups_max()
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN 1000
;

CREATE OR REPLACE FUNCTION public.month_of_receipt(id uuid)
 RETURNS date
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN (date_trunc('month'::text, (to_timestamp((((((('x'::text || translate("left"((id)::text, 13), '-'::text, ''::text)))::bit(48))::bigint)::numeric / 1000.0))::double precision) AT TIME ZONE 'UTC'::text)))::date
;

CREATE OR REPLACE FUNCTION public.name_hash(name text)
 RETURNS bytea
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN sha256(convert_to(group_value(name), 'UTF8'::name))
;

CREATE OR REPLACE FUNCTION public.quarter_bit("timestamp" timestamp with time zone)
 RETURNS bit
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN ('1'::bit(96) >> (floor((EXTRACT(epoch FROM ("timestamp" - date_bin('1 day'::interval, "timestamp", '2000-01-01 00:00:00+00'::timestamp with time zone))) / (900)::numeric)))::integer)
;

CREATE OR REPLACE FUNCTION public.reason_kind(reason text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN regexp_replace(reason, '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}'::text, '…'::text, 'g'::text)
;

CREATE OR REPLACE FUNCTION public.received_at(event events)
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN to_timestamp((((((('x'::text || translate("left"(((event).id)::text, 13), '-'::text, ''::text)))::bit(48))::bigint)::numeric / 1000.0))::double precision)
;

CREATE OR REPLACE FUNCTION public.refuse_old_knowledge(organization_ids uuid[], known_versions uuid[])
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF known_versions IS NOT NULL AND EXISTS (
    SELECT FROM (SELECT DISTINCT closing_slot(id) AS slot FROM unnest(organization_ids) AS id) AS slots
    LEFT JOIN recording_versions AS versions USING (slot)
    WHERE versions.version IS DISTINCT FROM known_versions[slot + 1]
  ) THEN
    RAISE EXCEPTION 'what is recorded by has changed' USING ERRCODE = 'WK001';
  END IF;
END $function$
;

CREATE OR REPLACE FUNCTION public.refuse_void_of_payments()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION 'invoice % is not made void: % of it was paid', OLD.id, OLD.amount_paid
    USING ERRCODE = 'check_violation', HINT = 'take its payments back first';
END $function$
;

CREATE OR REPLACE FUNCTION public.rejected_key(event text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN "substring"(event, '"idempotency_key":("(?:[^"\\]|\\.)*")'::text)
;

CREATE OR REPLACE FUNCTION public.ungrouped_meters(organization_ids uuid[], meter_ids uuid[])
 RETURNS SETOF metadata_backfills
 LANGUAGE plpgsql
 ROWS 1
AS $function$
BEGIN
  RETURN QUERY SELECT * FROM metadata_backfills
    WHERE organization_id = ANY (organization_ids) AND meter_id = ANY (meter_ids) AND stage <> 'catching_up'
      AND EXISTS (SELECT FROM meters WHERE (meters.organization_id, meters.id)
        = (metadata_backfills.organization_id, metadata_backfills.meter_id) AND metadata_keys <> '{}');
END $function$
;

CREATE OR REPLACE FUNCTION public.unique_value_hash(metadata json)
 RETURNS bytea
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
RETURN COALESCE(SUBSTRING(sha256(convert_to(CASE json_typeof((metadata -> 'user_id'::text)) WHEN 'number'::text THEN (trim_scale(((metadata ->> 'user_id'::text))::numeric))::text ELSE (metadata ->> 'user_id'::text) END, 'UTF8'::name)) FROM 1 FOR 16), CASE WHEN ((metadata ->> 'erased_user_id'::text) ~ '^[0-9a-f]{32}$'::text) THEN decode((metadata ->> 'erased_user_id'::text), 'hex'::text) ELSE NULL::bytea END)
;

CREATE TRIGGER invoices_keep_payments BEFORE UPDATE ON public.invoices FOR EACH ROW WHEN (((new.amount_paid > old.amount_paid) OR ((new.status = 'UNCOLLECTIBLE'::text) AND (new.uncollectible_at IS NULL)))) EXECUTE FUNCTION keep_payments();

CREATE TRIGGER invoices_refuse_void_of_payments BEFORE UPDATE ON public.invoices FOR EACH ROW WHEN (((new.status = 'VOID'::text) AND (old.status <> 'VOID'::text) AND (old.amount_paid > (0)::numeric))) EXECUTE FUNCTION refuse_void_of_payments();

CREATE TRIGGER metadata_keys_version_update INSTEAD OF UPDATE ON public.metadata_keys_version FOR EACH ROW EXECUTE FUNCTION change_recording_versions();

CREATE VIEW metadata_keys_version AS
 SELECT (md5(string_agg((version)::text, ' '::text ORDER BY slot)))::uuid AS version,
    true AS is_only
   FROM recording_versions;
