// What charges come to, as the table of models says it, and what meters read. Written down as naively as possible.

import type { ChargeModel } from '@weir/rating/charge-terms';
import type { AggregationType } from '@weir/shared/meter';
import {
  ceilingOf,
  fraction,
  isAbove,
  larger,
  minus,
  NONE,
  over,
  plus,
  smaller,
  times,
  type Fraction,
} from './fractions.ts';

interface ModelTier {
  up_to: string | null;
  unit_price: string;
  flat_fee: string;
}

/** The body of a charge, as it is sent. */
export interface ModelCharge {
  type: 'FIXED' | 'USAGE';
  display_name: string;
  timing?: 'in_advance' | 'in_arrears';
  meter_id?: string;
  model?: ChargeModel;
  unit_price?: string;
  tiers?: ModelTier[];
  package_size?: string;
  rate?: string;
  fixed_amount?: string;
  included_units?: string;
  minimum_amount?: string;
  maximum_amount?: string;
}

/** An event of the one meter and customer that are looked at. */
export interface ModelUse {
  /** Milliseconds since 1970. */
  at: number;
  quantity: string;
  user: string;
}

/** What a meter reads of events, whose times all differ. */
export function readingOf(aggregation: AggregationType, uses: readonly ModelUse[]): Fraction {
  const quantities = uses.map(({ quantity }) => fraction(quantity));
  const [first] = quantities;
  if (first === undefined) return NONE;
  switch (aggregation) {
    case 'COUNT':
      return fraction(uses.length);
    case 'SUM':
      return quantities.reduce(plus, NONE);
    case 'AVG':
      return over(quantities.reduce(plus, NONE), fraction(uses.length));
    case 'MAX':
      return quantities.reduce(larger, first);
    case 'MIN':
      return quantities.reduce(smaller, first);
    case 'LAST':
      return fraction(uses.reduce((last, use) => (use.at > last.at ? use : last)).quantity);
    case 'UNIQUE_COUNT':
      return fraction(new Set(uses.map(({ user }) => user)).size);
  }
}

/** A part of a period, by dates. */
export interface ModelDays {
  inForce: number;
  inPeriod: number;
}

/** What a charge comes to for a period, before it is rounded. */
export function priceOf(charge: ModelCharge, quantity: Fraction, events: number, days: ModelDays | null): Fraction {
  const share = days === null ? fraction(1) : over(fraction(days.inForce), fraction(days.inPeriod));
  if (charge.type === 'FIXED') return times(fraction(charge.unit_price ?? '0'), share);
  let amount = usagePriceOf(charge, quantity, events);
  if (charge.minimum_amount !== undefined) amount = larger(amount, times(fraction(charge.minimum_amount), share));
  // A plan by the day is never prorated: of its one date the maximum is whole, whichever plan the date counts for.
  const ofMaximum = days?.inPeriod === 1 ? fraction(1) : share;
  if (charge.maximum_amount !== undefined) amount = smaller(amount, times(fraction(charge.maximum_amount), ofMaximum));
  return amount;
}

function usagePriceOf(charge: ModelCharge, quantity: Fraction, events: number): Fraction {
  const beyond = larger(NONE, minus(quantity, fraction(charge.included_units ?? '0')));
  const price = fraction(charge.unit_price ?? '0');
  const tiers = charge.tiers ?? [];
  switch (charge.model ?? 'per_unit') {
    case 'per_unit':
      return times(beyond, price);
    case 'package':
      return times(fraction(ceilingOf(over(beyond, fraction(charge.package_size ?? '1')))), price);
    case 'percentage':
      return plus(
        over(times(beyond, fraction(charge.rate ?? '0')), fraction(100)),
        times(fraction(events), fraction(charge.fixed_amount ?? '0')),
      );
    case 'volume': {
      if (!isAbove(quantity, NONE)) return NONE;
      const tier = tiers.find(({ up_to }) => up_to === null || !isAbove(quantity, fraction(up_to)));
      return plus(times(quantity, fraction(tier?.unit_price ?? '0')), fraction(tier?.flat_fee ?? '0'));
    }
    case 'graduated': {
      let amount = NONE;
      let from = NONE;
      for (const { up_to, unit_price, flat_fee } of tiers) {
        const to = up_to === null ? quantity : smaller(quantity, fraction(up_to));
        const part = minus(to, from);
        if (!isAbove(part, NONE)) break;
        amount = plus(amount, plus(times(part, fraction(unit_price)), fraction(flat_fee)));
        from = to;
      }
      return amount;
    }
  }
}
