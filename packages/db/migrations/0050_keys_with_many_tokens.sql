-- An API key with more tokens of widgets than one request deletes is marked, and from then on nobody finds it (packages/db/src/api-keys.ts).
-- A worker deletes the tokens, and the key with the last of them.

ALTER TABLE api_keys ADD COLUMN revoked_at timestamptz;
CREATE INDEX api_keys_revoked_at_idx ON api_keys (revoked_at) WHERE revoked_at IS NOT NULL;
