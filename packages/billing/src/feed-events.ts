// Events of the feed.

import type { InvoiceKind } from './kinds.ts';
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

/** A draft as it is made. */
interface NewDraft {
  id: string;
  kind: InvoiceKind;
  subscription_id: string;
  customer_id: string;
  cycle: number | null;
  currency: string;
  period_start: string;
  period_end: string;
  finalizes_at: string | null;
}

/** Returns the data of an event about a draft. `isManual`: nobody but a person finalizes it. */
export function draftData(draft: NewDraft, { isManual }: { isManual: boolean }): Record<string, unknown> {
  return {
    id: draft.id,
    kind: draft.kind,
    status: 'DRAFT',
    subscription_id: draft.subscription_id,
    customer_id: draft.customer_id,
    cycle: draft.cycle,
    currency: draft.currency,
    period_start: draft.period_start,
    period_end: draft.period_end,
    finalizes_at: isManual ? null : draft.finalizes_at,
  };
}
