-- The payments of invoices that were paid before there were rows of them, and when invoices were given up. Apart from 0028, which holds
-- writes of invoices off for as long as it takes.

INSERT INTO payments (organization_id, invoice_id, id, amount, paid_at, reference, created_at)
SELECT organization_id, id, gen_random_uuid(), amount_paid, paid_at, reference, paid_at
FROM invoices
WHERE amount_paid > 0 AND paid_at IS NOT NULL AND NOT EXISTS (
  SELECT FROM payments WHERE payments.organization_id = invoices.organization_id AND payments.invoice_id = invoices.id);

UPDATE invoices SET uncollectible_at = given_up.at
FROM (
  SELECT organization_id, (data ->> 'id')::uuid AS id, min(created_at) AS at
  FROM billing_events WHERE type = 'invoice.uncollectible' GROUP BY 1, 2
) AS given_up
WHERE invoices.organization_id = given_up.organization_id AND invoices.id = given_up.id
  AND invoices.status <> 'VOID' AND invoices.uncollectible_at IS NULL;
