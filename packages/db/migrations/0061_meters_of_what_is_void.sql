-- Which meter an event is of that a correction makes void, and its time: neither changes ever. A page of events that count stands beside
-- those that are void, and to find these each that an organization had voided was looked up.

ALTER TABLE corrections ADD COLUMN event_meter_id uuid, ADD COLUMN event_time timestamptz;
