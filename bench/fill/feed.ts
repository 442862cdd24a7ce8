// A feed of billing that has many events, as a midnight leaves it.

import type pg from 'pg';

/** So many, of the one organization that is there, which an endpoint of webhooks has not been sent. */
export async function fillFeed(client: pg.Client, events: number): Promise<void> {
  await client.query(`
    INSERT INTO billing_events (organization_id, sequence, type, created_at, actor, data)
    SELECT organizations.id, n, 'invoice.finalized', now(), 'weir', jsonb_build_object(
      'id', gen_random_uuid(), 'invoice_number', '2026-' || n, 'kind', 'SUBSCRIPTION', 'status', 'OPEN',
      'subscription_id', gen_random_uuid(), 'customer_id', gen_random_uuid(), 'cycle', 1, 'currency', 'USD', 'total', '20.25',
      'credits_applied', '0', 'amount_paid', '0', 'amount_due', '20.25', 'period_start', '2026-10-01T00:00:00.000Z',
      'period_end', '2026-11-01T00:00:00.000Z', 'issue_date', '2026-11-01', 'due_date', '2026-12-01', 'paid_at', NULL,
      'reference', NULL, 'note', NULL)
    FROM organizations, generate_series(1, ${events}) AS n`);
  await client.query(
    `INSERT INTO billing_feeds (organization_id, last_sequence, last_at) SELECT id, ${events}, now() FROM organizations`,
  );
}
