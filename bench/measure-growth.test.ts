import { expect, test } from 'vitest';
import { GROWTH_KINDS } from './bench-options.ts';
import { growthCasesOf } from './measure-growth.ts';
import { PATTERNS, WEIR_BATCH } from './patterns.ts';

test('every kind is measured with one event a request and with batches, and one thing is changed at a time', () => {
  const cases = growthCasesOf({ growthKinds: [...GROWTH_KINDS], rows: [0, 5_000_000], patterns: [...PATTERNS] });
  const single = cases.filter(({ pattern }) => pattern.name === 'weir-single');
  expect(cases).toHaveLength(2 * single.length);
  expect(
    single.map(({ rows, workers, customers, organizations }) => [rows, workers, customers, organizations]),
  ).toEqual([
    [0, 1, 1_000, 1],
    [5_000_000, 1, 1_000, 1],
    [0, 1, 1_000, 1],
    [0, 2, 1_000, 1],
    [0, 4, 1_000, 1],
    [0, 1, 1, 1],
    [0, 1, 1_000, 1_000],
  ]);
});

test('what was not asked for is left out', () => {
  const cases = growthCasesOf({ growthKinds: ['customer'], rows: undefined, patterns: [WEIR_BATCH] });
  expect(cases.map(({ title }) => title)).toEqual(['one customer has everything, weir-batch']);
});
