-- The time of the last event of a feed. The next one is not before it, also where the clock of Postgres goes back: a replay of a
-- webhook from a time on looks for it by halves.

ALTER TABLE billing_feeds ADD COLUMN last_at timestamptz;
