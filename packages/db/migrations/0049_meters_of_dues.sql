--! no-transaction
-- The meters and customers that the dues of a subscription are of (packages/db/src/billing/subscriptions/late-events.ts): to know them, all dues
-- that it ever had were read, for each draft and in each look for something to settle. No other question fits the hash.

CREATE INDEX CONCURRENTLY IF NOT EXISTS dues_subscription_id_meter_id_idx
  ON dues (uuid_hash_extended(subscription_id, 0), meter_id, customer_external_id) WHERE meter_id IS NOT NULL;
