import { expect, test } from 'vitest';
import { COUNTRIES, isCountry } from './countries.ts';

test('the codes of ISO 3166-1 are there, once each and in order', () => {
  expect(COUNTRIES).toHaveLength(249);
  expect([...new Set(COUNTRIES)].sort()).toEqual(COUNTRIES);
});

test.each(['DE', 'GB', 'US', 'ZW'])('%s is a country', (code) => expect(isCountry(code)).toBe(true));

test.each(['de', 'UK', 'EU', 'XX', 'DEU', '', 'Germany'])('%j is none', (code) => expect(isCountry(code)).toBe(false));
