-- Alerts look at a customer with very many subscriptions part by part (packages/db/src/alerts/touched-usage.ts): subscriptions up to this one
-- have been looked at. Null: none.

ALTER TABLE touched_usage ADD COLUMN after_subscription_id uuid;
