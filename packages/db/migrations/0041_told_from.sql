-- From when on an alert tells: of no period that was over by then (packages/db/src/alerts/perform-alerts.ts). It is asked to look for other
-- reasons as well, such as another external id of its customer.

ALTER TABLE alerts ADD COLUMN told_from timestamptz NOT NULL DEFAULT billing_now();
UPDATE alerts SET told_from = look_asked_at;
