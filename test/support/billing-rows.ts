// Rows of billing that a test needs around what it is about, put straight into the tables.

import { newId } from '@weir/shared/ids';
import type pg from 'pg';

type Rows = Pick<pg.Pool, 'query'>;

/** What a test says about a subscription; the rest is of no matter to it. */
export interface SubscriptionFields {
  organizationId: string;
  customerId: string;
  customerExternalId: string;
  planId: string;
  status?: 'TRIAL' | 'ACTIVE' | 'PAST_DUE' | 'CANCELED';
  timeZone?: string;
  alignment?: 'anniversary' | 'calendar';
  /** ISO 8601 with an offset. */
  startAt?: string;
  /** A local date. */
  anchor?: string;
  endedAt?: string | null;
  currency?: string;
}

/** Inserts a monthly subscription, and returns its id. */
export async function insertSubscriptionRow(rows: Rows, fields: SubscriptionFields): Promise<string> {
  const id = newId();
  const { startAt = '2023-01-15T10:00:00Z', anchor = startAt.slice(0, 10) } = fields;
  await rows.query(
    `INSERT INTO subscriptions (organization_id, id, customer_id, customer_external_id, plan_id, status, time_zone, currency,
       billing_interval, billing_alignment, start_at, anchor, anchor_at, cycle, current_period_start, current_period_end, ended_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'month', $9, $10, $11, $10, 0, $10, $10::timestamptz + interval '1 month', $12)`,
    [
      fields.organizationId,
      id,
      fields.customerId,
      fields.customerExternalId,
      fields.planId,
      fields.status ?? 'ACTIVE',
      fields.timeZone ?? 'UTC',
      fields.currency ?? 'USD',
      fields.alignment ?? 'anniversary',
      startAt,
      anchor,
      fields.endedAt ?? null,
    ],
  );
  return id;
}

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
