// Writes down invoices that are finalized, any number in a few statements, once write-lines.ts has their lines and what these
// settle: the credits that are applied, then the numbers, and the feed last. The order is that of the locks in all of billing.

import type { ComputedInvoice } from '@weir/billing/lines';
import type { NewFeedEvent } from '@weir/billing/feed-events';
import { amountText } from '@weir/billing/amounts';
import type { Amount } from '@weir/rating/money';
import { sql } from 'kysely';
import { FINALIZING_LOCK } from '../../advisory-locks.ts';
import { buyerOfCustomer, copyOfCustomer } from '../../customer-fields.ts';
import type { Queries } from '../../database.ts';
import { isAutomatic } from '../drafting.ts';
import { applyCredits, type PayableInvoice } from '../credits/apply-credits.ts';
import { appendFeed } from '../feed.ts';
import { moveAdjustments } from '../invoices/adjustments.ts';
import { takeNumbers, type Issue } from '../invoices/invoice-numbers.ts';
import { invoiceData } from '../invoices/invoice-data.ts';
import type { InvoiceRow } from '../invoices/invoices.ts';
import { activateSubscriptions, lockOpenInvoices, lowerInvoices } from './lower-invoices.ts';

/** A draft whose row is locked, and what it comes to. It has lines, and those of its dues are written down. */
export interface LockedInvoice {
  row: InvoiceRow;
  computed: ComputedInvoice;
}

/**
 * Finalizes invoices at a closing, and numbers them in the order given. Expects their rows and those of their subscriptions locked.
 * `before`: events for the feed that come before those of the invoices.
 */
export async function writeFinalized(
  transaction: Queries,
  organizationId: string,
  invoices: readonly LockedInvoice[],
  closing: number,
  actor: string,
  before: readonly NewFeedEvent[] = [],
): Promise<void> {
  if (invoices.length === 0) return;
  await moveAdjustments(
    transaction,
    organizationId,
    invoices.map(({ computed }) => computed),
  );
  await updateSubscriptions(transaction, organizationId, invoices, closing);
  const moving = invoices.map(payableInvoice);
  await holdFinalizing(transaction, organizationId);
  const giving = moving.filter(({ amountDue }) => amountDue < 0n).map(({ customerId }) => customerId);
  const open = await lockOpenInvoices(transaction, organizationId, giving);
  const credits = await applyCredits(transaction, organizationId, moving, open);
  // From here on others of the organization wait.
  const issue = await takeNumbers(transaction, organizationId, invoices.length);
  const rows = await updateInvoices(transaction, organizationId, invoices, credits.applied, issue);
  const events = rows.flatMap((row) => finalizedEvents(row, actor, credits.granted.get(row.id)));
  const lowered = await lowerInvoices(transaction, organizationId, open, credits.lowered, issue.finalized_at);
  const paid = lowered.filter(({ status }) => status === 'PAID');
  for (const row of lowered) {
    const type = row.status === 'PAID' ? 'invoice.paid' : 'invoice.credited';
    events.push({ type, actor, data: invoiceData(row) });
  }
  const subscriptions = [...invoices.map(({ row }) => row), ...paid].map(({ subscription_id }) => subscription_id);
  events.push(...(await activateSubscriptions(transaction, organizationId, subscriptions, actor)));
  await appendFeed(transaction, organizationId, [...before, ...events]);
}

/**
 * Waits for whoever finalizes invoices of the organization from here on, until that has committed: an invoice that just becomes open,
 * and a grant that is just made, are no rows yet that could be waited for. Two of one customer missed each other so, and one stayed
 * open beside money in advance. All that finalize take it here (lock 9 of decision 94). It is one for all customers, since all wait for
 * each other at the counter, some statements later, anyway; one for each would be hundreds of locks in a transaction, of a table that all
 * share.
 */
async function holdFinalizing(transaction: Queries, organizationId: string): Promise<void> {
  // A statement of its own: those after it see what this one waited for.
  await sql`SELECT pg_advisory_xact_lock(${FINALIZING_LOCK}, uuid_hash(${organizationId}::uuid))`.execute(transaction);
}

