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
