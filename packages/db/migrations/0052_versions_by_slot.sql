-- What processes know to record by (packages/db/src/known-for-recording.ts) has a version for each slot of closing_slot, in place of one for
-- all organizations: a change holds up those of its slot, and only what is known of those is read again.

CREATE INDEX meters_slot_idx ON meters (closing_slot(organization_id)) WHERE metadata_keys <> '{}';
CREATE INDEX alerts_slot_idx ON alerts (closing_slot(organization_id), organization_id) WHERE status = 'ACTIVE';

-- No statement records while the versions change their place: each compares what it knows with those of before, or with these.
SELECT pg_advisory_xact_lock(20002, slot) FROM generate_series(0, 63) AS slot;

CREATE TABLE recording_versions (
  slot integer NOT NULL,
  version uuid NOT NULL,
  CONSTRAINT recording_versions_pkey PRIMARY KEY (slot)
);
-- Where nothing was ever changed there is nothing to know.
INSERT INTO recording_versions SELECT slot, version FROM metadata_keys_version CROSS JOIN generate_series(0, 63) AS slot;

-- Raises WK001 where what the caller knows of one of these organizations is not so any more. `known_versions` are of all slots, the first
-- one first; null: the caller knows for sure.
CREATE FUNCTION refuse_old_knowledge(organization_ids uuid[], known_versions uuid[]) RETURNS void LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF known_versions IS NOT NULL AND EXISTS (
    SELECT FROM (SELECT DISTINCT closing_slot(id) AS slot FROM unnest(organization_ids) AS id) AS slots
    LEFT JOIN recording_versions AS versions USING (slot)
    WHERE versions.version IS DISTINCT FROM known_versions[slot + 1]
  ) THEN
    RAISE EXCEPTION 'what is recorded by has changed' USING ERRCODE = 'WK001';
  END IF;
END $$;

-- closings_of, for who knows what to record by. Like the closings the versions are read behind the locks: whoever changes what is known of
-- an organization holds its slot alone until that has committed.
CREATE FUNCTION closings_of(organization_ids uuid[], known_versions uuid[])
RETURNS SETOF closings LANGUAGE plpgsql VOLATILE ROWS 10 AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(20002, slot)
  FROM (SELECT DISTINCT closing_slot(id) AS slot FROM unnest(organization_ids) AS id ORDER BY slot) AS slots;
  PERFORM refuse_old_knowledge(organization_ids, known_versions);
  RETURN QUERY SELECT * FROM closings WHERE organization_id = ANY (organization_ids);
END $$;

-- Processes of the version before know one version, and change it. To them it is another one whenever that of any slot is; and where they
-- change it, that of every slot is, since they do not say of which organization it is.
DROP TABLE metadata_keys_version;
CREATE VIEW metadata_keys_version AS
  SELECT md5(string_agg(version::text, ' ' ORDER BY slot))::uuid AS version, true AS is_only FROM recording_versions;
CREATE FUNCTION change_recording_versions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- In one order, so that two of them wait for each other.
  PERFORM FROM recording_versions ORDER BY slot FOR NO KEY UPDATE;
  UPDATE recording_versions SET version = gen_random_uuid();
  RETURN NEW;
END $$;
CREATE TRIGGER metadata_keys_version_update INSTEAD OF UPDATE ON metadata_keys_version
  FOR EACH ROW EXECUTE FUNCTION change_recording_versions();

CREATE OR REPLACE FUNCTION closings_of(organization_ids uuid[], known_version uuid)
RETURNS SETOF closings LANGUAGE plpgsql VOLATILE ROWS 10 AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(20002, slot)
  FROM (SELECT DISTINCT closing_slot(id) AS slot FROM unnest(organization_ids) AS id ORDER BY slot) AS slots;
  IF known_version IS NOT NULL AND known_version IS DISTINCT FROM (SELECT version FROM metadata_keys_version) THEN
    RAISE EXCEPTION 'the metadata keys of meters have changed' USING ERRCODE = 'WK001';
  END IF;
  RETURN QUERY SELECT * FROM closings WHERE organization_id = ANY (organization_ids);
END $$;
