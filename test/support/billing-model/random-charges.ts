// Charges of all models by chance, as they are sent.

import { CHARGE_MODELS } from '@weir/rating/charge-terms';
import type { Random } from '../../../chaos/random.ts';
import { amountText } from './fractions.ts';
import type { ModelCharge } from './prices.ts';

function price(random: Random, digits: number): string {
  return amountText(BigInt(random.int(1, 9_999)), digits + random.pick([0, 1, 3]));
}

export function fixedCharge(random: Random, digits: number): ModelCharge {
  const timing = random.pick(['in_advance', 'in_advance', 'in_arrears'] as const);
  return { type: 'FIXED', display_name: 'Fixed', timing, unit_price: price(random, digits) };
}

export function usageCharge(random: Random, meter_id: string, digits: number): ModelCharge {
  const shared = { type: 'USAGE', display_name: 'Usage', meter_id } as const;
  const own = () => price(random, digits);
  const bounds = random.pick([{}, {}, { minimum_amount: own() }, { maximum_amount: '40' }]);
  const included = random.pick([{}, { included_units: '2.5' }]);
  const tiers = [
    { up_to: '3.5', unit_price: own(), flat_fee: own() },
    { up_to: '20', unit_price: own(), flat_fee: '0' },
    // So much cheaper that a volume that grows may cost less.
    { up_to: null, unit_price: price(random, digits + 2), flat_fee: '0' },
  ];
  switch (random.pick(CHARGE_MODELS)) {
    case 'per_unit':
      return { ...shared, model: 'per_unit', unit_price: own(), ...included, ...bounds };
    case 'graduated':
      return { ...shared, model: 'graduated', tiers, ...bounds };
    case 'volume':
      return { ...shared, model: 'volume', tiers, ...bounds };
    case 'package':
      return { ...shared, model: 'package', unit_price: own(), package_size: '3', ...included, ...bounds };
    case 'percentage':
      return { ...shared, model: 'percentage', rate: '3.75', fixed_amount: own(), ...included, ...bounds };
  }
}
