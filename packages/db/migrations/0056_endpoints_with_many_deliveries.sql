-- An endpoint with more deliveries than one request deletes is marked, and from then on nobody finds it
-- (packages/db/src/webhooks/webhook-endpoints.ts). A worker deletes the deliveries, and the endpoint with the last of them.

ALTER TABLE webhook_endpoints ADD COLUMN deleted_at timestamptz;
