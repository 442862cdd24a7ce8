-- Who issues invoices, in the words that stand on them.

ALTER TABLE organizations
  -- Lines: name, address, tax number. Null: the name of the organization alone.
  ADD COLUMN invoice_issuer text;

ALTER TABLE invoices
  -- As it was when the invoice was finalized; null before, and where it was finalized before there was this column.
  ADD COLUMN issuer text;
