import { LIMITS } from './limits.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { average, parseQuantity, plainDecimal } from './decimal.ts';

describe('a JSON number becomes the same number without exponent and without needless zeros', () => {
  test.each([
    ['0', '0'],
    ['-0', '0'],
    ['0.0', '0'],
    ['0e5', '0'],
    ['1', '1'],
    ['1.50', '1.5'],
    ['1.50e1', '15'],
    ['1e3', '1000'],
    ['1E+3', '1000'],
    ['1.25e1', '12.5'],
    ['12.5e-1', '1.25'],
    ['5e-3', '0.005'],
    ['0.1', '0.1'],
    ['-2.50', '-2.5'],
    ['100', '100'],
    ['0.1234567890123456789', '0.1234567890123456789'],
    ['82450', '82450'],
    ['123456789012345678901234567890', '123456789012345678901234567890'],
  ])('%s is %s', (literal, plain) => {
    expect(plainDecimal(literal)).toBe(plain);
  });

  test('for every literal: it is the same fraction of whole numbers', () => {
    const digits = fc.stringMatching(/^[0-9]{1,30}$/);
    const whole = fc.stringMatching(/^(0|[1-9][0-9]{0,20})$/);
    fc.assert(
      fc.property(
        fc.constantFrom('', '-'),
        whole,
        fc.option(digits, { nil: undefined }),
        fc.integer({ min: -60, max: 60 }),
        (sign, int, fraction, exponent) => {
          const plain = plainDecimal(`${sign}${int}${fraction === undefined ? '' : `.${fraction}`}e${exponent}`);
          const scale = 100 + exponent - (fraction ?? '').length;
          const expected = BigInt(`${int}${fraction ?? ''}`) * 10n ** BigInt(scale) * (sign === '-' ? -1n : 1n);
          const [before = '', after = ''] = plain.replace('-', '').split('.');
          const actual = BigInt(before + after.padEnd(100, '0')) * (plain.startsWith('-') ? -1n : 1n);
          expect(actual).toBe(expected);
          expect(plain).toMatch(/^(0|-?(0\.\d*[1-9]|[1-9]\d*(\.\d*[1-9])?))$/);
        },
      ),
    );
  });

  test.each(['', 'NaN', 'Infinity', '0x10', '1,5', '.5', '1.', '1e', ' 1', '+1'])('%j is none and throws', (text) => {
    expect(() => plainDecimal(text)).toThrow('not a decimal literal');
  });

  test('an exponent that would fill the memory throws', () => {
    expect(() => plainDecimal('1e801')).toThrow('exponent out of range');
    expect(() => plainDecimal('1e-1000000000')).toThrow('exponent out of range');
  });
});

describe('a quantity is the decimal that was sent', () => {
  test.each([
    ['1', '1'],
    ['0.1', '0.1'],
    ['1.10', '1.1'],
    ['1e2', '100'],
    ['0.1234567890123456789', '0.1234567890123456789'],
    ['9007199254740991', '9007199254740991'],
    ['9007199254740991.000', '9007199254740991'],
    ['9007199254740990.9', '9007199254740990.9'],
    ['9.007199254740991e15', '9007199254740991'],
    ['5e-324', `0.${'0'.repeat(323)}5`],
  ])('%s is kept as %s', (literal, decimal) => {
    expect(parseQuantity(literal, Number(literal))).toEqual({ decimal });
  });

  test.each(['0', '-0', '-1', '0.0', '1e-400', '0e9', '-1e-5'])(
    '%s is refused: it is not greater than 0',
    (literal) => {
      expect(parseQuantity(literal, Number(literal))).toEqual({ problem: 'must be greater than 0' });
    },
  );

  test.each([
    '9007199254740992',
    '9007199254740993',
    '9007199254740991.1',
    '9007199254740991.4',
    '9007199254740991.5',
    '90071992547409914e-1',
    '9007199254740991.00000000000000000001',
    '1e16',
    '1e400',
  ])('%s is refused: it is beyond the limit, by however little', (literal) => {
    expect(parseQuantity(literal, Number(literal))).toEqual({ problem: `must be at most ${LIMITS.quantity}` });
  });

  test('a number of more than 400 characters is refused', () => {
    const literal = `1.${'3'.repeat(399)}`;
    expect(parseQuantity(literal, Number(literal))).toEqual({ problem: 'must have at most 400 characters' });
    expect(parseQuantity(literal.slice(0, 400), 1.3)).toEqual({ decimal: literal.slice(0, 400) });
  });

  test('NaN, which JSON cannot hold, is no quantity either', () => {
    expect(parseQuantity('NaN', Number.NaN)).toEqual({ problem: 'must be greater than 0' });
  });

  test('every number that a JavaScript client can send is taken, and reads back as the same number', () => {
    fc.assert(
      fc.property(fc.double({ min: Number.MIN_VALUE, max: LIMITS.quantity, noNaN: true }), (value) => {
        const result = parseQuantity(JSON.stringify(value), value);
        expect('decimal' in result && Number(result.decimal)).toBe(value);
      }),
    );
  });
});

describe('an average', () => {
  test.each([
    ['10', 4n, '2.5'],
    ['10', 3n, '3.333333333333'],
    ['20', 3n, '6.666666666667'],
    ['0.000000000001', 2n, '0.000000000001'],
    ['0.3', 3n, '0.1'],
    ['-10', 4n, '-2.5'],
    ['0', 7n, '0'],
    ['9007199254740991', 1n, '9007199254740991'],
    ['0.12345678901234567', 1n, '0.12345678901234567'],
    ['90071992547409910000', 10000n, '9007199254740991'],
  ])('of %s over %s events is %s', (sum, count, mean) => {
    expect(average(sum, count)).toBe(mean);
  });

  test('is never further from the truth than half of its last digit', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 30n), fc.bigInt(1n, 10n ** 9n), (sum, count) => {
        const [whole = '', fraction = ''] = average(String(sum), count).split('.');
        const scaled = BigInt(whole + fraction.padEnd(12, '0'));
        const error = scaled * count - sum * 10n ** 12n;
        expect(2n * (error < 0n ? -error : error)).toBeLessThanOrEqual(count);
      }),
    );
  });
});
