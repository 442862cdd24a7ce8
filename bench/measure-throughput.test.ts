import { expect, test } from 'vitest';
import { inTurn, rateOf } from './measure-throughput.ts';

test('a rate is a share of the top rate, and never none', () => {
  expect(rateOf(9_250.4, 110)).toBe(10_175);
  expect(rateOf(3, 10)).toBe(1);
});

test('each second round goes from the last pattern to the first', () => {
  const patterns = ['floor', 'single', 'batch'];
  expect([1, 2, 3].map((round) => inTurn(patterns, round).join(' '))).toEqual([
    'floor single batch',
    'batch single floor',
    'floor single batch',
  ]);
});
