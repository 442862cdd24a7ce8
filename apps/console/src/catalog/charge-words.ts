// A charge in words, as one would say it on a price list.

import { formatAmount, formatDecimal } from '../parts/decimals.ts';

interface Terms {
  type: 'FIXED' | 'USAGE';
  model?: keyof typeof MODEL_NAMES | undefined;
  timing?: string | undefined;
  unit_price?: string | undefined;
  tiers?: readonly { up_to: string | null; unit_price: string; flat_fee: string }[] | undefined;
  package_size?: string | undefined;
  rate?: string | undefined;
  fixed_amount?: string | null | undefined;
  included_units?: string | null | undefined;
  minimum_amount?: string | null | undefined;
  maximum_amount?: string | null | undefined;
}

/** What the models are called. */
export const MODEL_NAMES = {
  per_unit: 'Per unit',
  graduated: 'Graduated tiers',
  volume: 'Volume tiers',
  package: 'Packages',
  percentage: 'Percentage',
} as const;

/** The price of a charge in one line: `0.002 USD each, 1,000 included, at least 10 USD`. */
export function describeCharge(charge: Terms, currency: string, interval?: string): string {
  return [priceOf(charge, currency, interval), ...conditionsOf(charge, currency)].join(', ');
}

function priceOf(charge: Terms, currency: string, interval = 'period'): string {
  const money = (value: string | null | undefined) => formatAmount(value ?? '0', currency);
  if (charge.type === 'FIXED') {
    const when = charge.timing === 'in_arrears' ? 'at its end' : 'in advance';
    return `${money(charge.unit_price)} each ${interval}, ${when}`;
  }
  switch (charge.model) {
    case 'graduated':
    case 'volume': {
      const tiers = (charge.tiers ?? []).map(({ up_to, unit_price, flat_fee }) => {
        const fee = /[1-9]/.test(flat_fee) ? ` and ${money(flat_fee)}` : '';
        return `${up_to === null ? 'beyond' : `to ${formatDecimal(up_to)}`} ${money(unit_price)} each${fee}`;
      });
      return `${charge.model === 'volume' ? 'All units by volume' : 'By tier'}: ${tiers.join('; ')}`;
    }
    case 'package':
      return `${money(charge.unit_price)} for each ${formatDecimal(charge.package_size)} begun`;
    case 'percentage': {
      const fee = charge.fixed_amount == null ? '' : ` and ${money(charge.fixed_amount)} for each event`;
      return `${formatDecimal(charge.rate)} %${fee}`;
    }
    case 'per_unit':
    case undefined:
      return `${money(charge.unit_price)} each`;
  }
}

function conditionsOf(charge: Terms, currency: string): string[] {
  const { included_units: included, minimum_amount: least, maximum_amount: most } = charge;
  return [
    ...(included == null ? [] : [`${formatDecimal(included)} included`]),
    ...(least == null ? [] : [`at least ${formatAmount(least, currency)}`]),
    ...(most == null ? [] : [`at most ${formatAmount(most, currency)}`]),
  ];
}
