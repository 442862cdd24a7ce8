// What a line bills: the difference between what its due comes to now and what was billed for it before. So the amounts of
// a due always add up to one rounding of one exact amount, whatever happened in between.

import { type Exact, formatExact } from './exact.ts';
import { type Amount, round } from './money.ts';

export interface Settled {
  /** What was rounded, as an invoice shows it. */
  exactAmount: string;
  /** What this line bills; below zero where more was billed before. */
  amount: Amount;
  /** What the due comes to: `billedBefore` of the next line. */
  comesTo: Amount;
}

/** Settles a due in a currency with `digits` minor digits. `billedBefore` is the sum of the amounts of its earlier lines. */
export function settle(exact: Exact, billedBefore: Amount, digits: number): Settled {
  const comesTo = round(exact, digits);
  return { exactAmount: formatExact(exact), amount: comesTo - billedBefore, comesTo };
}
