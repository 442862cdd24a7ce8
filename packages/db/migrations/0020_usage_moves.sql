-- Usage that goes to another external id: that of a customer who is erased to one that nobody can trace back, or all of one id to
-- another. A worker does it in slices (src/moves/).

CREATE TABLE usage_moves (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  -- ERASE: to a random id, without metadata and keys. MOVE: as it is.
  kind text NOT NULL,
  -- The record that was erased, if there was one.
  customer_id uuid,
  -- Null once a customer is erased.
  from_external_id text,
  to_external_id text NOT NULL,
  -- Of copies of the customer on invoices that were issued before, nothing is kept.
  copies_issued_before date,
  events bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Since when all is moved that was accepted before.
  moved_at timestamptz,
  finished_at timestamptz,
  CONSTRAINT usage_moves_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT usage_moves_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
  CONSTRAINT usage_moves_kind_check CHECK (kind IN ('ERASE', 'MOVE')),
  CONSTRAINT usage_moves_from_external_id_check CHECK (
    (from_external_id IS NULL) = (kind = 'ERASE' AND finished_at IS NOT NULL))
);
CREATE UNIQUE INDEX usage_moves_organization_id_from_external_id_key ON usage_moves (organization_id, from_external_id)
  WHERE finished_at IS NULL;
CREATE INDEX usage_moves_organization_id_to_external_id_idx ON usage_moves (organization_id, to_external_id);
CREATE INDEX usage_moves_created_at_idx ON usage_moves (created_at, organization_id, id) WHERE finished_at IS NULL;

-- Such a record holds nothing more of who it was.
ALTER TABLE customers ADD COLUMN erased_at timestamptz;

-- As before. Where the user is erased its hash is in the place of it, so that distinct users stay as many as they were.
CREATE OR REPLACE FUNCTION unique_value_hash(metadata json) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN coalesce(
  substring(sha256(convert_to(
    CASE json_typeof(metadata -> 'user_id')
      WHEN 'number' THEN trim_scale((metadata ->> 'user_id')::numeric)::text
      ELSE metadata ->> 'user_id'
    END, 'UTF8')) FOR 16),
  CASE WHEN metadata ->> 'erased_user_id' ~ '^[0-9a-f]{32}$' THEN decode(metadata ->> 'erased_user_id', 'hex') END);

-- What is left of metadata: the values that its meter is grouped by, and the hash of a user that is counted. Null: nothing.
CREATE FUNCTION erased_metadata(metadata json, keys text[], counts_unique_values boolean) RETURNS json
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
  SELECT json_object_agg(name, value) FROM (
    -- The user as it is: a long one would have another hash than its group value.
    SELECT key AS name, CASE key WHEN 'user_id' THEN metadata -> key ELSE to_json(combined.value) END AS value
    FROM unnest(keys, group_values(keys, metadata)) AS combined (key, value) WHERE combined.value IS NOT NULL
    UNION ALL
    SELECT 'erased_user_id', to_json(encode(unique_value_hash(metadata), 'hex'))
    WHERE counts_unique_values AND unique_value_hash(metadata) IS NOT NULL AND NOT 'user_id' = ANY (keys)
  ) AS kept);
