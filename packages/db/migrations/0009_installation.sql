-- Tells this Weir from every other one: the queue in Redis is marked with it, so that two of them cannot share it by mistake.
-- A dump takes the row along; what tells a restored copy from the original is where it lies (see installation.ts).
CREATE TABLE installation (
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  -- There is one row.
  is_only boolean NOT NULL DEFAULT true,
  CONSTRAINT installation_pkey PRIMARY KEY (is_only),
  CONSTRAINT installation_is_only_check CHECK (is_only)
);
INSERT INTO installation DEFAULT VALUES;
