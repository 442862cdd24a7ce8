-- A price is changed in one step: the charge that ends says when, and the one in its place is in force from that instant on.

ALTER TABLE charges
  ADD COLUMN effective_from timestamptz,
  ADD COLUMN replaces uuid,
  ADD CONSTRAINT charges_organization_id_replaces_fkey FOREIGN KEY (organization_id, replaces)
    REFERENCES charges (organization_id, id);
UPDATE charges SET effective_from = created_at;
ALTER TABLE charges
  ALTER COLUMN effective_from SET DEFAULT billing_now(),
  ALTER COLUMN effective_from SET NOT NULL;
