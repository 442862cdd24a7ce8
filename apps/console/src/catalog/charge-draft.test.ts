import { expect, test } from 'vitest';
import { chargeBodyOf, isPriced, newChargeDraft, termsOf } from './charge-draft.ts';

const tiers = [
  { up_to: '1,000', unit_price: '0.10', flat_fee: '' },
  { up_to: 'left over', unit_price: '0.08', flat_fee: '5' },
];

test('only the fields of the model are sent, so that what was typed for another one is no error', () => {
  const draft = { ...newChargeDraft('USAGE'), unit_price: '0.002', rate: '2.9', package_size: '500', tiers };
  const none = { included_units: null, minimum_amount: null, maximum_amount: null };
  expect(termsOf(draft)).toEqual({ type: 'USAGE', model: 'per_unit', unit_price: '0.002', ...none });
  const percentage = { type: 'USAGE', model: 'percentage', rate: '2.9', fixed_amount: null, ...none };
  expect(termsOf({ ...draft, model: 'percentage' })).toEqual(percentage);
  const packages = { type: 'USAGE', model: 'package', unit_price: '0.002', package_size: '500', ...none };
  expect(termsOf({ ...draft, model: 'package' })).toEqual(packages);
});

test('the last tier has no end, and a flat fee that was left empty is 0', () => {
  expect(termsOf({ ...newChargeDraft('USAGE'), model: 'graduated', tiers })).toEqual({
    type: 'USAGE',
    model: 'graduated',
    tiers: [
      { up_to: '1000', unit_price: '0.10', flat_fee: '0' },
      { up_to: null, unit_price: '0.08', flat_fee: '5' },
    ],
    minimum_amount: null,
    maximum_amount: null,
  });
});

test('a fixed charge has no meter, whatever was chosen before', () => {
  const draft = { ...newChargeDraft('FIXED'), display_name: ' Base fee ', unit_price: '49', meter_id: 'm' };
  expect(chargeBodyOf(draft)).toEqual({
    type: 'FIXED',
    display_name: 'Base fee',
    timing: 'in_advance',
    unit_price: '49',
  });
});

test('what a charge comes to is asked once there is enough of a price', () => {
  const draft = newChargeDraft('USAGE');
  expect(isPriced(draft)).toBe(false);
  expect(isPriced({ ...draft, unit_price: '1' })).toBe(true);
  expect(isPriced({ ...draft, model: 'package', unit_price: '1' })).toBe(false);
  expect(isPriced({ ...draft, model: 'volume', tiers })).toBe(true);
  expect(isPriced({ ...draft, model: 'volume', tiers: [{ up_to: '', unit_price: '1', flat_fee: '' }, ...tiers] })).toBe(
    false,
  );
});