/** All that was late before this closing is settled by now. */
async function updateSubscriptions(
  transaction: Queries,
  organizationId: string,
  invoices: readonly LockedInvoice[],
  closing: number,
): Promise<void> {
  const ids = [...new Set(invoices.map(({ row }) => row.subscription_id))];
  await sql`
    UPDATE subscriptions SET closing = ${closing}
    WHERE organization_id = ${organizationId}::uuid AND id = ANY (${ids}::uuid[])`.execute(transaction);
}

function payableInvoice({ row, computed }: LockedInvoice): PayableInvoice {
  return { id: row.id, customerId: row.customer_id, currency: row.currency, amountDue: computed.total };
}

/** The customer is looked up for each: joined, all customers of the organization were read for each chunk. */
async function updateInvoices(
  transaction: Queries,
  organizationId: string,
  invoices: readonly LockedInvoice[],
  appliedCredits: ReadonlyMap<string, Amount>,
  { numbers, finalized_at, issue_date, due_date, past_due_at }: Issue,
): Promise<InvoiceRow[]> {
  const changes = invoices.map(({ row, computed }, index) => {
    const applied = appliedCredits.get(row.id) ?? 0n;
    const isPaid = computed.total - applied <= 0n;
    const { id, currency } = row;
    return {
      id,
      invoice_number: numbers[index],
      status: isPaid ? 'PAID' : 'OPEN',
      paid_at: isPaid ? finalized_at : null,
      subtotal: amountText(computed.subtotal, currency),
      total: amountText(computed.total, currency),
      credits_applied: amountText(applied, currency),
      amount_paid: amountText(0n, currency),
    };
  });
  const { rows } = await sql<InvoiceRow>`
    UPDATE invoices SET
      run_at = NULL, run_error = NULL, finalized_at = ${finalized_at}, issue_date = ${issue_date},
      due_date = ${due_date}, past_due_at = ${past_due_at}, invoice_number = change.invoice_number,
      status = change.status, paid_at = change.paid_at, subtotal = change.subtotal, total = change.total,
      credits_applied = change.credits_applied, amount_paid = change.amount_paid,
      finalizes_at = CASE WHEN ${isAutomatic(organizationId)} THEN invoices.finalizes_at END,
      buyer = (SELECT ${buyerOfCustomer()} FROM customers c
        WHERE c.organization_id = invoices.organization_id AND c.id = invoices.customer_id),
      seller = (SELECT o.seller FROM organizations o WHERE o.id = ${organizationId}::uuid),
      customer = (SELECT ${copyOfCustomer()} FROM customers c
        WHERE c.organization_id = invoices.organization_id AND c.id = invoices.customer_id),
      issuer = (SELECT coalesce(o.invoice_issuer, o.name) FROM organizations o WHERE o.id = ${organizationId}::uuid)
    FROM json_to_recordset(${JSON.stringify(changes)}::json) AS change (id uuid, invoice_number text, status text,
      paid_at timestamptz, subtotal numeric, total numeric, credits_applied numeric, amount_paid numeric)
    WHERE invoices.organization_id = ${organizationId}::uuid AND invoices.id = change.id
      AND invoices.id = ANY (${changes.map(({ id }) => id)}::uuid[])
    RETURNING invoices.*`.execute(transaction);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return invoices.map(({ row }) => {
    const updated = byId.get(row.id);
    // Its number is taken: without this it would be missing for ever.
    if (updated === undefined) throw new Error(`the invoice ${row.id} went away while it was being finalized`);
    return updated;
  });
}

function finalizedEvents(row: InvoiceRow, actor: string, grant: Record<string, unknown> | undefined): NewFeedEvent[] {
  const data = invoiceData(row);
  const events: NewFeedEvent[] = [{ type: 'invoice.finalized', actor, data }];
  if (row.status === 'PAID') events.push({ type: 'invoice.paid', actor, data });
  if (grant !== undefined) events.push({ type: 'credit.granted', actor, data: grant });
  return events;
}
