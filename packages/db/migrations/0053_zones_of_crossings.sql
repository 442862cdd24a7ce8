-- The time zone whose months a crossing is of (packages/db/src/alerts/perform-alerts.ts): the organization may be given another one. Null: it
-- was crossed before this.

ALTER TABLE alert_crossings ADD COLUMN time_zone text;
