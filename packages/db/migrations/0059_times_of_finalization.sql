-- When the last invoice of a year was finalized. The next one is finalized after it, also where the clock of Postgres goes back: by that
-- time it is known which credits an invoice had when it was issued, and which of two is older.

ALTER TABLE invoice_numbers ADD COLUMN last_at timestamptz;
