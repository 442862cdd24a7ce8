-- Who finalizes invoices, and who sells to whom, as fields. What was issued before has no fields.

ALTER TABLE organizations
  -- manual: a draft stays one until somebody finalizes it.
  ADD COLUMN finalize text NOT NULL DEFAULT 'automatic',
  ADD CONSTRAINT organizations_finalize_check CHECK (finalize IN ('automatic', 'manual')),
  ADD COLUMN seller jsonb;

ALTER TABLE customers
  ADD COLUMN legal_name text,
  ADD COLUMN tax_id text,
  ADD COLUMN billing_address_line2 text,
  -- ISO 3166-1 alpha-2, beside billing_address_country, which is free text.
  ADD COLUMN billing_country_code text;

ALTER TABLE invoices
  -- Null: nobody but a person finalizes it.
  ALTER COLUMN finalizes_at DROP NOT NULL,
  ADD COLUMN seller jsonb,
  ADD COLUMN buyer jsonb;

-- Whose dues name an external_id.
CREATE INDEX subscriptions_organization_id_customer_external_id_idx
  ON subscriptions (organization_id, customer_external_id);
