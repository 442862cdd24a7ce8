-- What may come back of what was billed, and in which order invoices are issued.

ALTER TABLE invoice_lines
  -- What the line would have taken away more, had it been asked for; null where nothing was cut off, as on all lines before.
  ADD COLUMN waived numeric,
  ADD CONSTRAINT invoice_lines_waived_check CHECK (waived > 0);
