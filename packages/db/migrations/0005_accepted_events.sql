-- How many events the door has accepted: counted there, apart from the events, so that `npm run reconcile` can tell when
-- one of them got lost. Months are those of receipt (UTC), by their first day.

CREATE TABLE accepted_events (
  organization_id uuid NOT NULL,
  month date NOT NULL,
  events bigint NOT NULL,
  CONSTRAINT accepted_events_pkey PRIMARY KEY (organization_id, month)
);

-- The tallies that are in accepted_events, for some weeks: one that is folded again is not added again.
CREATE TABLE folded_tallies (
  -- A UUIDv7: the id of the first batch that the tally counts.
  id uuid NOT NULL,
  events bigint NOT NULL,
  folded_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT folded_tallies_pkey PRIMARY KEY (id)
);

-- Added to what the door has counted. Nothing is ever changed or deleted here: it is the evidence of what was found.
CREATE TABLE accepted_corrections (
  organization_id uuid NOT NULL,
  month date NOT NULL,
  made_at timestamptz NOT NULL DEFAULT now(),
  -- Above zero: events that are here, and whose count was lost. Below zero: events that are known to be lost.
  events bigint NOT NULL,
  reason text NOT NULL,
  CONSTRAINT accepted_corrections_pkey PRIMARY KEY (organization_id, month, made_at),
  CONSTRAINT accepted_corrections_events_check CHECK (events <> 0)
);

-- The month in which an event was received: by the milliseconds that begin its id, a UUIDv7.
CREATE FUNCTION month_of_receipt(id uuid) RETURNS date LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN date_trunc('month', to_timestamp(
  ('x' || translate(left(id::text, 13), '-', ''))::bit(48)::bigint / 1000.0) AT TIME ZONE 'UTC')::date;

-- What came before there was a tally.
INSERT INTO accepted_corrections (organization_id, month, events, reason)
SELECT organization_id, month_of_receipt(id), count(*), 'accepted before the door counted'
FROM (
  SELECT organization_id, id FROM events
  UNION SELECT organization_id, id FROM duplicate_events
  UNION SELECT organization_id, id FROM rejected_events
) AS earlier
GROUP BY 1, 2;
