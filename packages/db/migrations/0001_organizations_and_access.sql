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
