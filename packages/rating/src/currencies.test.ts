import { expect, test } from 'vitest';
import { isCurrency, minorDigits } from './currencies.ts';

test.each(['USD', 'EUR', 'JPY', 'GBP', 'INR', 'CHF', 'XOF', 'VED', 'XCG', 'ZWG'])('%s is a currency', (code) => {
  expect(isCurrency(code)).toBe(true);
});

test.each(['usd', 'Usd', 'US', 'USDT', 'ZZZ', 'BTC', 'HRK', 'DEM', 'XXX', 'XTS', 'XAU', '', ' USD', 'US$'])(
  '%j is none',
  (code) => {
    expect(isCurrency(code)).toBe(false);
  },
);

// From ISO 4217 list one, read apart from the table.
test.each([
  ['USD', 2],
  ['EUR', 2],
  ['XCG', 2],
  ['MGA', 2],
  ['BIF', 0],
  ['CLP', 0],
  ['DJF', 0],
  ['GNF', 0],
  ['ISK', 0],
  ['JPY', 0],
  ['KMF', 0],
  ['KRW', 0],
  ['PYG', 0],
  ['RWF', 0],
  ['UGX', 0],
  ['UYI', 0],
  ['VND', 0],
  ['VUV', 0],
  ['XAF', 0],
  ['XOF', 0],
  ['XPF', 0],
  ['BHD', 3],
  ['IQD', 3],
  ['JOD', 3],
  ['KWD', 3],
  ['LYD', 3],
  ['OMR', 3],
  ['TND', 3],
  ['CLF', 4],
  ['UYW', 4],
])('amounts in %s have %i digits after the point', (code, digits) => {
  expect(minorDigits(code)).toBe(digits);
});

test.each('AFN ALL COP HUF IDR IRR KPW LAK LBP MMK PKR SOS SYP YER'.split(' '))(
  '%s has 2 digits by the standard, whatever Intl says',
  (code) => {
    expect(minorDigits(code)).toBe(2);
  },
);

test.each(['usd', 'XXX', '', 'toString'])('the digits of %j, which is no currency, are refused', (code) => {
  expect(() => minorDigits(code)).toThrow('unknown currency');
});
