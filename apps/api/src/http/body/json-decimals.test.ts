import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LOOKED_INTO_MAX, walkMembers, withRoundedAsText } from './json-decimals.ts';

const NAMES = new Set(['price', 'up_to']);

function read(text: string): unknown {
  const value: unknown = JSON.parse(text);
  walkMembers(value, text, 0, NAMES);
  return value;
}

describe('a number under one of the names becomes the decimal that was sent', () => {
  test.each([
    ['{"price":0.1e-5}', '0.000001'],
    ['{"price":123456789012345.123456789012345678}', '123456789012345.123456789012345678'],
    ['{"price":1E+2}', '100'],
    ['{"price":1.50}', '1.5'],
    ['{"price":-0}', '0'],
    ['{"price":-2}', '-2'],
    ['{"price":0}', '0'],
    [' { "a" : [1, "]", {}] , "pr\\u0069ce" : 9007199254740993 } ', '9007199254740993'],
  ])('%s', (text, price) => {
    expect(read(text)).toMatchObject({ price });
  });

  test('at every level that a schema has', () => {
    const text = '{"charge":{"price":1.0,"tiers":[{"up_to":1e1,"price":0.10},{"up_to":null,"price":"0.10"}]}}';
    expect(read(text)).toEqual({
      charge: {
        price: '1',
        tiers: [
          { up_to: '10', price: '0.1' },
          { up_to: null, price: '0.10' },
        ],
      },
    });
  });

  test('in a list', () => {
    expect(read('{"price": [1.0, 123456789012345.123456789012345678 , "0.10", 1e2, null]}')).toEqual({
      price: ['1', '123456789012345.123456789012345678', '0.10', '100', null],
    });
  });

  test('with an exponent or a length that no schema takes it stays as it was sent', () => {
    expect(read('{"price":1e400}')).toEqual({ price: '1e400' });
    expect(read('{"price":1e-999999999999}')).toEqual({ price: '1e-999999999999' });
    const long = `1.${'0'.repeat(1_000_000)}1`;
    expect(read(`{"price":${long}}`)).toEqual({ price: long });
  });
});

test('everything else is left as it is: numbers of other names, texts, lists, and what is no object', () => {
  for (const text of [
    '{"other":1.50}',
    '{"price":"1.50"}',
    '{"price":[[1.50], {"other": 1.50}]}',
    '{"price":null}',
    '[1.50]',
    '1.50',
    'null',
  ])
    expect(read(text)).toEqual(JSON.parse(text));
});

test('a key that stands twice is refused at every level', () => {
  for (const text of [
    '{"price":1,"price":1000}',
    '{"a":[{"up_to":1,"up_to":2}]}',
    '{"charge":{"x":"a","\\u0078":"b"}}',
  ])
    expect(() => read(text)).toThrow('stands twice');
});

test('nesting that no schema has is not walked into, however deep it goes', () => {
  const deep = '{"a":'.repeat(50_000) + '{"price":1.50}' + '}'.repeat(50_000);
  const startedAt = performance.now();
  read(deep);
  expect(performance.now() - startedAt).toBeLessThan(1_000);
});

test('any decimal keeps its value, however it is written', () => {
  const digits = fc.stringMatching(/^\d{1,20}$/);
  fc.assert(
    fc.property(digits, digits, fc.integer({ min: -30, max: 30 }), (whole, fraction, exponent) => {
      const int = whole.replace(/^0+(?=\d)/, '');
      const { price } = read(`{"price":${int}.${fraction}e${exponent}}`) as { price: string };
      // Both as whole numbers of 10 to the power of -60, by shifting digits.
      const [before = '', after = ''] = price.split('.');
      expect(price).not.toMatch(/[eE]|^0\d|\.$|\..*0$/);
      expect(BigInt(before + after.padEnd(60, '0'))).toBe(
        BigInt(int + fraction + '0'.repeat(60 - fraction.length + exponent)),
      );
    }),
  );
});

describe('a number that JavaScript would round is told as text', () => {
  test.each([
    ['{"a":9007199254740993,"b":9007199254740992}', { a: '9007199254740993', b: 9007199254740992 }],
    ['[0.1,-0,1.50,1e2,-3]', [0.1, -0, 1.5, 100, -3]],
    ['[1.0000000000000000001,-1e400,1e400,1e-400]', ['1.0000000000000000001', '-1e400', '1e400', '1e-400']],
    [
      '["9007199254740993"," \\" 9007199254740993",{"\\\\":9007199254740993}]',
      ['9007199254740993', ' " 9007199254740993', { '\\': '9007199254740993' }],
    ],
  ])('%s', (text, value) => {
    expect(JSON.parse(withRoundedAsText(text))).toEqual(value);
  });

  test('and nothing else is, whatever stands in the texts beside it, and however long they are', () => {
    const other = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.array(other)), (value) => {
        expect(withRoundedAsText(JSON.stringify(value))).toBe(JSON.stringify(value));
      }),
    );
    const endless = JSON.stringify(['"\\'.repeat(2_000_000)]);
    expect(withRoundedAsText(endless) === endless).toBe(true);
  });
});

test('metadata is left to those who read its text', () => {
  const text = '{"price":1,"metadata":{"price":1,"a":1,"a":2}}';
  expect(read(text)).toEqual({ price: '1', metadata: { price: 1, a: 2 } });
});

test('of a body with more values than any request takes the rest is not looked into', () => {
  const after = (count: number) => `{"lists":[${'[],'.repeat(count)}{"a":1,"a":2}]}`;
  expect(() => read(after(10))).toThrow('stands twice');
  expect(() => read(after(LOOKED_INTO_MAX))).not.toThrow();
  const numbers = Array<number>(LOOKED_INTO_MAX).fill(1);
  expect(read(`{"price":[${numbers.join()}]}`)).toEqual({ price: numbers });
});
