import { expect, test } from 'vitest';
import { rateOf } from './measure-throughput.ts';

test('a rate is a share of the top rate, and never none', () => {
  expect(rateOf(9_250.4, 110)).toBe(10_175);
  expect(rateOf(3, 10)).toBe(1);
});
