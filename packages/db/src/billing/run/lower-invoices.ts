// What an invoice below zero does to others of its customer: it pays what is open, the oldest first, before it becomes money in advance.

import { type NewFeedEvent, subscriptionData } from '@weir/billing/feed-events';
import { amountOf, amountText } from '@weir/billing/amounts';
import type { SubscriptionRow } from '../subscriptions/subscriptions.ts';
import type { Amount } from '@weir/rating/money';
import { microsOfText } from '@weir/shared/instant';
import { sql } from 'kysely';
import { InOtherHands, type Queries } from '../../database.ts';
import type { PayableInvoice } from '../credits/apply-credits.ts';
import { amountDueOf, type InvoiceRow } from '../invoices/invoices.ts';
import { leavePastDue } from './past-due.ts';

/** An invoice that is not paid, as it is before it is lowered. */
export interface UnpaidInvoice extends PayableInvoice {
  creditsApplied: Amount;
}

/**
 * Locks what is open or given up of some customers, in the order of ids, and returns it oldest first: lock 10 of decision 94.
 */
export async function lockOpenInvoices(
  transaction: Queries,
  organizationId: string,
  customerIds: readonly string[],
): Promise<UnpaidInvoice[]> {
  if (customerIds.length === 0) return [];
  const rows = await transaction
    .selectFrom('invoices')
    // Whoever never records a payment has many of them: without who sold and bought what.
    .select(['id', 'customer_id', 'currency', 'status', 'total', 'credits_applied', 'amount_paid'])
    .select(['finalized_at', 'invoice_number'])
    .$narrowType<Aged>()
    .where('organization_id', '=', organizationId)
    .where(sql<boolean>`customer_id = ANY (${customerIds}::uuid[])`)
    .where('status', 'in', ['OPEN', 'UNCOLLECTIBLE'])
    .orderBy('id')
    .forUpdate()
    .execute();
  return rows.sort(byAge).map((row) => {
    const { id, customer_id: customerId, currency } = row;
    const creditsApplied = amountOf(row.credits_applied, currency);
    return { id, customerId, currency, amountDue: amountDueOf(row, amountOf(row.total, currency)), creditsApplied };
  });
}

interface Aged {
  finalized_at: string;
  invoice_number: string;
}

/** Those of one moment by their numbers, which rise with it, and of which the later ones may have more digits. */
function byAge(a: Aged, b: Aged): number {
  const elapsed = microsOfText(a.finalized_at) - microsOfText(b.finalized_at);
  return elapsed || a.invoice_number.localeCompare(b.invoice_number, 'en', { numeric: true });
}

/**
 * Adds what was drawn to some of the invoices that {@link lockOpenInvoices} returned. What is paid by it is PAID. Returns those as they
 * are then, in the order of `lowered`. One statement, however many there are: others of the organization wait for it.
 */
export async function lowerInvoices(
  transaction: Queries,
  organizationId: string,
  open: readonly UnpaidInvoice[],
  lowered: ReadonlyMap<string, Amount>,
  at: string,
): Promise<InvoiceRow[]> {
  if (lowered.size === 0) return [];
  const changes = open.flatMap(({ id, currency, amountDue, creditsApplied }) => {
    const amount = lowered.get(id);
    if (amount === undefined) return [];
    return [{ id, credits_applied: amountText(creditsApplied + amount, currency), is_paid: amount === amountDue }];
  });
  const { rows } = await sql<InvoiceRow>`
    UPDATE invoices SET credits_applied = change.credits_applied,
      status = CASE WHEN is_paid THEN 'PAID' ELSE invoices.status END,
      paid_at = CASE WHEN is_paid THEN ${at}::timestamptz ELSE invoices.paid_at END,
      is_past_due = invoices.is_past_due AND NOT is_paid
    FROM jsonb_to_recordset(${JSON.stringify(changes)}::jsonb) AS change (id uuid, credits_applied numeric, is_paid boolean)
    WHERE invoices.organization_id = ${organizationId}::uuid AND invoices.id = change.id
      AND invoices.id = ANY (${changes.map(({ id }) => id)}::uuid[])
    RETURNING invoices.*`.execute(transaction);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return [...lowered.keys()].map((id) => {
    const row = byId.get(id);
    // Its credits are drawn already.
    if (row === undefined) throw new Error(`the invoice ${id} was to be lowered, and is not held`);
    return row;
  });
}

/**
 * Makes subscriptions ACTIVE again that have nothing past due any more. Returns what the feed says of it. Throws InOtherHands where
 * somebody else has one of them, and what pays for it is finalized another time: to wait for it here, against the order of locks, could be
 * for ever, and left out it would stay PAST_DUE, since nobody asks again before its next invoice.
 */
export async function activateSubscriptions(
  transaction: Queries,
  organizationId: string,
  subscriptionIds: readonly string[],
  actor: string,
): Promise<NewFeedEvent[]> {
  const arePastDue = sql`
    organization_id = ${organizationId}::uuid AND id = ANY (${subscriptionIds}::uuid[]) AND status = 'PAST_DUE'`;
  const { rows } = await sql<SubscriptionRow>`
    SELECT * FROM subscriptions WHERE ${arePastDue} ORDER BY id FOR NO KEY UPDATE SKIP LOCKED`.execute(transaction);
  const ids = rows.map(({ id }) => id);
  const left = await sql<{ id: string }>`
    SELECT id FROM subscriptions WHERE ${arePastDue} AND id <> ALL (${ids}::uuid[]) LIMIT 1`.execute(transaction);
  const [taken] = left.rows;
  if (taken !== undefined) throw new InOtherHands(`somebody else has the subscription ${taken.id} in hand`);
  if (rows.length === 0) return [];
  const activated = new Set(await leavePastDue(transaction, organizationId, ids));
  return rows
    .filter(({ id }) => activated.has(id))
    .map((row) => ({ type: 'subscription.activated', actor, data: subscriptionData({ ...row, status: 'ACTIVE' }) }));
}
