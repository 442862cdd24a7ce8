import { graceEnd, type Drafting } from './grace.ts';
import type { SubscriptionState } from './subscription.ts';

/** A draft that is to be made. Where nobody but a person finalizes it, `finalizes_at` says when it could have been. */
export interface NewInvoice {
  subscription_id: string;
  customer_id: string;
  currency: string;
  cycle: number;
  period_start: string;
  period_end: string;
  finalizes_at: string;
}

/** The draft of a boundary. */
export function newInvoice(
  { id, customer_id, currency }: SubscriptionState,
  {
    cycle,
    start,
    end,
    ...drafting
  }: { cycle: number; start: string; end: string } & Pick<Drafting, 'now' | 'graceHours'>,
): NewInvoice {
  return {
    subscription_id: id,
    customer_id,
    currency,
    cycle,
    period_start: start,
    period_end: end,
    finalizes_at: graceEnd(end, drafting),
  };
}
