-- Who is told of what the feed has, and what came of telling (src/webhooks/).

CREATE TABLE webhook_endpoints (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  url text NOT NULL,
  -- Null: all.
  event_types text[],
  status text NOT NULL DEFAULT 'ACTIVE',
  -- Why Weir turned it off. Null where a person did, and while it is on.
  disabled_reason text,
  -- As it is: what is sent is signed with it.
  secret bytea NOT NULL,
  -- The one before, which signs too until then.
  previous_secret bytea,
  previous_secret_until timestamptz,
  -- How far the feed has been read: up to here each event of its types has a row of webhook_deliveries.
  last_sequence bigint NOT NULL,
  -- Events of before that are to be sent again: the first and the last of those that have not been put among the deliveries.
  replay_next bigint,
  replay_last bigint,
  -- Since the first failure after the last success. Null: the last attempt did well.
  failing_since timestamptz,
  -- Of the last attempt.
  answer_ms integer,
  -- The turn of a worker that delivers to it. Once that time has passed another turn may take it over.
  held_by uuid,
  held_until timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT webhook_endpoints_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
  CONSTRAINT webhook_endpoints_status_check CHECK (status IN ('ACTIVE', 'DISABLED')),
  CONSTRAINT webhook_endpoints_disabled_reason_check CHECK (disabled_reason IN ('FAILING', 'GONE')),
  CONSTRAINT webhook_endpoints_replay_next_check CHECK ((replay_next IS NULL) = (replay_last IS NULL))
);

-- One event for one endpoint. What is done with is kept for a while.
CREATE TABLE webhook_deliveries (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  endpoint_id uuid NOT NULL,
  -- Of the feed. Null: a test.
  sequence bigint,
  status text NOT NULL DEFAULT 'PENDING',
  -- Null until the first attempt has been made: first attempts go by sequence, and not by time.
  next_attempt_at timestamptz,
  -- Attempts since it was asked for: what comes next goes by them.
  tries integer NOT NULL DEFAULT 0,
  attempt_count integer NOT NULL DEFAULT 0,
  -- The last of them.
  attempts jsonb NOT NULL DEFAULT '[]',
  created_at timestamptz NOT NULL DEFAULT now(),
  delivered_at timestamptz,
  CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT webhook_deliveries_organization_id_endpoint_id_fkey FOREIGN KEY (organization_id, endpoint_id)
    REFERENCES webhook_endpoints (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT webhook_deliveries_organization_id_endpoint_id_sequence_key UNIQUE (organization_id, endpoint_id, sequence),
  CONSTRAINT webhook_deliveries_status_check CHECK (status IN ('PENDING', 'DELIVERED', 'FAILED'))
);
CREATE INDEX webhook_deliveries_organization_id_endpoint_id_created_at_idx
  ON webhook_deliveries (organization_id, endpoint_id, created_at, sequence);
CREATE INDEX webhook_deliveries_organization_id_endpoint_id_next_idx
  ON webhook_deliveries (organization_id, endpoint_id, next_attempt_at, sequence) WHERE status = 'PENDING';
