-- Events that an API recorded itself, without knowing whether Redis has them as well: each is counted as accepted by its row here. Once
-- it turns up in Redis it is among the counts of Redis too, and its row goes (docs/decisions/0070-the-direct-way.md).

CREATE TABLE perhaps_staged_events (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  recorded_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (organization_id, id)
);

-- Idempotency keys of events that an API recorded itself, of which Redis is yet to be told. Until then their claims are these rows.

CREATE TABLE pending_claims (
  key_hash uuid PRIMARY KEY,
  organization_id uuid NOT NULL,
  event_id uuid NOT NULL,
  idempotency_key text NOT NULL,
  fingerprint text NOT NULL
);
