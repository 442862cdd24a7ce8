// The end of a subscription: at the end of its period, where the run passes the boundary as any other; or now, which cuts what is
// open and makes the final invoice. Expects a subscription that is locked, up to date, and not ended.

import { type NewFeedEvent, draftData, subscriptionData } from '@weir/billing/feed-events';
import { newInvoice } from '@weir/billing/new-invoice';
import type { Queries } from '../../database.ts';
import { readBillingTime } from '../billing-time.ts';
import { releaseMeters } from './billed-meters.ts';
import { cutPeriod, hasToSettle } from './cut-period.ts';
import { readDrafting } from '../drafting.ts';
import { findLateWithoutDraft, insertInvoices } from './open-periods.ts';
import { updateSubscription, type SubscriptionRow } from './subscriptions.ts';

export interface Cancellation {
  /** Who asks for it, as the feed says it. */
  actor: string;
  reason: string | null;
}

/**
 * Lets it end with its period, or with its trial. Asking again keeps the time of the first request. Before its start there is nothing
 * to wait for: it ends now.
 */
export async function cancelAtPeriodEnd(
  transaction: Queries,
  row: SubscriptionRow,
  { actor, reason }: Cancellation,
): Promise<NewFeedEvent[]> {
  if (row.is_scheduled) return await cancelNow(transaction, row, { actor, reason });
  const after = await updateSubscription(transaction, row, {
    cancel_at_period_end: true,
    cancel_reason: reason ?? row.cancel_reason,
    canceled_at: row.canceled_at ?? (await readBillingTime(transaction)),
    ended_at: row.current_period_end,
  });
  if (row.cancel_at_period_end) return [];
  return [{ type: 'subscription.changed', actor, data: subscriptionData(after) }];
}

/** Takes it back. Without such a cancellation nothing changes. */
export async function keepAfterPeriodEnd(
  transaction: Queries,
  row: SubscriptionRow,
  { actor }: Pick<Cancellation, 'actor'>,
): Promise<NewFeedEvent[]> {
  if (!row.cancel_at_period_end) return [];
  const after = await updateSubscription(transaction, row, {
    cancel_at_period_end: false,
    cancel_reason: null,
    canceled_at: null,
    ended_at: null,
  });
  return [{ type: 'subscription.changed', actor, data: subscriptionData(after) }];
}

/** Ends it at this instant: the open period and its dues are cut there, and what they come to is put on a final invoice. */
export async function cancelNow(
  transaction: Queries,
  row: SubscriptionRow,
  { actor, reason }: Cancellation,
): Promise<NewFeedEvent[]> {
  const { organization_id: organizationId } = row;
  const now = await readBillingTime(transaction);
  const after = await updateSubscription(transaction, row, {
    status: 'CANCELED',
    pending_plan_id: null,
    cancel_at_period_end: false,
    cancel_reason: reason ?? row.cancel_reason,
    canceled_at: now,
    ended_at: now,
    ...(!row.is_scheduled && { current_period_end: now }),
    is_scheduled: false,
    run_at: null,
    run_error: null,
  });
  const events: NewFeedEvent[] = [{ type: 'subscription.canceled', actor, data: subscriptionData(after) }];
  if (after.cycle !== null) {
    await cutPeriod(transaction, row, { at: now, dateCounts: true });
    if (await hasFinalLines(transaction, after)) {
      const drafting = await readDrafting(transaction, organizationId);
      const final = newInvoice(after, {
        cycle: after.cycle + 1,
        start: after.current_period_start,
        end: now,
        ...drafting,
      });
      const id = (await insertInvoices(transaction, organizationId, [final])).get(final) ?? '';
      const data = draftData({ ...final, id, kind: 'SUBSCRIPTION' }, drafting);
      events.push({ type: 'invoice.created', actor, data });
    }
  }
  await releaseMeters(transaction, organizationId, [row.id]);
  return events;
}

async function hasFinalLines(transaction: Queries, row: SubscriptionRow): Promise<boolean> {
  if (await hasToSettle(transaction, row)) return true;
  return (await findLateWithoutDraft(transaction, row.organization_id, [row.id])).has(row.id);
}
