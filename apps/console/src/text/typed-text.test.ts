import { expect, test } from 'vitest';
import { formatDecimal } from './decimals.ts';
import { plainDecimal, slugOf, wholeNumber } from './typed-text.ts';

test('a name becomes a slug that the API takes', () => {
  expect(slugOf('Pro plan (EU)')).toBe('pro-plan-eu');
  expect(slugOf('  Größe – XL ')).toBe('gro-e-xl');
  expect(slugOf(`${'a'.repeat(63)} b`)).toBe('a'.repeat(63));
});

test('a decimal keeps every digit, and loses only what groups them', () => {
  expect(plainDecimal('1,000,000.5')).toBe('1000000.5');
  expect(plainDecimal('-12,345')).toBe('-12345');
  expect(plainDecimal('12\u202f345')).toBe('12345');
  expect(plainDecimal(formatDecimal('-1234.5'))).toBe('-1234.5');
});

test('a comma that may be a point is sent as it was typed: the API has to ask', () => {
  for (const typed of ['0,02', '0,002', '00,500', '1234,567', '1.234,567', '1,234,5', '1,234,5678', ',500', '1.5,000'])
    expect(plainDecimal(typed)).toBe(typed);
  expect(plainDecimal('1 234,567')).toBe('1234,567');
});

test('what is no whole number is sent as it was typed, and refused there', () => {
  expect(wholeNumber('14')).toBe(14);
  expect(wholeNumber('fourteen')).toBe('fourteen');
  expect(wholeNumber('0,014')).toBe('0,014');
});
