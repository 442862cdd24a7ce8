-- Processes of the version before go on while the new ones take over, and start again: a schema that is newer than they are is theirs
-- too, unless one of its migrations takes away what they read.

ALTER TABLE migrations
  -- The number of the newest migration that a process has to know to run on this one. Null: whoever ran before it runs on it.
  ADD COLUMN needs text;
