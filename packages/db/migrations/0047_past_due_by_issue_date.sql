--! no-transaction
-- What is past due in the order of issue dates (packages/db/src/billing/invoices/find-invoices.ts): of who records payments elsewhere that is
-- nearly all that was ever issued, and each page of its lines read and sorted all of it.

CREATE INDEX CONCURRENTLY IF NOT EXISTS invoices_past_due_issue_date_idx
  ON invoices (uuid_hash_extended(organization_id, 4), issue_date, id) WHERE is_past_due;
