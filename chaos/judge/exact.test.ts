import { expect, test } from 'vitest';
import { decimalOf, meanOf, microsOf, unitsOf } from './exact.ts';

test.for([
  ['0.1', '0.1'],
  ['12.345678', '12.345678'],
  ['1.50e1', '15'],
  ['9.9e-9', '0.0000000099'],
  ['2e3', '2000'],
  ['-0.5', '-0.5'],
  ['1000', '1000'],
] as const)('%s is %s', ([text, decimal]) => expect(decimalOf(unitsOf(text))).toBe(decimal));

test('what is no decimal, or finer than can be counted, is refused rather than rounded', () => {
  expect(() => unitsOf('0x10')).toThrow('not a decimal');
  expect(() => unitsOf('1e-31')).toThrow('finer');
});

test('a mean is rounded half away from zero at the twelfth digit', () => {
  expect(decimalOf(meanOf(unitsOf('1'), 3n))).toBe('0.333333333333');
  expect(decimalOf(meanOf(unitsOf('2'), 3n))).toBe('0.666666666667');
  expect(decimalOf(meanOf(unitsOf('0.000000000001'), 2n))).toBe('0.000000000001');
});

test.for([
  ['2026-01-31T23:59:59Z', '2026-01-31T23:59:59.000000Z'],
  ['2026-01-31T23:59:59.9999999Z', '2026-01-31T23:59:59.999999Z'],
  ['2026-02-01T01:59:59.25+02:00', '2026-01-31T23:59:59.250000Z'],
] as const)('%s is %s to the microsecond', ([text, micros]) => expect(microsOf(text)).toBe(micros));
