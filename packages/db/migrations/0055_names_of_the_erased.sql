-- Usage that is grouped by what names an erased customer waits until its meter has lost that key (src/moves/move-slice.ts). So an erasure
-- knows these names until it is done, and by their hashes alone.

ALTER TABLE usage_moves
  -- Null of what is done, of a move, and of an erasure that an earlier version has begun.
  ADD COLUMN name_hashes bytea[],
  -- The meter whose usage waits.
  ADD COLUMN grouped_meter_id uuid;

-- Of a name, and of the value that usage is grouped by where it is that name.
CREATE FUNCTION name_hash(name text) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sha256(convert_to(group_value(name), 'UTF8'));
