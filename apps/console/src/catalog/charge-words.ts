// A charge in words, as one would say it on a price list.

import { formatAmount, formatDecimal } from '../text/decimals.ts';
import type { ChargeTerms } from './charge-models.ts';

export type Tier = Extract<ChargeTerms, { tiers: unknown }>['tiers'][number];

/** The price of a charge in one line: `0.002 USD each, 1,000 included, at least 10 USD`. */
export function describeCharge(charge: ChargeTerms, currency: string, interval?: string): string {
  return [priceOf(charge, currency, interval), ...conditionsOf(charge, currency)].join(', ');
}

/** More tiers than these are no sentence that anybody reads. */
const TIERS_TOLD = 3;

/** As {@link describeCharge}, where there is one line and no room for a table: of many tiers it says how many. */
export function describeBriefly(charge: ChargeTerms, currency: string, interval?: string): string {
  const { length } = tiersOf(charge);
  if (length <= TIERS_TOLD) return describeCharge(charge, currency, interval);
  return [`${waySaid(charge)}, in ${length} tiers`, ...conditionsOf(charge, currency)].join(', ');
}

/** What is said of a price beside the table of its tiers: `By tier, at least 10 USD`. */
export function describeWithoutTiers(charge: ChargeTerms, currency: string): string {
  return [waySaid(charge), ...conditionsOf(charge, currency)].join(', ');
}

export function tiersOf(charge: ChargeTerms): readonly Tier[] {
  return 'tiers' in charge ? charge.tiers : [];
}

/** The part of a quantity that a tier is of; quantities may have a fraction, and the end of a tier belongs to it. */
export function tierWords(from: string | null, to: string | null): string {
  if (to === null) return from === null ? 'all' : `over ${formatDecimal(from)}`;
  return `${from === null ? '0' : `over ${formatDecimal(from)}`} to ${formatDecimal(to)}`;
}

export function hasAmount(fee: string): boolean {
  return /[1-9]/.test(fee);
}

function waySaid(charge: ChargeTerms): string {
  return 'model' in charge && charge.model === 'volume' ? 'All units by volume' : 'By tier';
}

function priceOf(charge: ChargeTerms, currency: string, interval = 'period'): string {
  const money = (value: string) => formatAmount(value, currency);
  if (charge.type === 'FIXED') {
    const when = charge.timing === 'in_arrears' ? 'at its end' : 'in advance';
    return `${money(charge.unit_price)} each ${interval}, ${when}`;
  }
  switch (charge.model) {
    case 'graduated':
    case 'volume': {
      const tiers = charge.tiers.map(({ up_to, unit_price, flat_fee }) => {
        const fee = hasAmount(flat_fee) ? ` and ${money(flat_fee)}` : '';
        return `${up_to === null ? 'beyond' : `to ${formatDecimal(up_to)}`} ${money(unit_price)} each${fee}`;
      });
      return `${waySaid(charge)}: ${tiers.join('; ')}`;
    }
    case 'package':
      return `${money(charge.unit_price)} per started ${formatDecimal(charge.package_size)}`;
    case 'percentage': {
      const fee = charge.fixed_amount === null ? '' : ` and ${money(charge.fixed_amount)} for each event`;
      return `${formatDecimal(charge.rate)} %${fee}`;
    }
    case 'per_unit':
      return `${money(charge.unit_price)} each`;
  }
}

function conditionsOf(charge: ChargeTerms, currency: string): string[] {
  if (charge.type === 'FIXED') return [];
  const included = 'included_units' in charge ? charge.included_units : null;
  const { minimum_amount: least, maximum_amount: most } = charge;
  return [
    ...(included === null ? [] : [`${formatDecimal(included)} included`]),
    ...(least === null ? [] : [`at least ${formatAmount(least, currency)}`]),
    ...(most === null ? [] : [`at most ${formatAmount(most, currency)}`]),
  ];
}
