import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseExact } from './exact.ts';
import { formatAmount, parseAmount, round } from './money.ts';

describe('section 2: the one rounding is to the minor digits, half away from zero', () => {
  test.each([
    ['0.005', 2, 1n],
    ['0.0049999999999999999999', 2, 0n],
    ['0.015', 2, 2n],
    ['0.025', 2, 3n],
    ['-0.005', 2, -1n],
    ['-0.025', 2, -3n],
    ['-0.0049', 2, 0n],
    ['1/3', 2, 33n],
    ['2/3', 2, 67n],
    ['-2/3', 2, -67n],
    ['1/2', 0, 1n],
    ['3/2', 0, 2n],
    ['5/2', 0, 3n],
    ['-1/2', 0, -1n],
    ['1.0005', 3, 1001n],
    ['0.00005', 4, 1n],
    ['1234', 2, 123400n],
    ['99999999999999999999999999999999999999.995', 2, 10n ** 40n],
  ])('%s to %i digits', (exact, digits, amount) => {
    expect(round(parseExact(exact), digits)).toBe(amount);
  });

  test('no amount is further than half a unit from the truth; of two as near it is the one away from zero', () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.bigInt({ min: 1n, max: 400n }), fc.integer({ min: 0, max: 4 }), (n, d, digits) => {
        const amount = round(parseExact(`${n}/${d}`), digits);
        // Twice the error, in units of 1/d of the minor unit.
        const error = 2n * (amount * d - n * 10n ** BigInt(digits));
        const outward = n < 0n ? -error : error;
        expect(outward).toBeGreaterThan(-d);
        expect(outward).toBeLessThanOrEqual(d);
      }),
    );
  });
});

describe('section 2: amounts have exactly the minor digits of the currency', () => {
  test.each([
    [1230n, 2, '12.30'],
    [1230n, 0, '1230'],
    [1005n, 3, '1.005'],
    [-5n, 2, '-0.05'],
    [-1230n, 2, '-12.30'],
    [0n, 2, '0.00'],
    [0n, 0, '0'],
    [7n, 4, '0.0007'],
    [-7n, 0, '-7'],
  ])('%s with %i digits is written %s', (amount, digits, text) => {
    expect(formatAmount(amount, digits)).toBe(text);
    expect(parseAmount(text, digits)).toBe(amount);
  });

  test.each([
    ['12.3', 2, 1230n],
    ['12', 2, 1200n],
    ['-0.5', 2, -50n],
    ['-0', 2, 0n],
    ['5', 0, 5n],
  ])('%s may be given where there are %i digits', (text, digits, amount) => {
    expect(parseAmount(text, digits)).toBe(amount);
  });

  test.each([
    ['12.345', 2],
    ['12.300', 2],
    ['1.0', 0],
    ['', 2],
    ['.5', 2],
    ['5.', 2],
    ['1e2', 2],
    ['+1', 2],
    [' 1', 2],
    ['1/3', 2],
    ['--1', 2],
  ])('%j is no amount where there are %i digits', (text, digits) => {
    expect(parseAmount(text, digits)).toBeUndefined();
  });

  test('every amount is read back as it was written', () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.integer({ min: 0, max: 4 }), (amount, digits) => {
        const text = formatAmount(amount, digits);
        expect(parseAmount(text, digits)).toBe(amount);
        expect((text.split('.')[1] ?? '').length).toBe(digits);
      }),
    );
  });
});
