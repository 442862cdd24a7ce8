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
