--! no-transaction
-- What is void of a meter, newest first: packages/db/src/event-list.ts.

CREATE INDEX CONCURRENTLY IF NOT EXISTS corrections_event_meter_id_idx
  ON corrections (event_meter_id, event_id) INCLUDE (event_time) WHERE event_meter_id IS NOT NULL;
