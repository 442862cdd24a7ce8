-- Invoices by issue date, by the end of their period, past due and by number; a customer's by issue date; what an invoice gave to others.
-- Each index begins with what no other one does, so that Postgres has no choice: docs/decisions/0054-one-index-for-each-question.md.

CREATE INDEX invoices_issue_date_idx ON invoices (uuid_hash_extended(organization_id, 0), issue_date, id)
  WHERE issue_date IS NOT NULL;
CREATE INDEX invoices_period_end_idx ON invoices (uuid_hash_extended(organization_id, 1), period_end, id);
CREATE INDEX invoices_past_due_idx ON invoices (uuid_hash_extended(organization_id, 2), id) WHERE is_past_due;
-- In whatever case, and by how they begin.
CREATE INDEX invoices_number_idx ON invoices (uuid_hash_extended(organization_id, 3), upper(invoice_number) text_pattern_ops)
  WHERE invoice_number IS NOT NULL;

DROP INDEX invoices_organization_id_customer_id_idx;
CREATE INDEX invoices_customer_id_idx ON invoices (customer_id, issue_date, id);

-- Lines are read page by page.
DROP INDEX invoice_lines_organization_id_invoice_id_idx;
CREATE INDEX invoice_lines_invoice_id_idx ON invoice_lines (invoice_id, position, id);

DROP INDEX credit_grants_organization_id_customer_id_idx;
CREATE INDEX credit_grants_customer_id_idx ON credit_grants (customer_id, id);
CREATE INDEX credit_grants_invoice_id_idx ON credit_grants (invoice_id) WHERE invoice_id IS NOT NULL;
DROP INDEX credit_entries_organization_id_invoice_id_idx;
CREATE INDEX credit_entries_invoice_id_idx ON credit_entries (invoice_id, id) WHERE invoice_id IS NOT NULL;
