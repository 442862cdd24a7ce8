-- The alerts over a customer alone that an erasure has deleted (packages/db/src/moves/finish-erasure.ts): a worker takes what was sent of them out
-- of the audit log, page by page, and by then their rows may be gone. Null: none, or it was asked for before this.

ALTER TABLE usage_moves ADD COLUMN alert_ids uuid[];
