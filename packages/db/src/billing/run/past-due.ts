// Invoices that are open past their due date, and the subscriptions that they are of.

import { type NewFeedEvent, subscriptionData } from '@weir/billing/feed-events';
import type { SubscriptionRow } from '../subscriptions/subscriptions.ts';
import { sql } from 'kysely';
import type { Database, Queries } from '../../database.ts';
import { appendFeed } from '../feed.ts';
import { invoiceData } from '../invoices/invoice-data.ts';
import { invoicesById, type InvoiceRow } from '../invoices/invoices.ts';

/**
 * Marks open invoices that are past due by now, those of these that nobody has in hand, and their subscriptions. Returns how many
 * invoices. A second time it finds none.
 */
export async function markPastDue(
  database: Database,
  organizationId: string,
  invoiceIds: readonly string[],
): Promise<number> {
  return await database.kysely.transaction().execute(async (transaction) => {
    const subscriptions = await sql<{ id: string }>`
      SELECT id FROM subscriptions
      WHERE organization_id = ${organizationId}::uuid AND id = ANY (ARRAY(
        SELECT subscription_id FROM ${invoicesById(organizationId, invoiceIds)}))
      ORDER BY id FOR UPDATE SKIP LOCKED`.execute(transaction);
    // Whoever finalizes an invoice below zero holds open ones of its customer, and not their subscriptions. What is in those hands is left out
    // too: the order of locks is another one here.
    const due = await sql<{ id: string }>`
      SELECT id FROM invoices
      WHERE organization_id = ${organizationId}::uuid AND id = ANY (${invoiceIds}::uuid[])
        AND subscription_id = ANY (${subscriptions.rows.map(({ id }) => id)}::uuid[])
        AND status = 'OPEN' AND NOT is_past_due AND past_due_at <= billing_now()
      FOR NO KEY UPDATE SKIP LOCKED`.execute(transaction);
    const { rows: invoices } = await sql<InvoiceRow>`
      UPDATE invoices SET is_past_due = true, run_error = NULL
      WHERE organization_id = ${organizationId}::uuid AND id = ANY (${due.rows.map(({ id }) => id)}::uuid[])
      RETURNING *`.execute(transaction);
    await appendFeed(transaction, organizationId, await enterPastDue(transaction, organizationId, invoices, 'weir'));
    return invoices.length;
  });
}

/**
 * Makes the subscriptions of invoices PAST_DUE that are past due by now. Expects their rows locked. Returns what the feed says of both.
 */
export async function enterPastDue(
  transaction: Queries,
  organizationId: string,
  invoices: readonly InvoiceRow[],
  actor: string,
): Promise<NewFeedEvent[]> {
  const { rows: behind } = await sql<SubscriptionRow>`
    UPDATE subscriptions SET status = 'PAST_DUE'
    WHERE organization_id = ${organizationId}::uuid AND status = 'ACTIVE'
      AND id = ANY (${invoices.map(({ subscription_id }) => subscription_id)}::uuid[])
    RETURNING *`.execute(transaction);
  return [
    ...invoices.map((row): NewFeedEvent => ({ type: 'invoice.past_due', actor, data: invoiceData(row) })),
    ...behind.map((row): NewFeedEvent => ({ type: 'subscription.past_due', actor, data: subscriptionData(row) })),
  ];
}

/**
 * Makes those of these subscriptions ACTIVE again that were PAST_DUE and have no open invoice past its due date any more: to be called
 * once an invoice was paid, voided or given up. Expects their rows locked. Returns the ids of those that became ACTIVE, for the feed.
 */
export async function leavePastDue(
  transaction: Queries,
  organizationId: string,
  subscriptionIds: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    UPDATE subscriptions SET status = 'ACTIVE'
    WHERE organization_id = ${organizationId}::uuid AND id = ANY (${subscriptionIds}::uuid[]) AND status = 'PAST_DUE'
      AND NOT EXISTS (
        SELECT FROM invoices
        WHERE invoices.organization_id = subscriptions.organization_id AND invoices.subscription_id = subscriptions.id
          AND invoices.status = 'OPEN' AND invoices.is_past_due)
    RETURNING id`.execute(transaction);
  return rows.map(({ id }) => id);
}
