-- Alerts: thresholds of usage, or of what an open period comes to, and which of them were crossed (src/alerts/,
-- docs/decisions/0084-alerts.md).

CREATE TABLE alerts (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  -- Null: what the open period of a subscription comes to.
  meter_id uuid,
  -- Null: all customers. Where that customer is deleted, so is this.
  customer_id uuid,
  -- Rising.
  thresholds numeric[] NOT NULL,
  -- DELETED: nobody sees it any more, and its crossings are being deleted.
  status text NOT NULL DEFAULT 'ACTIVE',
  -- How far the look at what was there already has come: behind this customer, or this subscription. Null: it is done.
  looked_after text DEFAULT '',
  look_asked_at timestamptz NOT NULL DEFAULT billing_now(),
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT alerts_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT alerts_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id),
  CONSTRAINT alerts_organization_id_meter_id_fkey FOREIGN KEY (organization_id, meter_id) REFERENCES meters (organization_id, id),
  CONSTRAINT alerts_status_check CHECK (status IN ('ACTIVE', 'DISABLED', 'DELETED'))
);

CREATE TABLE alert_crossings (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  alert_id uuid NOT NULL,
  customer_external_id text NOT NULL,
  -- Whose period it is. Null: a month of the calendar.
  subscription_id uuid,
  -- Of an amount. Null: usage was counted.
  currency text,
  period_start timestamptz NOT NULL,
  period_end timestamptz NOT NULL,
  threshold numeric NOT NULL,
  -- What was read when this was written.
  value numeric NOT NULL,
  crossed_at timestamptz NOT NULL DEFAULT billing_now(),
  CONSTRAINT alert_crossings_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT alert_crossings_organization_id_alert_id_fkey FOREIGN KEY (organization_id, alert_id) REFERENCES alerts (organization_id, id)
);
-- Once for each period and threshold, whoever looks and however often.
CREATE UNIQUE INDEX alert_crossings_usage_key
  ON alert_crossings (organization_id, alert_id, customer_external_id, period_start, threshold) WHERE currency IS NULL;
CREATE UNIQUE INDEX alert_crossings_amount_key
  ON alert_crossings (organization_id, alert_id, subscription_id, period_start, threshold) WHERE currency IS NOT NULL;
CREATE INDEX alert_crossings_organization_id_alert_id_id_idx ON alert_crossings (organization_id, alert_id, id);

-- Usage that has changed since alerts were held against it, in organizations that have some. Whoever changes it adds a row, and whoever
-- has looked deletes those that he took: nobody waits for anybody.
CREATE TABLE touched_usage (
  organization_id uuid NOT NULL,
  id bigint GENERATED ALWAYS AS IDENTITY,
  customer_external_id text NOT NULL,
  -- Null: all meters, and what they cost.
  meter_id uuid,
  touched_at timestamptz NOT NULL DEFAULT billing_now(),
  CONSTRAINT touched_usage_pkey PRIMARY KEY (organization_id, id)
);
