-- A subscription may start in the future. Until the run has been at its start and told of it, it says so: what begins with a trial has
-- no boundary there. What was made before had started when it was made.

ALTER TABLE subscriptions ADD COLUMN is_scheduled boolean NOT NULL DEFAULT false;
