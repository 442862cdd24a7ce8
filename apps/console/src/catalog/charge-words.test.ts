import { expect, test } from 'vitest';
import type { ChargeTerms } from './charge-models.ts';
import { describeBriefly, describeCharge, describeWithoutTiers, tierWords } from './charge-words.ts';

const named = { display_name: 'Calls', meter_id: null };
const usage = { ...named, type: 'USAGE', minimum_amount: null, maximum_amount: null } as const;

test.each<[ChargeTerms, string]>([
  [{ ...named, type: 'FIXED', timing: 'in_advance', unit_price: '49' }, '49.00 USD each month, in advance'],
  [{ ...usage, model: 'per_unit', unit_price: '0.002', included_units: '1000' }, '0.002 USD each, 1,000 included'],
  [
    {
      ...usage,
      model: 'graduated',
      tiers: [
        { up_to: '1000', unit_price: '0.1', flat_fee: '0' },
        { up_to: null, unit_price: '0.08', flat_fee: '5' },
      ],
    },
    'By tier: to 1,000 0.10 USD each; beyond 0.08 USD each and 5.00 USD',
  ],
  [
    { ...usage, model: 'package', unit_price: '5', package_size: '500', included_units: null },
    '5.00 USD per started 500',
  ],
  [
    { ...usage, model: 'percentage', rate: '2.9', fixed_amount: '0.3', included_units: null, minimum_amount: '10' },
    '2.9 % and 0.30 USD for each event, at least 10.00 USD',
  ],
])('%j is said as on a price list', (charge, words) => {
  expect(describeCharge(charge, 'USD', 'month')).toBe(words);
});

test('in one line few tiers are said, and of many their number', () => {
  const said = (length: number) => {
    const tiers = Array.from({ length }, (_, index) => ({
      up_to: index === length - 1 ? null : String(index + 1),
      unit_price: '1',
      flat_fee: '0',
    }));
    return describeBriefly({ ...usage, model: 'graduated', tiers, minimum_amount: '10' }, 'USD');
  };
  expect([said(2), said(4)]).toEqual([
    'By tier: to 1 1.00 USD each; beyond 1.00 USD each, at least 10.00 USD',
    'By tier, in 4 tiers, at least 10.00 USD',
  ]);
});

test('beside a table of tiers it is said how they are taken, and within which amounts', () => {
  const tiers = [{ up_to: null, unit_price: '1', flat_fee: '0' }];
  const said = (model: 'graduated' | 'volume', minimum_amount: string | null) =>
    describeWithoutTiers({ ...usage, model, tiers, minimum_amount }, 'USD');
  expect([said('graduated', '10'), said('volume', null)]).toEqual([
    'By tier, at least 10.00 USD',
    'All units by volume',
  ]);
});

test('a tier begins beyond the end of the one before it, and its own end belongs to it', () => {
  expect([
    tierWords(null, '1000'),
    tierWords('1000', '2500.5'),
    tierWords('2500.5', null),
    tierWords(null, null),
  ]).toEqual(['0 to 1,000', 'over 1,000 to 2,500.5', 'over 2,500.5', 'all']);
});
