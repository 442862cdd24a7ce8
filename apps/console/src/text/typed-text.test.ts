import { expect, test } from 'vitest';
import { plainDecimal, slugOf, wholeNumber } from './typed-text.ts';

test('a name becomes a slug that the API takes', () => {
  expect(slugOf('Pro plan (EU)')).toBe('pro-plan-eu');
  expect(slugOf('  Größe – XL ')).toBe('gro-e-xl');
  expect(slugOf(`${'a'.repeat(63)} b`)).toBe('a'.repeat(63));
});

test('a decimal keeps every digit, and loses only what groups them', () => {
  expect(plainDecimal('1,000,000.5')).toBe('1000000.5');
  expect(plainDecimal('12\u202f345')).toBe('12345');
  // A comma that groups nothing may be a point: the API has to ask.
  expect(plainDecimal('0,02')).toBe('0,02');
});

test('what is no whole number is sent as it was typed, and refused there', () => {
  expect(wholeNumber('14')).toBe(14);
  expect(wholeNumber('fourteen')).toBe('fourteen');
});
