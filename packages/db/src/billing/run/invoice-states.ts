// Changes the state of a finalized invoice: it is waived or given up, and record-payment.ts has it paid. What it bills stays as it is. Each
// of these is a step in a transaction of the caller, who rolls it back where nothing was done.
//
// Locks are taken in the order of decision 94: the subscription (7), the invoice (8), grants (11), the feed (23).

import { type FeedType, type NewFeedEvent, subscriptionData } from '@weir/billing/feed-events';
import { amountOf, amountText } from '@weir/billing/amounts';
import type { InvoiceStatus } from '@weir/billing/kinds';
import { sql, type UpdateObject } from 'kysely';
import type { Queries } from '../../database.ts';
import type { Tables } from '../../schema.ts';
import { returnCredits, type EndedCredit } from '../credits/return-credits.ts';
import { rebillDues, takeOffDues } from '../subscriptions/dues.ts';
import { appendFeed } from '../feed.ts';
import { invoiceData } from '../invoices/invoice-data.ts';
import { findInvoiceRow, findRebilled, lockInvoiceRow, type InvoiceRow } from '../invoices/invoices.ts';
import type { Payment } from '../invoices/payments.ts';
import { enterPastDue, leavePastDue } from './past-due.ts';
import { readGivenBack } from '../invoices/returnable.ts';
import { lockSubscription } from '../subscriptions/subscriptions.ts';

/** It has a status from which there is no way to the one that was asked for. */
export interface NotOpen {
  outcome: 'not_open';
  status: InvoiceStatus;
  reference: string | null;
  /** Of a void one: whether its charges are billed again. */
  rebilled: boolean;
}

export type ChangeOutcome =
  | { outcome: 'done' | 'not_found' }
  | NotOpen
  | { outcome: 'given_back'; status: InvoiceStatus }
  | { outcome: 'partly_paid'; paid: string };

/** Which invoice, and who changes it: `user:` and an id. */
export interface InvoiceOfActor {
  organizationId: string;
  id: string;
  actor: string;
}

/**
 * Waives an invoice. What it took of grants goes back to them; what it billed does not come back by itself. With `rebill` the next
 * invoice of the subscription bills its dues again, as they are by then. `partly_paid`: money was paid of it, which would be for nothing.
 * What other invoices have given back of what it billed ends with it, since nobody has paid it; `given_back`: not all of that is left.
 * What it gave back itself of what others billed is given by the next invoice. Throws a MonthTakenOut where what the next invoice is to
 * bill or give cannot be told.
 */
export async function voidInvoice(
  transaction: Queries,
  which: InvoiceOfActor,
  { note, rebill }: { note: string | null; rebill: boolean },
): Promise<ChangeOutcome> {
  return await changeInvoice<ChangeOutcome>(transaction, which, async (row) => {
    if (row.status !== 'OPEN' && row.status !== 'UNCOLLECTIBLE') return await notOpen(transaction, row);
    const paid = amountOf(row.amount_paid, row.currency);
    if (paid > 0n) return { outcome: 'partly_paid', paid: amountText(paid, row.currency) };
    const ended = await (rebill ? rebillInvoice : waiveInvoice)(transaction, which.organizationId, row);
    if (ended === undefined) return { outcome: 'given_back', status: row.status };
    return { changes: { status: 'VOID', ...(note !== null && { note }) }, types: ['invoice.voided'], ended };
  });
}

async function rebillInvoice(transaction: Queries, organizationId: string, { id }: InvoiceRow): Promise<EndedCredit[]> {
  await returnCredits(transaction, organizationId, id);
  await rebillDues(transaction, organizationId, id);
  return [];
}

async function waiveInvoice(
  transaction: Queries,
  organizationId: string,
  row: InvoiceRow,
): Promise<EndedCredit[] | undefined> {
  const { lines, amounts, isBilledElsewhere } = await readGivenBack(transaction, organizationId, row);
  if (isBilledElsewhere) return undefined;
  const ended = await returnCredits(transaction, organizationId, row.id, amounts);
  // From now on a due counts as if nothing had come back of it: all that this invoice billed is waived.
  if (ended === undefined) return undefined;
  await takeOffDues(transaction, organizationId, lines, { isBilledAgain: false });
  // What it gave back itself lowered its own total alone, which nobody pays: the next invoice gives that.
  await rebillDues(transaction, organizationId, row.id, { givenBack: true });
  return ended;
}

