import { describe, expect, test } from 'vitest';
import type { ChargeTerms, Tier } from './charge-terms.ts';
import { formatExact } from './exact.ts';
import { type Days, rate, RATING_VERSION } from './rate.ts';

const NO_BOUNDS = { minimum_amount: null, maximum_amount: null };

function perUnit(
  unit_price: string,
  rest: { included_units?: string; minimum_amount?: string; maximum_amount?: string } = {},
) {
  return { type: 'USAGE', model: 'per_unit', unit_price, included_units: null, ...NO_BOUNDS, ...rest } as const;
}

function packages(unit_price: string, package_size: string, included_units: string | null = null) {
  return { type: 'USAGE', model: 'package', unit_price, package_size, included_units, ...NO_BOUNDS } as const;
}

function percentage(percent: string, fixed_amount: string | null = null, included_units: string | null = null) {
  return { type: 'USAGE', model: 'percentage', rate: percent, fixed_amount, included_units, ...NO_BOUNDS } as const;
}

function tiered(model: 'graduated' | 'volume', ...tiers: [string | null, string, string][]): ChargeTerms {
  const rows = tiers.map(([up_to, unit_price, flat_fee]): Tier => ({ up_to, unit_price, flat_fee }));
  return { type: 'USAGE', model, tiers: rows, ...NO_BOUNDS };
}

function fixed(unit_price: string): ChargeTerms {
  return { type: 'FIXED', timing: 'in_advance', unit_price };
}

function comesTo(terms: ChargeTerms, quantity = '0', eventCount = 0n, days: Days | null = null): string {
  return formatExact(rate(terms, { quantity, eventCount }, days).exact);
}

function detailOf(terms: ChargeTerms, quantity: string) {
  return rate(terms, { quantity, eventCount: 0n }, null).detail;
}

describe('section 3, per_unit: max(0, q − included) × unit_price', () => {
  test.each([
    // 82450 × 0.001 = 82.45
    [perUnit('0.001'), '82450', '82.45'],
    // 0.1 × 0.2 = 0.02, which floats make 0.020000000000000004
    [perUnit('0.2'), '0.1', '0.02'],
    // (1500.5 − 1000) × 0.02 = 500.5 × 0.02 = 10.01
    [perUnit('0.02', { included_units: '1000' }), '1500.5', '10.01'],
    [perUnit('0.02', { included_units: '1000' }), '1000', '0'],
    [perUnit('0.02', { included_units: '1000' }), '3', '0'],
    [perUnit('0'), '5', '0'],
    // 40 digits × 18 digits after the point: 10^39 × 10^-18 = 10^21
    [perUnit('0.000000000000000001'), `1${'0'.repeat(39)}`, `1${'0'.repeat(21)}`],
    // An average of ten thirds, as the meter reads it: 3.333333333333 × 3 = 9.999999999999
    [perUnit('3'), '3.333333333333', '9.999999999999'],
  ])('%j of %s is %s', (terms, quantity, exact) => {
    expect(comesTo(terms, quantity, 7n)).toBe(exact);
    expect(detailOf(terms, quantity)).toBeNull();
  });
});

describe('section 3, graduated: each tier prices its part, up_to belongs to its tier', () => {
  const terms = tiered('graduated', ['100', '0.10', '0'], ['1000', '0.05', '5'], [null, '0.01', '2.5']);
  test.each([
    ['0', '0', []],
    // 100 × 0.10 = 10: nothing is in the second tier, so its flat fee is not due
    ['100', '10', [['100', '100', '10']]],
    // 10 + 1 × 0.05 + 5 = 15.05
    [
      '101',
      '15.05',
      [
        ['100', '100', '10'],
        ['1000', '1', '5.05'],
      ],
    ],
    // 10 + 0.5 × 0.05 + 5 = 15.025: a part of a unit is in the tier
    [
      '100.5',
      '15.025',
      [
        ['100', '100', '10'],
        ['1000', '0.5', '5.025'],
      ],
    ],
    // 10 + 900 × 0.05 + 5 = 60
    [
      '1000',
      '60',
      [
        ['100', '100', '10'],
        ['1000', '900', '50'],
      ],
    ],
    // 60 + 1000 × 0.01 + 2.5 = 72.5
    [
      '2000',
      '72.5',
      [
        ['100', '100', '10'],
        ['1000', '900', '50'],
        [null, '1000', '12.5'],
      ],
    ],
  ])('a quantity of %s is %s', (quantity, exact, parts) => {
    expect(comesTo(terms, quantity)).toBe(exact);
    expect(detailOf(terms, quantity)).toEqual(
      parts.map(([up_to, part, exact_amount]) => ({ up_to, quantity: part, exact_amount })),
    );
  });

  test('tiers may end between whole units', () => {
    // 0.5 × 1 + 0.25 × 2 = 1
    expect(comesTo(tiered('graduated', ['0.5', '1', '0'], [null, '2', '0']), '0.75')).toBe('1');
  });
});

