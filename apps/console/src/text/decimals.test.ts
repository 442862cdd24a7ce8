import { expect, test } from 'vitest';
import {
  addDecimals,
  countParts,
  formatAmount,
  formatCount,
  formatDecimal,
  percentChange,
  subtractDecimals,
} from './decimals.ts';

test('a decimal is grouped and keeps every digit', () => {
  expect(formatDecimal('1234567.8910')).toBe('1,234,567.8910');
  expect(formatDecimal('9007199254740993')).toBe('9,007,199,254,740,993');
  expect(formatDecimal('-1234')).toBe('−1,234');
  expect(formatDecimal('0.1234567')).toBe('0.1234567');
  expect(formatDecimal(null)).toBe('–');
});

test('a count is told with its noun, of which there may be one', () => {
  expect([0, 1, 1204].map((count) => formatCount(count, 'event'))).toEqual(['0 events', '1 event', '1,204 events']);
});

test('an amount has the digits of its currency, and more where it has more', () => {
  expect(formatAmount('1234.5', 'EUR')).toBe('1,234.50 EUR');
  expect(formatAmount('1234', 'JPY')).toBe('1,234 JPY');
  expect(formatAmount('0.0000025', 'USD')).toBe('0.0000025 USD');
  expect(formatAmount('-3.10', 'USD')).toBe('−3.10 USD');
});

test('sums and differences are exact where floats are not', () => {
  expect(addDecimals('0.1', '0.2')).toBe('0.3');
  expect(subtractDecimals('0.3', '0.1')).toBe('0.2');
  expect(subtractDecimals('1', '2.5')).toBe('-1.5');
});

test('a whole is of so many parts, the last of which may be smaller', () => {
  expect(countParts('1000', '49.90')).toBe(21n);
  expect(countParts('0.5', '1')).toBe(1n);
  expect(countParts('3', '1.5')).toBe(2n);
  expect(countParts('0', '7')).toBe(0n);
});

test('a change in per cent is rounded once, and undefined where nothing was before', () => {
  expect(percentChange('112.5', '100')).toBe('+12.5 %');
  expect(percentChange('1', '3')).toBe('−66.7 %');
  expect(percentChange('3', '3')).toBe('±0 %');
  expect(percentChange('3', '0')).toBeUndefined();
  expect(percentChange('0.0', '0')).toBe('±0 %');
  expect(percentChange('3000', '1')).toBe('+299,900 %');
});