/** Gives an OPEN invoice up: it is past due no more, and may still be paid. */
export async function markUncollectible(
  transaction: Queries,
  which: InvoiceOfActor,
  note: string | null,
): Promise<ChangeOutcome> {
  return await changeInvoice<ChangeOutcome>(transaction, which, async (row) => {
    if (row.status !== 'OPEN') return await notOpen(transaction, row);
    const uncollectible_at = sql<string>`billing_clock()`;
    return {
      changes: { status: 'UNCOLLECTIBLE', uncollectible_at, ...(note !== null && { note }) },
      types: ['invoice.uncollectible'],
    };
  });
}

/** Why an invoice is not changed that has a status from which there is no way. */
export async function notOpen(db: Queries, row: InvoiceRow): Promise<NotOpen> {
  const rebilled = await findRebilled(db, row.organization_id, [row]);
  return { outcome: 'not_open', status: row.status, reference: row.reference, rebilled: rebilled.has(row.id) };
}

/** What is to become of an invoice, and what the feed says of that. */
interface Change {
  changes: Pick<UpdateObject<Tables, 'invoices'>, ChangedColumn>;
  types: readonly FeedType[];
  /** The payment that it is about. */
  payment?: Payment;
  /** What of grants ended with it. */
  ended?: readonly EndedCredit[];
}

type ChangedColumn = 'status' | 'amount_paid' | 'paid_at' | 'reference' | 'note' | 'uncollectible_at';

/**
 * Changes an invoice, held with its subscription: `change` says what is to become of it, or why nothing does. It is past due while it is
 * open after its due date, and so is its subscription.
 */
export async function changeInvoice<Outcome extends { outcome: string }>(
  transaction: Queries,
  { organizationId, id, actor }: InvoiceOfActor,
  change: (row: InvoiceRow, timeZone: string) => Promise<Change | Outcome>,
): Promise<Outcome | { outcome: 'done' | 'not_found' }> {
  const found = await findInvoiceRow(transaction, organizationId, id);
  if (found === undefined) return { outcome: 'not_found' };
  const subscription = await lockSubscription(transaction, organizationId, found.subscription_id);
  const row = await lockInvoiceRow(transaction, organizationId, id);
  if (subscription === undefined || row === undefined) return { outcome: 'not_found' };
  const changing = await change(row, subscription.time_zone);
  if ('outcome' in changing) return changing;
  const { changes, types, payment, ended = [] } = changing;
  // One that was paid is past due at once, where its time is over. What was open before is for markPastDue.
  const past = row.status === 'PAID' ? sql<boolean>`past_due_at <= billing_now()` : row.is_past_due;
  const changed = await transaction
    .updateTable('invoices')
    .set({ ...changes, is_past_due: (changes.status ?? row.status) === 'OPEN' ? past : false })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
  const rebilled = await findRebilled(transaction, organizationId, [changed]);
  const data = {
    ...invoiceData(changed),
    ...(payment !== undefined && { payment }),
    ...(changed.status === 'VOID' && { rebilled: rebilled.has(id) }),
  };
  const events = types.map((type): NewFeedEvent => ({ type, actor, data }));
  events.push(...ended.map((credit): NewFeedEvent => ({ type: 'credit.voided', actor, data: { ...credit } })));
  if (changed.is_past_due && !row.is_past_due)
    events.push(...(await enterPastDue(transaction, organizationId, [changed], actor)));
  const activated = await leavePastDue(transaction, organizationId, [subscription.id]);
  if (activated.length > 0) {
    const ofSubscription = subscriptionData({ ...subscription, status: 'ACTIVE' });
    events.push({ type: 'subscription.activated', actor, data: ofSubscription });
  }
  await appendFeed(transaction, organizationId, events);
  return { outcome: 'done' };
}
