// The end of a subscription: at the end of its period, where the run passes the boundary as any other; or now, which cuts what is
// open and makes the final invoice. Expects a subscription that is locked, up to date, and not ended.

import { type NewFeedEvent, draftData, subscriptionData } from '@weir/billing/feed-events';
import { newInvoice } from '@weir/billing/new-invoice';
import { scheduleOf } from '@weir/billing/schedules';
import { microsOfText } from '@weir/shared/instant';
import { settleDue } from '@weir/billing/due';
import { minorDigits } from '@weir/rating/currencies';
import { daysOf } from '@weir/rating/proration';
import type { Days } from '@weir/rating/rate';
import { sql } from 'kysely';
import type { Queries } from '../../database.ts';
import { releaseMeters } from './billed-meters.ts';
import { readDrafting } from '../drafting.ts';
import { findArrears, findLateWithoutDraft, insertInvoices } from './open-periods.ts';
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
    canceled_at: row.canceled_at ?? (await readNow(transaction)),
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
  const now = await readNow(transaction);
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
    await cutPeriod(transaction, after, after.cycle);
    if (await hasFinalLines(transaction, after)) {
      const drafting = await readDrafting(transaction, organizationId);
      const final = newInvoice(after, {
        cycle: after.cycle + 1,
        start: after.current_period_start,
        end: now,
        ...drafting,
      });
      const ids = await insertInvoices(transaction, organizationId, [final]);
      events.push({ type: 'invoice.created', actor, data: draftData(ids.get(final) ?? '', final, drafting) });
    }
  }
  await releaseMeters(transaction, organizationId, [row.id]);
  return events;
}

/** Usage counts up to the instant itself. Of days, that of the cancellation counts. */
async function cutPeriod(transaction: Queries, row: SubscriptionRow, cycle: number): Promise<void> {
  const { organization_id, id, current_period_start, current_period_end: period_end } = row;
  const [start, end] = [microsOfText(current_period_start), microsOfText(period_end)];
  const days: Days | null = daysOf(scheduleOf(row), cycle, { start, end, endDateCounts: true });
  const cut = { period_end, days_in_force: days?.inForce ?? null, days_in_period: days?.inPeriod ?? null };
  for (const table of ['subscription_periods', 'dues'] as const) {
    await transaction
      .updateTable(table)
      .set(cut)
      .where('organization_id', '=', organization_id)
      .where('subscription_id', '=', id)
      .where('cycle', '=', cycle)
      .execute();
  }
}

async function hasFinalLines(transaction: Queries, row: SubscriptionRow): Promise<boolean> {
  const { organization_id, id } = row;
  if ((await findArrears(transaction, organization_id, [row])).has(id)) return true;
  if (await hasDifference(transaction, row)) return true;
  return (await findLateWithoutDraft(transaction, organization_id, [id])).has(id);
}

/** Whether something was billed in advance that comes to another amount now. While its invoice is a draft, that shows it itself. */
async function hasDifference(transaction: Queries, row: SubscriptionRow): Promise<boolean> {
  const digits = minorDigits(row.currency);
  const dues = await transaction
    .selectFrom('dues')
    .select(['terms', 'billed', 'days_in_force', 'days_in_period'])
    .where('organization_id', '=', row.organization_id)
    .where('subscription_id', '=', row.id)
    .where('cycle', '=', row.cycle)
    .where('meter_id', 'is', null)
    .where('closing', 'is not', null)
    .execute();
  return dues.some((due) => settleDue(due, undefined, digits).amount !== 0n);
}

async function readNow(transaction: Queries): Promise<string> {
  const { rows } = await sql<{ now: string }>`SELECT billing_now() AS now`.execute(transaction);
  return rows[0]?.now ?? '';
}
