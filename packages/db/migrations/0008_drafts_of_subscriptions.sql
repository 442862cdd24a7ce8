-- Drafts are looked up by their subscriptions. At a midnight there are a hundred thousand times as many as the statistics
-- say, and an index without the subscription has all of them read for each chunk that is finalized.

DROP INDEX invoices_organization_id_status_idx;
CREATE INDEX invoices_organization_id_status_subscription_id_idx ON invoices (organization_id, status, subscription_id)
  WHERE status IN ('DRAFT', 'OPEN');
