-- Service accounts: what a service may do by itself, without a person's session. An account has several tokens at a time, so that one
-- takes the place of another without a gap.

CREATE TABLE service_accounts (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  role text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT service_accounts_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT service_accounts_role_check CHECK (role IN ('admin', 'biller', 'viewer')),
  CONSTRAINT service_accounts_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id)
);

CREATE TABLE service_account_tokens (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  service_account_id uuid NOT NULL,
  name text NOT NULL,
  -- SHA-256 of the token.
  token_hash bytea NOT NULL,
  -- The end of the token, by which people tell it from others.
  last4 text NOT NULL,
  -- From when on it is refused; null: it holds until it is deleted.
  expires_at timestamptz,
  -- To the minute; null: not yet.
  last_used_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT service_account_tokens_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT service_account_tokens_token_hash_key UNIQUE (token_hash),
  CONSTRAINT service_account_tokens_organization_id_service_account_id_fkey
    FOREIGN KEY (organization_id, service_account_id) REFERENCES service_accounts (organization_id, id) ON DELETE CASCADE
);
CREATE INDEX service_account_tokens_organization_id_service_account_id_idx
  ON service_account_tokens (organization_id, service_account_id, id);

ALTER TABLE audit_entries
  -- Of a service account, as it was then.
  ADD COLUMN actor_name text,
  DROP CONSTRAINT audit_entries_actor_type_check,
  -- All that is there fulfilled a narrower one: there is nothing to look through while everybody waits.
  ADD CONSTRAINT audit_entries_actor_type_check
    CHECK (actor_type IN ('user', 'api_key', 'service_account', 'operator')) NOT VALID;
