-- What is paid of an invoice, payment by payment.

CREATE TABLE payments (
  organization_id uuid NOT NULL,
  invoice_id uuid NOT NULL,
  id uuid NOT NULL,
  amount numeric NOT NULL,
  paid_at timestamptz NOT NULL,
  reference text,
  created_at timestamptz NOT NULL DEFAULT billing_now(),
  -- The only change of a row: it was recorded by mistake, and counts no more.
  taken_back_at timestamptz,
  note text,
  CONSTRAINT payments_pkey PRIMARY KEY (organization_id, invoice_id, id),
  CONSTRAINT payments_amount_check CHECK (amount > 0),
  CONSTRAINT payments_organization_id_invoice_id_fkey FOREIGN KEY (organization_id, invoice_id)
    REFERENCES invoices (organization_id, id)
);

-- When it was given up. It says what an invoice is again whose payment is taken back.
ALTER TABLE invoices ADD COLUMN uncollectible_at timestamptz;

-- Processes of the version before mark invoices paid and uncollectible without writing these two, so Postgres does it for them. Where
-- the payments of an invoice are there already, there is nothing to add.
CREATE FUNCTION keep_payments() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  missing numeric;
BEGIN
  IF NEW.status = 'UNCOLLECTIBLE' THEN
    NEW.uncollectible_at := coalesce(NEW.uncollectible_at, billing_clock());
  ELSIF NEW.amount_paid > OLD.amount_paid THEN
    missing := NEW.amount_paid - (
      SELECT coalesce(sum(amount), 0) FROM payments
      WHERE organization_id = NEW.organization_id AND invoice_id = NEW.id AND taken_back_at IS NULL);
    IF missing > 0 THEN
      INSERT INTO payments (organization_id, invoice_id, id, amount, paid_at, reference)
      VALUES (NEW.organization_id, NEW.id, gen_random_uuid(), missing, coalesce(NEW.paid_at, billing_now()), NEW.reference);
    END IF;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER invoices_keep_payments BEFORE UPDATE ON invoices FOR EACH ROW
  WHEN (NEW.amount_paid > OLD.amount_paid OR NEW.status = 'UNCOLLECTIBLE' AND NEW.uncollectible_at IS NULL)
  EXECUTE FUNCTION keep_payments();
