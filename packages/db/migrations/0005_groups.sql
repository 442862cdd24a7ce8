-- Usage by what is in the metadata. A meter may name keys of it; its usage is then kept by combination of their values too.

-- The order of the keys is that of the values of a combination.
ALTER TABLE meters
  ADD COLUMN metadata_keys text[] NOT NULL DEFAULT '{}',
  ADD CONSTRAINT meters_metadata_keys_check CHECK (cardinality(metadata_keys) <= 5);
CREATE INDEX meters_metadata_keys_idx ON meters (organization_id, id) WHERE metadata_keys <> '{}';

-- Another value whenever the keys of any meter change. The record statement is told which value its caller's knowledge is of,
-- and refuses to record by any other: so nobody records by keys of before, however long they were remembered.
CREATE TABLE metadata_keys_version (
  version uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
  -- There is one row.
  is_only boolean NOT NULL DEFAULT true,
  CONSTRAINT metadata_keys_version_pkey PRIMARY KEY (is_only),
  CONSTRAINT metadata_keys_version_is_only_check CHECK (is_only)
);
INSERT INTO metadata_keys_version DEFAULT VALUES;

-- closings_of, for who knows the keys of meters as of a version. Raises WK001 where they have changed since. Like the closings,
-- the version is read behind the locks, which whoever changes keys of an organization holds alone until that has committed.
CREATE FUNCTION closings_of(organization_ids uuid[], known_version uuid)
RETURNS SETOF closings LANGUAGE plpgsql VOLATILE ROWS 10 AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(20002, slot)
  FROM (SELECT DISTINCT closing_slot(id) AS slot FROM unnest(organization_ids) AS id ORDER BY slot) AS slots;
  IF known_version <> (SELECT version FROM metadata_keys_version) THEN
    RAISE EXCEPTION 'the metadata keys of meters have changed' USING ERRCODE = 'WK001';
  END IF;
  RETURN QUERY SELECT * FROM closings WHERE organization_id = ANY (organization_ids);
END $$;

-- Meters whose keys were changed after they had counted: days that are after `through` are still to be made anew.
CREATE TABLE metadata_backfills (
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  through timestamptz NOT NULL DEFAULT '-infinity',
  CONSTRAINT metadata_backfills_pkey PRIMARY KEY (organization_id, meter_id),
  CONSTRAINT metadata_backfills_organization_id_meter_id_fkey
    FOREIGN KEY (organization_id, meter_id) REFERENCES meters (organization_id, id)
);

-- A text as usage is grouped by it: a long one is its beginning and a hash of the whole. What has that form already stays as
-- it is, so that the value of a group finds the group again.
CREATE FUNCTION group_value(value text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
  WHEN char_length(value) <= 100 OR (char_length(value) = 113 AND value ~ '^.{80}…[0-9a-f]{32}$') THEN value
  ELSE left(value, 80) || '…' || encode(substring(sha256(convert_to(value, 'UTF8')) FOR 16), 'hex')
END;

-- The values of some keys, each as text: 42, 42.0 and "42" are one. Null for what is missing, null, an array or an object.
-- The text is parsed once, however many keys there are.
CREATE FUNCTION group_values(keys text[], metadata json) RETURNS text[] LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
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
END $$;

-- What a combination of values is known by.
CREATE FUNCTION group_hash(group_values text[]) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN encode(substring(sha256(convert_to(array_to_json(group_values)::text, 'UTF8')) FOR 16), 'hex')::uuid;

-- The combinations that usage of a meter on one day (UTC) is kept by. The first thousand are; what comes after them on that
-- day counts under the zero UUID, all of it together. Rows are only ever added to a day, and to a full one never again: so
-- what is kept does not depend on who asks when, and rollups can be made of the events again.
CREATE TABLE metadata_groups (
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  day timestamptz NOT NULL,
  group_hash uuid NOT NULL,
  group_values text[] NOT NULL,
  CONSTRAINT metadata_groups_pkey PRIMARY KEY (organization_id, meter_id, day, group_hash)
);

CREATE FUNCTION metadata_groups_max() RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN 1000;

-- Keeps combinations where there is room, and returns those that are kept. Takes a lock for each meter that has new ones, in
-- the order of its number, until the end of the transaction: nobody else fills a day meanwhile.
CREATE FUNCTION keep_groups(asked metadata_groups[]) RETURNS SETOF metadata_groups LANGUAGE plpgsql VOLATILE AS $$
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
END $$;

-- The group that one event counts under.
CREATE FUNCTION group_of(organization_id uuid, meter_id uuid, keys text[], "timestamp" timestamptz, metadata json)
RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
RETURN coalesce((
  SELECT kept.group_hash FROM metadata_groups AS kept
  WHERE kept.organization_id = group_of.organization_id AND kept.meter_id = group_of.meter_id
    AND kept.day = date_trunc('day', group_of."timestamp", 'UTC')
    AND kept.group_hash = group_hash(group_values(group_of.keys, group_of.metadata))
), '00000000-0000-0000-0000-000000000000');

-- The rollups of 0001, for each group by itself; only of meters that name keys. src/rollups.ts says how they are made.
CREATE TABLE customer_group_hours (
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  customer_external_id text NOT NULL,
  hour timestamptz NOT NULL,
  group_hash uuid NOT NULL,
  event_count bigint NOT NULL,
  quantity_sum numeric NOT NULL,
  quantity_min numeric NOT NULL,
  quantity_max numeric NOT NULL,
  last_timestamp timestamptz NOT NULL,
  last_event_id uuid NOT NULL,
  last_quantity numeric NOT NULL,
  CONSTRAINT customer_group_hours_pkey PRIMARY KEY (organization_id, meter_id, customer_external_id, hour, group_hash)
) WITH (fillfactor = 50);
-- Finds the rows of a day when that is made anew.
CREATE INDEX customer_group_hours_organization_id_meter_id_hour_idx ON customer_group_hours (organization_id, meter_id, hour);

CREATE TABLE meter_group_quarters (
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  quarter timestamptz NOT NULL,
  group_hash uuid NOT NULL,
  part smallint NOT NULL,
  event_count bigint NOT NULL,
  quantity_sum numeric NOT NULL,
  quantity_min numeric NOT NULL,
  quantity_max numeric NOT NULL,
  last_timestamp timestamptz NOT NULL,
  last_event_id uuid NOT NULL,
  last_quantity numeric NOT NULL,
  CONSTRAINT meter_group_quarters_pkey PRIMARY KEY (organization_id, meter_id, quarter, group_hash, part)
) WITH (fillfactor = 30);

CREATE TABLE customer_group_value_days (
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  customer_external_id text NOT NULL,
  day timestamptz NOT NULL,
  group_hash uuid NOT NULL,
  value_hash bytea NOT NULL,
  quarters bit(96) NOT NULL,
  CONSTRAINT customer_group_value_days_pkey
    PRIMARY KEY (organization_id, meter_id, customer_external_id, day, group_hash, value_hash)
) WITH (fillfactor = 50);
CREATE INDEX customer_group_value_days_organization_id_meter_id_day_idx
  ON customer_group_value_days (organization_id, meter_id, day);

CREATE TABLE meter_group_value_days (
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  day timestamptz NOT NULL,
  group_hash uuid NOT NULL,
  value_hash bytea NOT NULL,
  quarters bit(96) NOT NULL,
  CONSTRAINT meter_group_value_days_pkey PRIMARY KEY (organization_id, meter_id, day, group_hash, value_hash)
) WITH (fillfactor = 50);
