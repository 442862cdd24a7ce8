// Charges of every type and model, for the tests that take them and those that spoil them.

import { CHARGE_MODELS, type ChargeModel } from '@weir/rating/charge-terms';

export type ChargeKind = 'FIXED' | ChargeModel;

/** One good charge of each kind, with nothing that may be left out, and what comes of it. */
export const kinds: Record<ChargeKind, { sent: object; shown: object }> = {
  FIXED: {
    sent: { type: 'FIXED', unit_price: '10' },
    shown: { type: 'FIXED', meter_id: null, timing: 'in_advance', unit_price: '10' },
  },
  per_unit: {
    sent: { type: 'USAGE', model: 'per_unit', unit_price: '0.5' },
    shown: { unit_price: '0.5', included_units: null },
  },
  graduated: {
    sent: { type: 'USAGE', model: 'graduated', tiers: [{ up_to: null, unit_price: '1' }] },
    shown: { tiers: [{ up_to: null, unit_price: '1', flat_fee: '0' }] },
  },
  volume: {
    sent: { type: 'USAGE', model: 'volume', tiers: [{ up_to: null, unit_price: '1', flat_fee: '5' }] },
    shown: { tiers: [{ up_to: null, unit_price: '1', flat_fee: '5' }] },
  },
  package: {
    sent: { type: 'USAGE', model: 'package', unit_price: '3', package_size: '1000' },
    shown: { unit_price: '3', package_size: '1000', included_units: null },
  },
  percentage: {
    sent: { type: 'USAGE', model: 'percentage', rate: '2.9' },
    shown: { rate: '2.9', fixed_amount: null, included_units: null },
  },
};

export const kindNames: readonly ChargeKind[] = ['FIXED', ...CHARGE_MODELS];

/** A good charge of a kind, with what differs; one of usage is for the meter. */
export const chargeOfKind = (kind: ChargeKind, meterId: string, difference: object = {}) => ({
  display_name: 'Charge',
  ...(kind !== 'FIXED' && { meter_id: meterId }),
  ...kinds[kind].sent,
  ...difference,
});
