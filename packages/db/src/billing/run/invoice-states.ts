// Changes the state of a finalized invoice: it is paid, waived, or given up. Its amounts stay as they are. Each of these is a step in a
// transaction of the caller, who rolls it back where nothing was done.
//
// Locks are taken in the order of all billing: the subscription, the invoice, grants, the feed.

import { type NewFeedEvent, subscriptionData } from '@weir/billing/feed-events';
import { amountOf } from '@weir/billing/amounts';
import type { InvoiceStatus } from '@weir/billing/kinds';
import { minorDigits } from '@weir/rating/currencies';
import { formatAmount } from '@weir/rating/money';
import { instantInZone } from '@weir/shared/date-or-instant';
import { sql } from 'kysely';
import type { Queries } from '../../database.ts';
import { reverseCreditApplications } from '../credits/apply-credits.ts';
import { rebillDues } from '../subscriptions/dues.ts';
import { appendFeed } from '../feed.ts';
import { invoiceData } from '../invoices/invoice-data.ts';
import { amountDueOf, findInvoiceRow, lockInvoiceRow, type InvoiceRow } from '../invoices/invoices.ts';
import { leavePastDue } from './past-due.ts';
import { readUnfounded } from '../invoices/returnable.ts';
import { lockSubscription } from '../subscriptions/subscriptions.ts';

/** The outcome of a change. `not_open`: it has a status from which there is no way to the one that was asked for. */
export type ChangeOutcome =
  | { outcome: 'done' | 'not_found' | 'paid_in_future' }
  | { outcome: 'not_open'; status: InvoiceStatus; reference: string | null };

/** Which invoice, and who changes it: `user:` and an id. */
export interface InvoiceOfActor {
  organizationId: string;
  id: string;
  actor: string;
}

/** A payment of all that is due. */
export interface Payment {
  /** An instant, or a date, which is its first instant in the zone of the subscription; null: now. */
  paidAt: string | null;
  reference: string | null;
}

/** Marks an invoice paid, OPEN or UNCOLLECTIBLE as it may be. `paid_in_future` where Postgres's clock is before `paidAt`. */
export async function payInvoice(
  transaction: Queries,
  which: InvoiceOfActor,
  payment: Payment,
): Promise<ChangeOutcome> {
  return await changeInvoice(transaction, which, ['OPEN', 'UNCOLLECTIBLE'], 'invoice.paid', async (row, timeZone) => {
    const { rows } = await sql<{ paid_at: string; is_ahead: boolean }>`
      SELECT at AS paid_at, at > now AS is_ahead
      FROM (SELECT coalesce(${payment.paidAt === null ? null : instantInZone(payment.paidAt, timeZone)}::timestamptz, billing_now()) AS at, billing_now() AS now) AS times`.execute(
      transaction,
    );
    if (rows[0]?.is_ahead !== false) return 'paid_in_future';
    const digits = minorDigits(row.currency);
    const due = amountDueOf(row, amountOf(row.total, digits));
    return {
      status: 'PAID',
      amount_paid: formatAmount(amountOf(row.amount_paid, digits) + due, digits),
      paid_at: rows[0].paid_at,
      reference: payment.reference,
    };
  });
}

/**
 * Waives an invoice. What it took of grants goes back to them; what it billed does not come back by itself. With `rebill` the next
 * invoice of the subscription bills its dues again, as they are by then.
 */
export async function voidInvoice(
  transaction: Queries,
  which: InvoiceOfActor,
  { note, rebill }: { note: string | null; rebill: boolean },
): Promise<ChangeOutcome> {
  return await changeInvoice(transaction, which, ['OPEN', 'UNCOLLECTIBLE'], 'invoice.voided', async (row) => {
    const unfounded = rebill ? undefined : await readUnfounded(transaction, which.organizationId, row);
    await reverseCreditApplications(transaction, which.organizationId, row.id, unfounded);
    if (rebill) await rebillDues(transaction, which.organizationId, row.id);
    return { status: 'VOID', ...(note !== null && { note }) };
  });
}

/** Gives an OPEN invoice up: it is past due no more, and may still be paid. */
export async function markUncollectible(
  transaction: Queries,
  which: InvoiceOfActor,
  note: string | null,
): Promise<ChangeOutcome> {
  return await changeInvoice(transaction, which, ['OPEN'], 'invoice.uncollectible', async () => ({
    status: 'UNCOLLECTIBLE',
    ...(note !== null && { note }),
  }));
}

type Changes = Partial<Pick<InvoiceRow, 'status' | 'amount_paid' | 'paid_at' | 'reference' | 'note'>>;
type StateEvent = 'invoice.paid' | 'invoice.voided' | 'invoice.uncollectible';

async function changeInvoice(
  transaction: Queries,
  { organizationId, id, actor }: InvoiceOfActor,
  from: readonly InvoiceStatus[],
  type: StateEvent,
  change: (row: InvoiceRow, timeZone: string) => Promise<Changes | 'paid_in_future'>,
): Promise<ChangeOutcome> {
  const found = await findInvoiceRow(transaction, organizationId, id);
  if (found === undefined) return { outcome: 'not_found' };
  const subscription = await lockSubscription(transaction, organizationId, found.subscription_id);
  const row = await lockInvoiceRow(transaction, organizationId, id);
  if (subscription === undefined || row === undefined) return { outcome: 'not_found' };
  if (!from.includes(row.status)) return { outcome: 'not_open', status: row.status, reference: row.reference };
  const changes = await change(row, subscription.time_zone);
  if (changes === 'paid_in_future') return { outcome: changes };
  const changed = await transaction
    .updateTable('invoices')
    .set({ ...changes, is_past_due: false })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
  const activated = await leavePastDue(transaction, organizationId, [subscription.id]);
  const events: NewFeedEvent[] = [{ type, actor, data: invoiceData(changed) }];
  if (activated.length > 0) {
    const data = subscriptionData({ ...subscription, status: 'ACTIVE' });
    events.push({ type: 'subscription.activated', actor, data });
  }
  await appendFeed(transaction, organizationId, events);
  return { outcome: 'done' };
}
