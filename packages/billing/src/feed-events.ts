// Events of the feed.

import type { Drafting } from './grace.ts';
import type { NewInvoice } from './new-invoice.ts';
import type { SubscriptionState } from './subscription.ts';

/** All that can happen; docs/billing.md has each. */
export const FEED_TYPES = [
  'invoice.created',
  'invoice.finalized',
  'invoice.credited',
  'invoice.payment_recorded',
  'invoice.paid',
  'invoice.payment_taken_back',
  'invoice.voided',
  'invoice.uncollectible',
  'invoice.past_due',
  'subscription.created',
  'subscription.activated',
  'subscription.changed',
  'subscription.past_due',
  'subscription.canceled',
  'credit.granted',
  'credit.voided',
  'usage.unpriced',
  'usage.threshold_reached',
  'webhook_endpoint.disabled',
] as const;

export type FeedType = (typeof FEED_TYPES)[number];

/** One thing that happened, before it has its number. */
export interface NewFeedEvent {
  type: FeedType;
  /** `user:` or `service_account:` and an id, or `weir`. */
  actor: string;
  data: Record<string, unknown>;
}

/** One thing that happened. */
export interface FeedEvent extends NewFeedEvent {
  /** Counts from 1 in each organization. */
  sequence: number;
  created_at: string;
}

/** Returns the data of an event about a subscription. */
export function subscriptionData(row: SubscriptionState): Record<string, unknown> {
  return {
    id: row.id,
    external_id: row.external_id,
    customer_id: row.customer_id,
    plan_id: row.plan_id,
    pending_plan_id: row.pending_plan_id,
    status: row.is_scheduled ? 'SCHEDULED' : row.status,
    cycle: row.cycle,
    current_period_start: row.current_period_start,
    current_period_end: row.current_period_end,
    cancel_at_period_end: row.cancel_at_period_end,
    canceled_at: row.canceled_at,
    ended_at: row.ended_at,
  };
}

/** Returns the data of an event about a draft. */
export function draftData(
  id: string,
  invoice: NewInvoice,
  { isManual }: Pick<Drafting, 'isManual'>,
): Record<string, unknown> {
  return { id, kind: 'SUBSCRIPTION', status: 'DRAFT', ...invoice, ...(isManual && { finalizes_at: null }) };
}
