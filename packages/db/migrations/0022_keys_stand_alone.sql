-- Of a table that others refer to by (organization_id, id), no other index that may serve that look-up begins with organization_id
-- (docs/decisions/0054-one-index-for-each-question.md): each check of a reference read all of the organization through it. Constraints
-- keep their names.

DROP INDEX subscriptions_organization_id_plan_id_idx;
CREATE INDEX subscriptions_plan_id_idx ON subscriptions (plan_id, organization_id);
DROP INDEX subscriptions_organization_id_customer_id_idx;
CREATE INDEX subscriptions_customer_id_idx ON subscriptions (customer_id, organization_id);
DROP INDEX subscriptions_organization_id_customer_external_id_idx;
CREATE INDEX subscriptions_customer_external_id_idx ON subscriptions (customer_external_id, organization_id);
DROP INDEX charges_organization_id_plan_id_idx;
CREATE INDEX charges_plan_id_idx ON charges (plan_id, organization_id);

ALTER TABLE subscriptions DROP CONSTRAINT subscriptions_organization_id_external_id_key,
  ADD CONSTRAINT subscriptions_organization_id_external_id_key UNIQUE (external_id, organization_id);
ALTER TABLE customers DROP CONSTRAINT customers_organization_id_external_id_key,
  ADD CONSTRAINT customers_organization_id_external_id_key UNIQUE (external_id, organization_id);
ALTER TABLE credit_grants DROP CONSTRAINT credit_grants_organization_id_external_id_key,
  ADD CONSTRAINT credit_grants_organization_id_external_id_key UNIQUE (external_id, organization_id);
ALTER TABLE invoices DROP CONSTRAINT invoices_organization_id_invoice_number_key,
  ADD CONSTRAINT invoices_organization_id_invoice_number_key UNIQUE (invoice_number, organization_id),
  DROP CONSTRAINT invoices_organization_id_subscription_id_cycle_key,
  ADD CONSTRAINT invoices_organization_id_subscription_id_cycle_key UNIQUE (subscription_id, organization_id, cycle);
ALTER TABLE plans DROP CONSTRAINT plans_organization_id_lookup_id_key,
  ADD CONSTRAINT plans_organization_id_lookup_id_key UNIQUE (lookup_id, organization_id);
ALTER TABLE features DROP CONSTRAINT features_organization_id_lookup_key_key,
  ADD CONSTRAINT features_organization_id_lookup_key_key UNIQUE (lookup_key, organization_id);
ALTER TABLE meters DROP CONSTRAINT meters_organization_id_feature_id_key,
  ADD CONSTRAINT meters_organization_id_feature_id_key UNIQUE (feature_id, organization_id);
