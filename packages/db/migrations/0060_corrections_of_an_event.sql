--! no-transaction
-- The corrections of an event, each by an index that fits no other question (docs/decisions/0054-one-index-for-each-question.md): of an
-- organization whose corrections came since Postgres looked, each event that was read had all of them read.

CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS corrections_amended_by_organization_id_key
  ON corrections (amended_by, organization_id) WHERE amended_by IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS corrections_organization_id_amended_by_key;

CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS corrections_id_key
  ON corrections (uuid_send(organization_id), id);
DROP INDEX CONCURRENTLY IF EXISTS corrections_organization_id_id_key;
