// Rows of billing that a test needs around what it is about, put straight into the tables.

import { newId } from '@weir/shared/ids';
import type pg from 'pg';

type Rows = Pick<pg.Pool, 'query'>;

/** Inserts a draft without a cycle, of which there may be many, and returns its id. */
export async function insertDraftRow(
  rows: Rows,
  draft: { organizationId: string; subscriptionId: string; customerId: string; currency?: string },
): Promise<string> {
  const id = newId();
  await rows.query(
    `INSERT INTO invoices (organization_id, id, kind, status, subscription_id, customer_id, currency, period_start,
       period_end, finalizes_at)
     VALUES ($1, $2, 'ADJUSTMENT', 'DRAFT', $3, $4, $5, now(), now(), now())`,
    [draft.organizationId, id, draft.subscriptionId, draft.customerId, draft.currency ?? 'USD'],
  );
  return id;
}
