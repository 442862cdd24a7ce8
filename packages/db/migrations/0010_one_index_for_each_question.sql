-- All customers of a day, or of an hour, are found by an index that leads nowhere else, and one customer by the primary key. Where
-- both begin with organization and meter, Postgres takes either while it believes that a meter has next to no rows, and reads
-- all of its customers to find one. See docs/decisions/0054-one-index-for-each-question.md.

DROP INDEX customer_usage_days_organization_id_meter_id_day_idx;
CREATE INDEX customer_usage_days_meter_day_idx ON customer_usage_days (uuid_hash_extended(meter_id, 0), day);

DROP INDEX customer_value_days_organization_id_meter_id_day_idx;
CREATE INDEX customer_value_days_meter_day_idx ON customer_value_days (uuid_hash_extended(meter_id, 0), day);

DROP INDEX customer_group_hours_organization_id_meter_id_hour_idx;
CREATE INDEX customer_group_hours_meter_hour_idx ON customer_group_hours (uuid_hash_extended(meter_id, 0), hour);

DROP INDEX customer_group_value_days_organization_id_meter_id_day_idx;
CREATE INDEX customer_group_value_days_meter_day_idx ON customer_group_value_days (uuid_hash_extended(meter_id, 0), day);

-- Everybody on a plan has dues of its charges: for one due, whose primary key names its charge too, this is no way to it.
DROP INDEX dues_organization_id_charge_id_idx;
CREATE INDEX dues_charge_id_idx ON dues (charge_id);
