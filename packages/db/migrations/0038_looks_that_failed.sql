-- A look for usage that no charge bills may fail. Its day is looked at again on each of the days to come until one does not, however long
-- ago it was (packages/db/src/billing/usage/unbilled-usage.ts).

ALTER TABLE unbilled_usage_looks ADD COLUMN has_failed boolean NOT NULL DEFAULT false;
