--! no-transaction
-- Invoices and subscriptions of one status, each by an index that fits no other question (docs/decisions/0054-one-index-for-each-question.md): those
-- of a rare one, such as what was voided, were looked for among all that an organization ever had. Of invoices it holds besides what its hashes
-- are of, so that those that are paid are counted without reading them.

CREATE INDEX CONCURRENTLY IF NOT EXISTS invoices_status_idx
  ON invoices (uuid_hash_extended(organization_id, 5), hashtextextended(status, 0), id) INCLUDE (organization_id, status);
CREATE INDEX CONCURRENTLY IF NOT EXISTS invoices_status_issue_date_idx
  ON invoices (uuid_hash_extended(organization_id, 6), hashtextextended(status, 0), issue_date, id) INCLUDE (organization_id, status)
  WHERE issue_date IS NOT NULL;

-- The clock makes a subscription start and end, so its row does not say whether it has: these are what may have.
CREATE INDEX CONCURRENTLY IF NOT EXISTS subscriptions_status_idx
  ON subscriptions (uuid_hash_extended(organization_id, 0), hashtextextended(status, 0), id) WHERE status <> 'CANCELED';
CREATE INDEX CONCURRENTLY IF NOT EXISTS subscriptions_scheduled_idx
  ON subscriptions (uuid_hash_extended(organization_id, 1), id) WHERE is_scheduled;
CREATE INDEX CONCURRENTLY IF NOT EXISTS subscriptions_ended_idx
  ON subscriptions (uuid_hash_extended(organization_id, 2), id) WHERE ended_at IS NOT NULL;
