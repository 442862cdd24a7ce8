-- Corrections: an event that does not count any more, and the event that was recorded in its place, if there is one. The event itself
-- stays as it was recorded, so that neither its id nor its idempotency key is free again (docs/decisions/0080-corrections.md).

CREATE TABLE corrections (
  organization_id uuid NOT NULL,
  -- The event that is void. It is voided once and for all.
  event_id uuid NOT NULL,
  id uuid NOT NULL,
  reason text NOT NULL,
  -- The event that counts in its place.
  amended_by uuid,
  -- The closing after which it was made: usage at this one and at those before it is with the event.
  closing bigint NOT NULL,
  -- Who made it: user: or service_account:, and an id.
  actor text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT corrections_pkey PRIMARY KEY (organization_id, event_id),
  CONSTRAINT corrections_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id)
);
CREATE UNIQUE INDEX corrections_organization_id_id_key ON corrections (organization_id, id);
CREATE UNIQUE INDEX corrections_organization_id_amended_by_key ON corrections (organization_id, amended_by)
  WHERE amended_by IS NOT NULL;

-- A void of a time that is closed is a late change like a late event, with the opposite sign: event_id is that of the correction then,
-- and this the event that does not count any more.
ALTER TABLE late_events ADD COLUMN voids uuid;
