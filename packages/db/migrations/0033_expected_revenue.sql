-- What an organization may expect to invoice, as a worker reckons it in steps (src/billing/run/expected-revenue.ts).

CREATE TABLE revenue_reckonings (
  organization_id uuid NOT NULL,
  -- The one that is under way: since when, which part of it comes next and behind which subscription, when the last step was, and what
  -- it came to so far: {"USD": {"drafts": "12.00", "open_periods": "3.50"}}. Null: none is.
  begun_at timestamptz,
  part text,
  after uuid,
  stepped_at timestamptz,
  sums jsonb,
  -- The last one that came to its end.
  began_at timestamptz,
  ended_at timestamptz,
  expected jsonb,
  CONSTRAINT revenue_reckonings_pkey PRIMARY KEY (organization_id),
  CONSTRAINT revenue_reckonings_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
  CONSTRAINT revenue_reckonings_part_check CHECK (part IN ('drafts', 'open_periods'))
);
CREATE INDEX revenue_reckonings_stepped_at_idx ON revenue_reckonings (stepped_at, organization_id) WHERE begun_at IS NOT NULL;
