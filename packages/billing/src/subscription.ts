import type { Interval } from '@weir/rating/periods';
import type { BillingAlignment, SubscriptionStatus } from './kinds.ts';

/** A subscription at one moment. Instants are ISO 8601 in UTC, the anchor is a local date. */
export interface SubscriptionState {
  id: string;
  external_id: string | null;
  customer_id: string;
  currency: string;
  plan_id: string;
  pending_plan_id: string | null;
  /** Once it has started; before, `is_scheduled` says so. */
  status: Exclude<SubscriptionStatus, 'SCHEDULED'>;
  start_at: string;
  /** Whether its start is to come, or has come and was not told of. */
  is_scheduled: boolean;
  time_zone: string;
  billing_interval: Interval;
  billing_alignment: BillingAlignment;
  anchor: string;
  anchor_at: string;
  anchor_cycle: number;
  /** Of the open period; null before the first one. */
  cycle: number | null;
  current_period_start: string;
  current_period_end: string;
  cancel_at_period_end: boolean;
  canceled_at: string | null;
  ended_at: string | null;
  run_at: string | null;
  created_at: string;
}
