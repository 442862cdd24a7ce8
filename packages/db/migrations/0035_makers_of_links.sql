-- Which admin made a link: what they have made goes with them. Null: npm run admin, a mail that was asked for, or a version before.

ALTER TABLE invitations ADD COLUMN made_by uuid;
ALTER TABLE password_resets ADD COLUMN made_by uuid;
