import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { add, ceiling, compare, divide, formatExact, max, min, multiply, parseExact, subtract } from './exact.ts';

describe('section 20: an exact amount has no exponent and no trailing zeros, or is n/d in lowest terms', () => {
  test.each([
    ['0', '0'],
    ['-0', '0'],
    ['0.00', '0'],
    ['12.50', '12.5'],
    ['-0.30', '-0.3'],
    ['-12.05', '-12.05'],
    ['100', '100'],
    ['0.000000000000000001', '0.000000000000000001'],
    ['1/2', '0.5'],
    ['1/3', '1/3'],
    ['-2/6', '-1/3'],
    ['10/4', '2.5'],
    ['7/7', '1'],
    ['1/1024', '0.0009765625'],
    ['3/125', '0.024'],
    ['1/7000', '1/7000'],
    ['0/5', '0'],
    ['1234567890123456789012345678901234567890.5', '1234567890123456789012345678901234567890.5'],
  ])('%s is written %s', (text, written) => {
    expect(formatExact(parseExact(text))).toBe(written);
  });

  test.each([
    '',
    '-',
    '.5',
    '1.',
    '1e3',
    '+1',
    ' 1',
    '1 ',
    '1/0',
    '0/0',
    '1/-2',
    '1.5/2',
    '1/2/3',
    'NaN',
    '0x10',
    '1,5',
    '1\n',
  ])('%j is no exact number and throws', (text) => {
    expect(() => parseExact(text)).toThrow('not a decimal or a fraction');
  });

  test('every fraction is read back as it was written, in lowest terms', () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.bigInt({ min: 1n, max: 10n ** 25n }), (n, d) => {
        const written = formatExact(parseExact(`${n}/${d}`));
        expect(written).toMatch(/^(-?(0|[1-9]\d*)(\.\d*[1-9])?|-?[1-9]\d*\/[1-9]\d*)$/);
        const back = parseExact(written);
        expect(back.n * d).toBe(n * back.d);
        expect(formatExact(parseExact(`${n * 12n}/${d * 12n}`))).toBe(written);
      }),
    );
  });
});

const decimal = fc
  .tuple(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), fc.integer({ min: 0, max: 18 }))
  .map(([digits, point]) => ({ scaled: digits * 10n ** BigInt(18 - point), text: textOf(digits, point) }));

function textOf(digits: bigint, point: number): string {
  const text = String(digits < 0n ? -digits : digits).padStart(point + 1, '0');
  return (digits < 0n ? '-' : '') + (point === 0 ? text : `${text.slice(0, -point)}.${text.slice(-point)}`);
}

const ONE = 10n ** 18n;

test('section 2: sums, differences, products and quotients are those of the digits, never of floats', () => {
  fc.assert(
    fc.property(decimal, decimal, (a, b) => {
      const [x, y] = [parseExact(a.text), parseExact(b.text)];
      expect(is(add(x, y), a.scaled + b.scaled, ONE)).toBe(true);
      expect(is(subtract(x, y), a.scaled - b.scaled, ONE)).toBe(true);
      expect(is(multiply(x, y), a.scaled * b.scaled, ONE * ONE)).toBe(true);
      if (b.scaled === 0n) return;
      const quotient = divide(x, y);
      expect(is(multiply(quotient, y), a.scaled, ONE)).toBe(true);
      expect(quotient.d).toBeGreaterThan(0n);
    }),
  );
});

function is({ n, d }: { n: bigint; d: bigint }, over: bigint, under: bigint): boolean {
  return n * under === over * d;
}

test('numbers compare by value, and the smaller and the larger of two are found', () => {
  fc.assert(
    fc.property(decimal, decimal, (a, b) => {
      const [x, y] = [parseExact(a.text), parseExact(b.text)];
      const order = a.scaled < b.scaled ? -1 : Number(a.scaled > b.scaled);
      expect(compare(x, y)).toBe(order);
      expect(min(x, y)).toEqual(order <= 0 ? x : y);
      expect(max(x, y)).toEqual(order <= 0 ? y : x);
    }),
  );
  expect(compare(parseExact('0.50'), parseExact('1/2'))).toBe(0);
});

test.each([
  ['0', 0n],
  ['1', 1n],
  ['1.000000000000000001', 2n],
  ['0.1', 1n],
  ['7/3', 3n],
  ['-0.5', 0n],
  ['-7/3', -2n],
  ['-2', -2n],
])('the least whole number from %s on is %s', (text, whole) => {
  expect(ceiling(parseExact(text))).toBe(whole);
});

test('division by zero throws', () => {
  expect(() => divide(parseExact('1'), parseExact('0'))).toThrow('division by zero');
});
