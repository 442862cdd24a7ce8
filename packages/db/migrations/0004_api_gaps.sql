-- What people want to see of what they have: which key is which, why events are rejected, what is still to be paid, and
-- whether all is well.

ALTER TABLE api_keys
  -- The end of the key, by which people tell their keys apart. Null: it was made before this was kept.
  ADD COLUMN last4 text,
  -- To the minute, some time after the request: see apps/api/src/access/key-use.ts. Null: it was not used yet.
  ADD COLUMN last_used_at timestamptz;

-- A reason without what differs from event to event, so that events that are rejected for one reason are counted as such.
CREATE FUNCTION reason_kind(reason text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN regexp_replace(reason, '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}', '…', 'g');

-- The time of an event that is kept as JSON. Whatever else the text may hold, quotes inside of its texts are escaped.
CREATE FUNCTION event_timestamp(event text) RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE
RETURN substring(event FROM '"timestamp":"([^"]+)"')::timestamptz;

-- What the last reconciliation found of each organization. One of a single month leaves it as it is.
CREATE TABLE reconciliations (
  organization_id uuid NOT NULL,
  finished_at timestamptz NOT NULL DEFAULT now(),
  is_equal boolean NOT NULL,
  -- Those that were found of this organization.
  problems integer NOT NULL,
  CONSTRAINT reconciliations_pkey PRIMARY KEY (organization_id),
  CONSTRAINT reconciliations_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id)
);

-- What an organization has to do, and what it has billed since a time, without a look at all of its invoices.
CREATE INDEX invoices_organization_id_status_idx ON invoices (organization_id, status) WHERE status IN ('DRAFT', 'OPEN');
CREATE INDEX invoices_organization_id_finalized_at_idx ON invoices (organization_id, finalized_at)
  WHERE finalized_at IS NOT NULL;
