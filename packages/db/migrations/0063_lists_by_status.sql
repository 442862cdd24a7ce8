--! no-transaction
-- Invoices and subscriptions of one status, each by an index that fits no other question (docs/decisions/0054-one-index-for-each-question.md): those
-- of a rare one, such as what was voided, were looked for among all that an organization ever had. Of invoices it holds the rare ones alone, so that a
-- draft, its finalization and its payment write no entry of it.

CREATE INDEX CONCURRENTLY IF NOT EXISTS invoices_status_idx
  ON invoices (uuid_hash_extended(organization_id, 5), hashtextextended(status, 0), id) WHERE status IN ('VOID', 'UNCOLLECTIBLE');
CREATE INDEX CONCURRENTLY IF NOT EXISTS invoices_status_issue_date_idx
  ON invoices (uuid_hash_extended(organization_id, 6), hashtextextended(status, 0), issue_date, id) WHERE status IN ('VOID', 'UNCOLLECTIBLE');

-- The clock makes a subscription start and end, so its row does not say whether it has: these are what may have.
CREATE INDEX CONCURRENTLY IF NOT EXISTS subscriptions_status_idx
  ON subscriptions (uuid_hash_extended(organization_id, 0), hashtextextended(status, 0), id) WHERE status <> 'CANCELED';
CREATE INDEX CONCURRENTLY IF NOT EXISTS subscriptions_scheduled_idx
  ON subscriptions (uuid_hash_extended(organization_id, 1), id) WHERE is_scheduled;
CREATE INDEX CONCURRENTLY IF NOT EXISTS subscriptions_ended_idx
  ON subscriptions (uuid_hash_extended(organization_id, 2), id) WHERE ended_at IS NOT NULL;
