import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ChargeTerms } from './charge-terms.ts';
import { parseExact } from './exact.ts';
import { type Amount, round } from './money.ts';
import { rate } from './rate.ts';
import { settle, settleAgain } from './settle.ts';

describe('section 8: amount = round(what the due comes to now) − what was billed for it before', () => {
  test('the first line of a due has nothing before it', () => {
    expect(settle(parseExact('82.4549'), 0n, 2)).toEqual({
      exactAmount: '82.4549',
      amount: 8245n,
      waived: null,
      comesTo: 8245n,
    });
  });

  test('a later line is the difference, and may be below zero', () => {
    expect(settle(parseExact('82.455'), 8245n, 2)).toEqual({
      exactAmount: '82.455',
      amount: 1n,
      waived: null,
      comesTo: 8246n,
    });
    expect(settle(parseExact('80'), 8246n, 2)).toEqual({
      exactAmount: '80',
      amount: -246n,
      waived: null,
      comesTo: 8000n,
    });
  });

  test('an unused part of a charge in advance comes back by the same rule', () => {
    // 31.00 were billed for a month that was cancelled on its 10th: 31 × 10 ÷ 31 = 10.
    const terms: ChargeTerms = { type: 'FIXED', timing: 'in_advance', unit_price: '31' };
    const { exact } = rate(terms, { quantity: '0', eventCount: 0n }, { inForce: 10, inPeriod: 31 });
    expect(settle(exact, 3100n, 2)).toEqual({ exactAmount: '10', amount: -2100n, waived: null, comesTo: 1000n });
  });

  test('what was never asked for is waived and does not come back; what is late starts from what was billed', () => {
    const ten = parseExact('10');
    expect(settle(ten, 3100n, 2, 0n)).toMatchObject({ amount: 0n, waived: 2100n });
    expect(settle(ten, 3100n, 2, 500n)).toMatchObject({ amount: -500n, waived: 1600n });
    expect(settle(ten, 3100n, 2, 2100n)).toMatchObject({ amount: -2100n, waived: null });
    // More came back than was asked for in the end: nothing is taken for that.
    expect(settle(ten, 3100n, 2, -500n)).toMatchObject({ amount: 0n, waived: 2100n });
    expect(settle(ten, 500n, 2, 0n)).toMatchObject({ amount: 500n, waived: null });
    for (const waived of [null, 2100n, 1600n]) {
      expect(settleAgain(ten, 3100n, 2, waived)).toMatchObject({ amount: -2100n + (waived ?? 0n), waived });
    }
  });

  test('three thirds of a cent are one cent, not three rounded to nothing', () => {
    // 1/300, 2/300 and 3/300 of a unit come to 0, 1 and 1 cent.
    const lines = ['1/300', '2/300', '3/300'].reduce<Amount[]>((billed, exact) => {
      const before = billed.reduce((sum, amount) => sum + amount, 0n);
      return [...billed, settle(parseExact(exact), before, 2).amount];
    }, []);
    expect(lines).toEqual([0n, 1n, 0n]);
  });
});

const USAGE = { type: 'USAGE', minimum_amount: null, maximum_amount: null } as const;
const TERMS: ChargeTerms[] = [
  { ...USAGE, model: 'per_unit', unit_price: '0.00333', included_units: '2' },
  {
    ...USAGE,
    model: 'per_unit',
    unit_price: '0.1',
    included_units: null,
    minimum_amount: '1',
    maximum_amount: '7.005',
  },
  {
    ...USAGE,
    model: 'volume',
    tiers: [
      { up_to: '20.5', unit_price: '0.105', flat_fee: '1' },
      { up_to: null, unit_price: '0.001', flat_fee: '0' },
    ],
  },
  { ...USAGE, model: 'package', unit_price: '0.335', package_size: '7', included_units: null },
  { ...USAGE, model: 'percentage', rate: '2.9', fixed_amount: '0.0305', included_units: null },
];

test('invariant 8: late events in any order, over any number of lines: the sum of one line that saw all', () => {
  // Each change adds events of this many tenths, or voids them; after each group of changes a line is made.
  const changes = fc.array(fc.array(fc.integer({ min: -50, max: 200 }), { maxLength: 4 }), {
    minLength: 1,
    maxLength: 8,
  });
  const share = fc.constantFrom(null, { inForce: 9, inPeriod: 31 });
  fc.assert(
    fc.property(
      fc.constantFrom(...TERMS),
      changes,
      fc.integer({ min: 0, max: 3 }),
      share,
      (terms, groups, digits, days) => {
        let [tenths, events, billed, last]: [number, bigint, Amount, Amount] = [0, 0n, 0n, 0n];
        for (const group of groups) {
          for (const change of group) {
            tenths = Math.max(0, tenths + change);
            events += 1n;
          }
          const { exact } = rate(terms, { quantity: (tenths / 10).toFixed(1), eventCount: events }, days);
          const line = settle(exact, billed, digits);
          billed += line.amount;
          last = line.comesTo;
        }
        const all = rate(terms, { quantity: (tenths / 10).toFixed(1), eventCount: events }, days);
        expect(billed).toBe(round(all.exact, digits));
        expect(last).toBe(billed);
      },
    ),
  );
});
