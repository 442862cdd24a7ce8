-- What may come back of what was billed, and in which order invoices are issued.

ALTER TABLE invoice_lines
  -- What the line would have taken away more, had it been asked for; null where nothing was cut off, as on all lines before.
  ADD COLUMN waived numeric,
  ADD CONSTRAINT invoice_lines_waived_check CHECK (waived > 0);

-- A void invoice whose dues are to be billed again counts no more in what was billed for them.
ALTER TABLE dues
  -- How many such invoices there were of it.
  ADD COLUMN rebills integer NOT NULL DEFAULT 0,
  -- Whether it waits for the next invoice.
  ADD COLUMN rebilling boolean NOT NULL DEFAULT false;
ALTER TABLE invoice_lines
  -- How many there had been of its due when it was made.
  ADD COLUMN rebills integer NOT NULL DEFAULT 0,
  -- Which of them its own invoice is; null: it counts.
  ADD COLUMN rebilled integer;
CREATE INDEX dues_rebilling_idx ON dues (organization_id, subscription_id) WHERE rebilling;
