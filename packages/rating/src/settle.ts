// Computes what a line bills: the difference between what its due comes to now and what was billed for it before. So the amounts of
// a due always add up to one rounding of one exact amount, whatever happened in between. What was never asked for does not
// come back: what is cut off a line for that is waived, and stands on it.

import { type Exact, formatExact } from './exact.ts';
import { type Amount, round } from './money.ts';

export interface Settled {
  /** What was rounded, as an invoice shows it. */
  exactAmount: string;
  /** What this line bills; below zero where more was billed before. */
  amount: Amount;
  /** What the line would have taken away more, had it been asked for; null where nothing was cut off. */
  waived: Amount | null;
  /** What the due comes to. */
  comesTo: Amount;
}

/**
 * Settles a due in a currency with `digits` minor digits. `billedBefore` is the sum of the amounts of its earlier lines.
 * `returnable` is what those of them add up to whose invoices are not void: a line takes away no more than that.
 */
export function settle(exact: Exact, billedBefore: Amount, digits: number, returnable = billedBefore): Settled {
  const comesTo = round(exact, digits);
  const amount = comesTo - billedBefore;
  const least = returnable > 0n ? -returnable : 0n;
  const waived = amount < 0n && amount < least ? least - amount : null;
  return { exactAmount: formatExact(exact), amount: amount + (waived ?? 0n), waived, comesTo };
}

/** Settles a due as a line did that waived as much. */
export function settleAgain(exact: Exact, billedBefore: Amount, digits: number, waived: Amount | null): Settled {
  const comesTo = round(exact, digits);
  return { exactAmount: formatExact(exact), amount: comesTo - billedBefore + (waived ?? 0n), waived, comesTo };
}
