-- The run takes what is due by organization: the indexes of what is due begin with it, so that one with a hundred thousand
-- drafts is passed over in one step.

DROP INDEX subscriptions_run_at_idx;
CREATE INDEX subscriptions_organization_id_run_at_id_idx ON subscriptions (organization_id, run_at, id)
  WHERE run_at IS NOT NULL;

DROP INDEX invoices_run_at_idx;
CREATE INDEX invoices_organization_id_run_at_id_idx ON invoices (organization_id, run_at, id) WHERE run_at IS NOT NULL;

DROP INDEX invoices_past_due_at_idx;
CREATE INDEX invoices_organization_id_past_due_at_idx ON invoices (organization_id, past_due_at)
  WHERE status = 'OPEN' AND NOT is_past_due;
