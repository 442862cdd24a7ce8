--! no-transaction
-- What is void of a meter, newest first, and what does not say of which meter it is: packages/db/src/event-list.ts.

CREATE INDEX CONCURRENTLY IF NOT EXISTS corrections_event_meter_id_idx
  ON corrections (event_meter_id, event_id) INCLUDE (event_time) WHERE event_meter_id IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS corrections_without_meter_idx
  ON corrections (uuid_hash_extended(organization_id, 0), event_id) WHERE event_meter_id IS NULL;
