--! no-transaction
-- Lists of customers and plans in the order of their names, whatever the case of letters: packages/db/src/customers.ts and plans.ts.

CREATE INDEX CONCURRENTLY IF NOT EXISTS customers_name_idx
  ON customers (uuid_hash_extended(organization_id, 0), lower(coalesce(name, external_id)), id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS plans_name_idx
  ON plans (uuid_hash_extended(organization_id, 0), lower(name), id);
