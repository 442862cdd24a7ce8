--! no-transaction
-- The duplicates of a customer, newest first, and of an idempotency key: packages/db/src/event-list.ts. The first also leads an erasure
-- to them: packages/db/src/moves/finish-erasure.ts.

CREATE INDEX CONCURRENTLY IF NOT EXISTS duplicate_events_customer_idx
  ON duplicate_events (organization_id, (event::json ->> 'customer_external_id'), id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS duplicate_events_duplicate_of_idx ON duplicate_events (organization_id, duplicate_of, id);

-- Whether anything is grouped by a name: packages/db/src/moves/request-move.ts. Each value is found beside its organization, whatever others
-- group by. Whoever records a new combination adds it at once, so that nobody has to add what others have put off.
CREATE INDEX CONCURRENTLY IF NOT EXISTS metadata_groups_values_idx
  ON metadata_groups USING gin (array_prepend(organization_id::text, group_values)) WITH (fastupdate = off);