describe('section 3, volume: the tier that q is in prices all of it', () => {
  const terms = tiered('volume', ['100', '0.10', '1'], ['1000', '0.05', '5'], [null, '0.01', '0']);
  test.each([
    ['0', '0', []],
    // 0.5 × 0.10 + 1
    ['0.5', '1.05', [['100', '0.5', '1.05']]],
    // 100 × 0.10 + 1 = 11: up_to belongs to its tier
    ['100', '11', [['100', '100', '11']]],
    // 101 × 0.05 + 5 = 10.05
    ['101', '10.05', [['1000', '101', '10.05']]],
    ['1000', '55', [['1000', '1000', '55']]],
    // 1000.1 × 0.01 = 10.001
    ['1000.1', '10.001', [[null, '1000.1', '10.001']]],
  ])('a quantity of %s is %s', (quantity, exact, parts) => {
    expect(comesTo(terms, quantity)).toBe(exact);
    expect(detailOf(terms, quantity)).toEqual(
      parts.map(([up_to, part, exact_amount]) => ({ up_to, quantity: part, exact_amount })),
    );
  });
});

describe('section 3, package: every package that was begun, by exact division', () => {
  test.each([
    [packages('5', '1000'), '0', '0', '0'],
    [packages('5', '1000'), '1', '5', '1'],
    [packages('5', '1000'), '1000', '5', '1'],
    [packages('5', '1000'), '1000.000000000000000001', '10', '2'],
    // ⌈(2500 − 500) ÷ 1000⌉ = 2
    [packages('5', '1000', '500'), '2500', '10', '2'],
    [packages('5', '1000', '500'), '2501', '15', '3'],
    [packages('5', '1000', '500'), '20', '0', '0'],
    // 0.3 ÷ 0.1 = 3, which floats make 2.9999999999999996
    [packages('1', '0.1'), '0.3', '3', '3'],
    // ⌈40 nines ÷ 3⌉ = 40 threes
    [packages('1', '3'), '9'.repeat(40), '3'.repeat(40), '3'.repeat(40)],
  ])('%j of %s is %s', (terms, quantity, exact, count) => {
    expect(comesTo(terms, quantity)).toBe(exact);
    expect(detailOf(terms, quantity)).toEqual({ packages: count });
  });
});

describe('section 3, percentage: a part of the quantity, and an amount for each event', () => {
  test.each([
    // 1000 × 2.9 ÷ 100 + 10 × 0.30 = 29 + 3 = 32
    [percentage('2.9', '0.30'), '1000', 10n, '32'],
    // (1000 − 200) × 2.9 ÷ 100 = 23.2
    [percentage('2.9', null, '200'), '1000', 10n, '23.2'],
    // Included units are taken off the quantity and not off the events: 0 + 4 × 0.25 = 1
    [percentage('2.9', '0.25', '200'), '50', 4n, '1'],
    [percentage('150'), '10', 1n, '15'],
    [percentage('2.9', '0.30'), '0', 0n, '0'],
  ])('%j of %s is right', (terms, quantity, events, exact) => {
    expect(comesTo(terms, quantity, events)).toBe(exact);
    expect(detailOf(terms, quantity)).toBeNull();
  });
});

describe('section 3: minimum and maximum bound the exact amount, before rounding', () => {
  test.each([
    [perUnit('0.001', { minimum_amount: '10' }), '500', '10'],
    [perUnit('0.001', { minimum_amount: '10' }), '10001', '10.001'],
    [perUnit('0.001', { maximum_amount: '10' }), '10001', '10'],
    [perUnit('0.001', { maximum_amount: '10' }), '9999', '9.999'],
    [perUnit('0.001', { minimum_amount: '10.004', maximum_amount: '10.004' }), '5', '10.004'],
    [perUnit('5', { maximum_amount: '0' }), '9', '0'],
  ])('%j of %s is %s', (terms, quantity, exact) => {
    expect(comesTo(terms, quantity)).toBe(exact);
  });

  test('zero usage costs nothing but a minimum_amount, in every model', () => {
    const flat = [
      ['10', '1', '99'],
      [null, '1', '99'],
    ] as const;
    const models = [
      perUnit('1'),
      tiered('graduated', [...flat[0]], [...flat[1]]),
      tiered('volume', [...flat[0]], [...flat[1]]),
      packages('9', '10'),
      percentage('9', '9'),
    ];
    for (const terms of models) {
      expect(comesTo(terms), terms.type).toBe('0');
      expect(comesTo({ ...terms, minimum_amount: '3.5' } as ChargeTerms)).toBe('3.5');
    }
  });

  test('section 20: the detail shows amounts before minimum and maximum', () => {
    const terms = { ...tiered('graduated', [null, '2', '0']), maximum_amount: '5' } as ChargeTerms;
    const { exact, detail } = rate(terms, { quantity: '10', eventCount: 0n }, null);
    expect(formatExact(exact)).toBe('5');
    expect(detail).toEqual([{ up_to: null, quantity: '10', exact_amount: '20' }]);
  });
});

