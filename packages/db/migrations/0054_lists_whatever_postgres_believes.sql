--! no-transaction
-- Lists, and what belongs to their rows, each by an index that fits no other question (docs/decisions/0054-one-index-for-each-question.md):
-- of an organization that had grown since Postgres looked, a page of the audit log of one thing, of the crossings of an alert or of the
-- deliveries to an endpoint read all that there is of the organization, and one of deliveries each of them against each event.
-- Processes of the last release read by audit_entries_organization_id_{resource_id,actor_id,action}_idx and by
-- subscriptions_customer_external_id_idx: the next one drops those.

CREATE INDEX CONCURRENTLY IF NOT EXISTS webhook_deliveries_created_at_idx
  ON webhook_deliveries (uuid_hash_extended(endpoint_id, 0), created_at, sequence, id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS webhook_deliveries_status_idx
  ON webhook_deliveries (uuid_hash_extended(endpoint_id, 1), status, created_at, sequence, id);
DROP INDEX CONCURRENTLY IF EXISTS webhook_deliveries_organization_id_endpoint_id_created_at_idx;

CREATE INDEX CONCURRENTLY IF NOT EXISTS alert_crossings_alert_id_idx ON alert_crossings (alert_id, id);
DROP INDEX CONCURRENTLY IF EXISTS alert_crossings_organization_id_alert_id_id_idx;

CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_entries_resource_id_idx ON audit_entries (resource_id, id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_entries_actor_id_idx ON audit_entries (actor_id, id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_entries_actor_id_action_idx
  ON audit_entries (uuid_hash_extended(actor_id, 0), action, id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_entries_action_idx
  ON audit_entries (uuid_hash_extended(organization_id, 0), action, id);

CREATE INDEX CONCURRENTLY IF NOT EXISTS usage_moves_kind_idx
  ON usage_moves (uuid_hash_extended(organization_id, 0), kind, id);

CREATE INDEX CONCURRENTLY IF NOT EXISTS customers_external_id_idx
  ON customers (hashtextextended(external_id, uuid_hash_extended(organization_id, 0)));
CREATE INDEX CONCURRENTLY IF NOT EXISTS subscriptions_billed_as_idx
  ON subscriptions (hashtextextended(customer_external_id, uuid_hash_extended(organization_id, 0)));
