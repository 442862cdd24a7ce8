-- Of a customer with more tokens of widgets than are deleted while it is held: those that expire until this time open nothing
-- (packages/db/src/widget-tokens.ts). It is in the table until they have expired.

CREATE TABLE ended_widget_tokens (
  organization_id uuid NOT NULL,
  customer_external_id text NOT NULL,
  expires_until timestamptz NOT NULL,
  CONSTRAINT ended_widget_tokens_pkey PRIMARY KEY (organization_id, customer_external_id),
  CONSTRAINT ended_widget_tokens_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES organizations (id)
);