describe('section 7: what a part of a period costs', () => {
  const days = { inForce: 22, inPeriod: 31 };
  test('FIXED is unit_price × days', () => {
    expect(comesTo(fixed('29.90'))).toBe('29.9');
    // 31 × 22 ÷ 31 = 22; 10 × 22 ÷ 31 = 220/31, which has no end
    expect(comesTo(fixed('31'), '0', 0n, days)).toBe('22');
    expect(comesTo(fixed('10'), '0', 0n, days)).toBe('220/31');
    expect(comesTo(fixed('10'), '0', 0n, { inForce: 0, inPeriod: 31 })).toBe('0');
    expect(comesTo({ type: 'FIXED', timing: 'in_arrears', unit_price: '10' }, '0', 0n, days)).toBe('220/31');
    expect(detailOf(fixed('10'), '0')).toBeNull();
  });

  test('FIXED does not depend on usage', () => {
    expect(comesTo(fixed('10'), '500', 3n)).toBe('10');
  });

  test('usage itself is never prorated, its minimum and maximum are', () => {
    expect(comesTo(perUnit('2'), '10', 0n, days)).toBe('20');
    // 31 × 22 ÷ 31 = 22
    expect(comesTo(perUnit('2', { minimum_amount: '31' }), '10', 0n, days)).toBe('22');
    expect(comesTo(perUnit('2', { maximum_amount: '15.5' }), '10', 0n, days)).toBe('11');
    expect(comesTo(perUnit('2', { minimum_amount: '31' }), '0', 0n, days)).toBe('22');
    expect(comesTo(perUnit('2', { included_units: '10' }), '12', 0n, days)).toBe('4');
    expect(comesTo(tiered('graduated', ['10', '1', '7'], [null, '2', '0']), '12', 0n, days)).toBe('21');
  });

  test('of a date on which a plan by the day was changed usage is due up to the whole maximum', () => {
    const none = { inForce: 0, inPeriod: 1 };
    expect(comesTo(perUnit('1', { maximum_amount: '100' }), '3', 3n, none)).toBe('3');
    expect(comesTo(perUnit('1', { maximum_amount: '2' }), '3', 3n, none)).toBe('2');
    expect(comesTo(perUnit('1', { minimum_amount: '5', maximum_amount: '100' }), '3', 3n, none)).toBe('3');
    expect(comesTo(fixed('10'), '0', 0n, none)).toBe('0');
    // Lines of before are computed again as they were.
    const usage = { quantity: '3', eventCount: 3n };
    for (const version of [1, 2])
      expect(formatExact(rate(perUnit('1', { maximum_amount: '100' }), usage, none, version).exact)).toBe('0');
    // By the month a date that is the other plan's is none of the maximum.
    expect(comesTo(perUnit('1', { maximum_amount: '100' }), '3', 3n, { inForce: 0, inPeriod: 31 })).toBe('0');
  });

  test.each([
    [-1, 31],
    [32, 31],
    [0, 0],
    [Number.NaN, 31],
    [1.5, 31],
  ])('%d of %d days are no share and throw', (inForce, inPeriod) => {
    expect(() => comesTo(fixed('10'), '0', 0n, { inForce, inPeriod })).toThrow(
      /not a share|cannot be converted to a BigInt/,
    );
  });
});

test('section 8: a line is rated by its version, and a version that there is not throws', () => {
  const usage = { quantity: '3', eventCount: 1n };
  expect(rate(perUnit('2'), usage, null, 1)).toEqual(rate(perUnit('2'), usage, null));
  expect(() => rate(perUnit('2'), usage, null, RATING_VERSION + 1)).toThrow(
    `unknown rating version: ${RATING_VERSION + 1}`,
  );
  expect(() => rate(perUnit('2'), usage, null, 0)).toThrow('unknown rating version: 0');
});

test('what a last tier with an end does not price throws, and is not billed as nothing', () => {
  for (const model of ['graduated', 'volume'] as const) {
    expect(comesTo(tiered(model, ['10', '1', '0']), '10')).toBe('10');
    expect(() => comesTo(tiered(model, ['10', '1', '0']), '10.1')).toThrow('the last tier has an end');
  }
});
