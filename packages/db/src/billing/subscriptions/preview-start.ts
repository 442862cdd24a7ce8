// Counts what a subscription would begin with: periods that have begun by now, and the invoices that are made of them. The
// boundaries are passed by the code that opens periods, and nothing is written.

import { Room } from '@weir/billing/chunk-weight';
import { inOneGo, type Drive } from '@weir/billing/drive';
import { graceEnd } from '@weir/billing/grace';
import { passingBoundaries } from '@weir/billing/pass-boundaries';
import { PeriodCache } from '@weir/billing/schedules';
import type { SubscriptionStatus } from '@weir/billing/kinds';
import type { Queries } from '../../database.ts';
import { isoOf, microsOfText } from '@weir/shared/instant';
import { readDrafting } from '../drafting.ts';
import { readPlans } from './open-periods.ts';
import { readSubscribedAt, type NewSubscription, type SubscriptionRow } from './subscriptions.ts';

export interface StartPreview {
  status: SubscriptionStatus;
  /** In which its periods are counted. */
  time_zone: string;
  /** Periods that have begun, the open one among them. */
  periods: number;
  /** What is made of them, each as a draft at first. */
  invoices: number;
  /** The first of these periods, and the end of the last; null where no invoice is made. */
  first_period_start: string | null;
  first_period_end: string | null;
  last_period_end: string | null;
  /** When they are finalized, if it is made now; null where no invoice is made, and where only people finalize. */
  finalizes_at: string | null;
  current_period_start: string;
  current_period_end: string;
}

/** Expects a start that may be. */
export async function previewStart(
  db: Queries,
  organizationId: string,
  subscription: Omit<NewSubscription, 'id' | 'external_id'>,
  drive: Drive = inOneGo,
): Promise<StartPreview> {
  const drafting = await readDrafting(db, organizationId);
  const now = isoOf(drafting.now);
  const { plan_id, start_at, trial_end_at } = subscription;
  const begins_at = trial_end_at ?? start_at;
  const row: SubscriptionRow = {
    ...subscription,
    ...NOTHING_YET,
    organization_id: organizationId,
    status: trial_end_at === null ? 'ACTIVE' : 'TRIAL',
    is_scheduled: microsOfText(start_at) > drafting.now,
    anchor_at: begins_at,
    current_period_start: start_at,
    current_period_end: begins_at,
    created_at: await readSubscribedAt(db, organizationId, plan_id),
  };
  const plans = await readPlans(db, organizationId, [row]);
  const facts = { ...drafting, plans, hasArrears: false, periods: new PeriodCache(), room: new Room() };
  const { subscription: after, periods, invoices } = await drive(passingBoundaries(row, facts));
  const [first, last] = [invoices[0], invoices.at(-1)];
  return {
    status: after.is_scheduled ? 'SCHEDULED' : after.status,
    time_zone: after.time_zone,
    periods: periods.length,
    invoices: invoices.length,
    first_period_start: first?.period_start ?? null,
    first_period_end: first?.period_end ?? null,
    last_period_end: last?.period_end ?? null,
    finalizes_at: last === undefined || drafting.isManual ? null : graceEnd(now, drafting),
    current_period_start: after.current_period_start,
    current_period_end: after.current_period_end,
  };
}

const NOTHING_YET = {
  id: '',
  external_id: null,
  pending_plan_id: null,
  anchor_cycle: 0,
  cycle: null,
  cancel_at_period_end: false,
  cancel_reason: null,
  canceled_at: null,
  ended_at: null,
  run_at: null,
  run_error: null,
  closing: '0',
} as const;
