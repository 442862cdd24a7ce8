-- What an organization shows to its customers.

ALTER TABLE organizations
  -- The meters of the widget, in their order. Null: all that a customer uses, the newest first.
  ADD COLUMN widget_meter_ids uuid[],
  ADD CONSTRAINT organizations_widget_meter_ids_check CHECK (cardinality(widget_meter_ids) <= 100);
