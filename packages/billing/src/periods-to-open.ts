import { microsOfText } from '@weir/shared/instant';
import { cycleAt } from '@weir/rating/periods';
import { scheduleOf, type Anchored } from './schedules.ts';
import type { SubscriptionStatus } from './kinds.ts';

/** The fields of a subscription that say how far it is behind. */
export interface Opening extends Anchored {
  status: SubscriptionStatus;
  cycle: number | null;
  current_period_end: string;
  cancel_at_period_end: boolean;
  /** Of billing (ISO 8601). */
  now: string;
}

/** How many periods have begun that are not opened yet, as its plan is now. */
export function countPeriodsToOpen(row: Opening): number {
  const now = microsOfText(row.now);
  if (row.status === 'CANCELED' || row.cancel_at_period_end || microsOfText(row.current_period_end) > now) return 0;
  return cycleAt(scheduleOf(row), now) - (row.cycle ?? row.anchor_cycle - 1);
}
