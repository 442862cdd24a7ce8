--! no-transaction
-- Duplicates of a meter (packages/db/src/event-list.ts). They are never deleted, and an import that is run again leaves as many as it has
-- events: to find few of one meter all of them were read.

CREATE INDEX CONCURRENTLY IF NOT EXISTS duplicate_events_meter_idx
  ON duplicate_events (organization_id, (event::json ->> 'meter_id'), id);
