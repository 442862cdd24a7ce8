// A due: what a charge comes to for a period of a subscription, and what of that was billed.

import type { ChargeTerms } from '@weir/rating/charge-terms';
import { minorDigits } from '@weir/rating/currencies';
import type { Amount } from '@weir/rating/money';
import { rate, type Days, type RatedDetail, type UsageOfDue } from '@weir/rating/rate';
import { settle, type Settled } from '@weir/rating/settle';
import type { AggregationType } from '@weir/shared/meter';
import { amountOf } from './amounts.ts';

/** A period of a subscription. */
export interface SubscriptionCycle {
  subscription_id: string;
  cycle: number;
}

/** A period of which dues are asked for. */
export interface AskedPeriod extends SubscriptionCycle {
  /** Only those of fixed charges that are billed in advance. */
  inAdvanceOnly: boolean;
}

/** By what a due is known within its organization. */
export interface DueName extends SubscriptionCycle {
  charge_id: string;
}

/** A due that is to be settled once more, before what it says is read: an invoice may have tens of thousands of them. */
export interface LateDue extends DueName {
  /** That of its charge. */
  type: ChargeTerms['type'];
  /** Whether it is to be billed again, since an invoice of it was voided. */
  rebilling: boolean;
}

/** A due before it is settled. Instants are ISO 8601 in UTC. */
export interface Due extends DueName {
  display_name: string;
  terms: ChargeTerms;
  meter_id: string | null;
  /** How its meter counts; null where it has none. */
  aggregation: AggregationType | null;
  customer_external_id: string;
  period_start: string;
  period_end: string;
  days_in_force: number | null;
  days_in_period: number | null;
  /** At which it was billed first; null: no invoice has it yet. */
  closing: string | null;
  /** The sum of its lines. */
  billed: string;
  /** How many void invoices of it there were that do not count. */
  rebills: number;
  /** Whether it is to be billed again, since an invoice of it was voided. */
  rebilling: boolean;
}

/** Names a due within its organization. */
export function dueKey({ subscription_id, cycle, charge_id }: DueName): string {
  return `${subscription_id} ${cycle} ${charge_id}`;
}

/** The usage that a due is billed for. */
export interface DueUsage {
  /** What the meter reads, as a plain decimal; `0` where it reads nothing. An average is rounded, to be shown. */
  quantity: string;
  /** An average as it is priced: a decimal, or `n/d`. */
  exact?: string;
  eventCount: number;
}

/** As packages/rating takes it; of a due without a meter, that of nothing. */
export function usageToRate(usage: DueUsage | undefined): UsageOfDue {
  return { quantity: usage?.quantity ?? '0', exact: usage?.exact, eventCount: BigInt(usage?.eventCount ?? 0) };
}

/** A line that settles a due. */
export interface SettledAmounts extends Settled {
  detail: RatedDetail | null;
  billedBefore: Amount;
}

/** Returns what a due comes to now, less what was billed for it. Without `returnable` all of that may come back. */
export function settleDue(
  due: Pick<Due, 'terms' | 'billed' | 'days_in_force' | 'days_in_period'>,
  usage: DueUsage | undefined,
  currency: string,
  returnable?: Amount,
): SettledAmounts {
  const { exact, detail } = rate(due.terms, usageToRate(usage), daysOf(due));
  const billedBefore = amountOf(due.billed, currency);
  return { detail, billedBefore, ...settle(exact, billedBefore, minorDigits(currency), returnable) };
}

function daysOf({
  days_in_force: inForce,
  days_in_period: inPeriod,
}: Pick<Due, 'days_in_force' | 'days_in_period'>): Days | null {
  return inForce === null || inPeriod === null ? null : { inForce, inPeriod };
}
