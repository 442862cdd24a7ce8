// Puts a subscription on another plan in the middle of a period. The instant is a boundary of its own: the period of the old plan ends
// there and is counted, that of the new one begins there, and one invoice is of it. Pure: change-plan.ts of packages/db cuts the dues
// of the old plan before, and writes what this returns.

import { isoOf } from '@weir/shared/instant';
import { subscriptionData } from './feed-events.ts';
import { newInvoice } from './new-invoice.ts';
import { nextCycleOf, nextRunOf, openPeriod, type BoundaryFacts, type Passage } from './pass-boundaries.ts';
import type { SubscriptionState } from './subscription.ts';

export interface ChangeFacts extends Omit<BoundaryFacts, 'hasArrears' | 'room'> {
  /** The plan that it goes over to, of the same interval. */
  planId: string;
  /** Whether something of the old plan is billed at its end, or was billed in advance and comes to less. */
  hasToSettle: boolean;
}

/** Changes the plan of a subscription that is in a period, at `now`. The end of the period, and those after it, stay where they were. */
export function changePlanNow<State extends SubscriptionState>(before: State, facts: ChangeFacts): Passage<State> {
  const at = isoOf(facts.now);
  const cycle = nextCycleOf(before);
  const after: State = { ...before, plan_id: facts.planId, pending_plan_id: null, current_period_end: at };
  // One boundary more is counted, so that the next one is where it was.
  after.anchor_cycle += 1;
  const opened = openPeriod(after, cycle, facts, { isPart: true });
  after.run_at = nextRunOf(after);
  const invoice = newInvoice(after, { cycle, start: before.current_period_start, end: at, ...facts });
  const hasLines = facts.hasToSettle || opened.charges.some(({ is_in_advance }) => is_in_advance);
  return {
    subscription: after,
    periods: [opened],
    invoices: hasLines ? [invoice] : [],
    withoutLines: hasLines ? [] : [invoice],
    events: [{ cycle, type: 'subscription.changed', data: subscriptionData(after) }],
  };
}
