-- Whose record a crossing is of, whatever external id its usage is moved to (packages/db/src/alerts/perform-alerts.ts). Null: it had none,
-- or it was crossed before this.

ALTER TABLE alert_crossings ADD COLUMN customer_id uuid;
-- A month is crossed once by a record. Nothing that is there by now is in it.
CREATE UNIQUE INDEX alert_crossings_record_key
  ON alert_crossings (organization_id, alert_id, customer_id, period_start, threshold)
  WHERE subscription_id IS NULL AND customer_id IS NOT NULL;
