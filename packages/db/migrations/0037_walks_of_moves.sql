-- How far a move is once its events are moved: which walk over what is left it has come to, and behind which place
-- (packages/db/src/moves/perform-moves.ts).

ALTER TABLE usage_moves ADD COLUMN stage text;
ALTER TABLE usage_moves ADD COLUMN stage_after text NOT NULL DEFAULT '';
