import { expect, test } from 'vitest';
import { isCurrency } from './currency.ts';

test.each(['USD', 'EUR', 'JPY', 'GBP', 'INR', 'CHF', 'XOF', 'VED', 'XCG', 'ZWG'])('%s is a currency', (code) => {
  expect(isCurrency(code)).toBe(true);
});

test.each(['usd', 'Usd', 'US', 'USDT', 'ZZZ', 'BTC', 'HRK', 'DEM', 'XXX', 'XTS', 'XAU', '', ' USD', 'US$'])(
  '%j is none',
  (code) => {
    expect(isCurrency(code)).toBe(false);
  },
);
