-- By how much the time of an event may lie ahead of its receipt, at most, since this Weir is there: TIMESTAMP_AHEAD_SECONDS may be lowered,
-- and what was taken before stays (packages/db/src/times-ahead.ts).

ALTER TABLE installation ADD COLUMN ahead_seconds_max integer NOT NULL DEFAULT 86400;
