--! no-transaction
-- What the run could not bill (packages/db/src/billing/subscriptions/subscriptions.ts), which is next to nothing of each table. An invoice that
-- is not to be paid any more keeps its error, and nobody asks for it.

CREATE INDEX CONCURRENTLY IF NOT EXISTS subscriptions_run_error_idx ON subscriptions (organization_id) WHERE run_error IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS invoices_run_error_idx
  ON invoices (organization_id, subscription_id) WHERE run_error IS NOT NULL AND status IN ('DRAFT', 'OPEN');
