-- Writes are safe to repeat: the Idempotency-Key of a request, with how it was answered first. A row is written in the transaction
-- of the change that it stands for.

CREATE TABLE request_keys (
  organization_id uuid NOT NULL,
  -- SHA-256 of the credential and the key.
  key_hash bytea NOT NULL,
  -- SHA-256 of the method, the path and the body.
  request_hash bytea NOT NULL,
  status smallint NOT NULL,
  -- JSON. Null: the answer had no body.
  answer text,
  -- What of the answer is not kept: secrets, and what is too large.
  withheld text[] NOT NULL,
  bytes integer NOT NULL GENERATED ALWAYS AS (coalesce(octet_length(answer), 0)) STORED,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT request_keys_pkey PRIMARY KEY (organization_id, key_hash),
  CONSTRAINT request_keys_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id)
);
-- By age, and with what each takes: what is too old is deleted, and what is too much of one organization.
CREATE INDEX request_keys_organization_id_created_at_idx ON request_keys (organization_id, created_at) INCLUDE (bytes);
