--! no-transaction
-- Rejected events, newest first, by whatever they are looked for (packages/db/src/event-list.ts), each by an index that fits no other question
-- (docs/decisions/0054-one-index-for-each-question.md). A service that sends to a meter what it does not take leaves millions of them, and
-- to find few of another customer, key, reason or meter all of them were read.

CREATE INDEX CONCURRENTLY IF NOT EXISTS rejected_events_customer_idx
  ON rejected_events (hashtextextended(customer_external_id, uuid_hash_extended(organization_id, 0)), id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS rejected_events_key_idx
  ON rejected_events (hashtextextended(rejected_key(event), uuid_hash_extended(organization_id, 0)), id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS rejected_events_reason_idx
  ON rejected_events (hashtextextended(reason_kind(reason), uuid_hash_extended(organization_id, 0)), id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS rejected_events_meter_reason_idx
  ON rejected_events (hashtextextended(reason_kind(reason), uuid_hash_extended(meter_id, 0)), id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS rejected_events_meter_idx ON rejected_events (meter_id, id);
