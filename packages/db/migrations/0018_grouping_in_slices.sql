-- Usage of before is grouped by new metadata keys in slices, and nobody waits for it. While it is, what is recorded of the meter is
-- not grouped but noted, so that it can be told from what was there. See docs/decisions/0060-grouping-waits-for-nobody.md.

-- Nothing is recorded while this is brought in, so that nothing is grouped as it was before.
SELECT count(pg_advisory_xact_lock(20002, slot)) FROM generate_series(0, 63) AS slot;

-- Meters whose usage is being grouped anew: first what was kept by other keys is deleted, then all events are grouped that had been
-- recorded when the keys were changed, then those that were recorded meanwhile. Whatever was being made begins again.
ALTER TABLE metadata_backfills
  DROP COLUMN through,
  -- Tells one change of keys from the next.
  ADD COLUMN change_id uuid NOT NULL DEFAULT gen_random_uuid(),
  ADD COLUMN stage text NOT NULL DEFAULT 'clearing',
  -- How far the stage has come: to the event of the hour of the customer, in this order.
  ADD COLUMN customer_external_id text NOT NULL DEFAULT '',
  ADD COLUMN hour timestamptz NOT NULL DEFAULT '-infinity',
  ADD COLUMN event_id uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
  ADD CONSTRAINT metadata_backfills_stage_check CHECK (stage IN ('clearing', 'grouping', 'catching_up'));

-- Events that were recorded while their meter was at one of the first two stages, and are not grouped yet.
CREATE TABLE ungrouped_events (
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  change_id uuid NOT NULL,
  event_id uuid NOT NULL,
  CONSTRAINT ungrouped_events_pkey PRIMARY KEY (organization_id, meter_id, change_id, event_id)
);

-- Which of these meters have their events noted and not grouped. Like the closings it is read behind the locks of closings_of: who
-- begins with a meter, or moves it to the last stage, holds them alone until that has committed.
CREATE FUNCTION ungrouped_meters(organization_ids uuid[], meter_ids uuid[])
RETURNS SETOF metadata_backfills LANGUAGE plpgsql VOLATILE ROWS 1 AS $$
BEGIN
  RETURN QUERY SELECT * FROM metadata_backfills
    WHERE organization_id = ANY (organization_ids) AND meter_id = ANY (meter_ids) AND stage <> 'catching_up'
      AND EXISTS (SELECT FROM meters WHERE (meters.organization_id, meters.id)
        = (metadata_backfills.organization_id, metadata_backfills.meter_id) AND metadata_keys <> '{}');
END $$;

-- Keeps combinations where there is room, and returns those that are kept. Takes a lock for each meter that has new ones, in
-- the order of its number, until the end of the transaction: nobody else fills a day meanwhile.
CREATE FUNCTION keep_combinations(asked metadata_groups[]) RETURNS SETOF metadata_groups LANGUAGE plpgsql VOLATILE AS $$
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

-- What processes of before call, which note nothing: of such a meter they record nothing, and a newer one does.
CREATE OR REPLACE FUNCTION keep_groups(asked metadata_groups[]) RETURNS SETOF metadata_groups LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  IF EXISTS (SELECT FROM unnest(asked) AS each JOIN metadata_backfills USING (organization_id, meter_id)) THEN
    RAISE EXCEPTION 'usage is being grouped by a newer version of this program';
  END IF;
  RETURN QUERY SELECT * FROM keep_combinations(asked);
END $$;
