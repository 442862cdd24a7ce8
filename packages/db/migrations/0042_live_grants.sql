--! no-transaction
-- Grants of a customer in a currency that invoices may draw (packages/db/src/billing/credits/apply-credits.ts): those that have expired stay as
-- they are, however many there are, and are not read.

CREATE INDEX CONCURRENTLY IF NOT EXISTS credit_grants_live_idx
  ON credit_grants ((customer_id::text || ' ' || currency), coalesce(expires_at, 'infinity'::timestamptz)) WHERE remaining > 0;
