import { expect, test } from 'vitest';
import { growthCasesOf, growthTable } from './measure-growth.ts';
import { madeUpRound } from './made-up-round.ts';
import { GROWTH_PARTS } from './bench-options.ts';
import { WEIR_BATCH, WEIR_SINGLE } from './patterns.ts';

const patterns = [WEIR_SINGLE, WEIR_BATCH];

test('every part is measured with every pattern, and one thing is changed at a time', () => {
  const cases = growthCasesOf({ growthParts: [...GROWTH_PARTS], rows: [0, 5_000_000], workers: [1, 4], patterns });
  const told = cases.filter(({ pattern }) => pattern === 'weir-single');
  expect(cases).toHaveLength(2 * told.length);
  expect(told.map(({ rows, workers, customers, organizations }) => [rows, workers, customers, organizations])).toEqual([
    [0, 1, 1_000, 1],
    [5_000_000, 1, 1_000, 1],
    [0, 1, 1_000, 1],
    [0, 4, 1_000, 1],
    [0, 1, 1, 1],
    [0, 1, 1_000, 1_000],
  ]);
});

test('a part that was not asked for is left out', () => {
  const cases = growthCasesOf({ growthParts: ['workers', 'redis'], rows: [0], workers: [2], patterns: [WEIR_BATCH] });
  expect(cases.map(({ part, pattern, workers }) => [part, pattern, workers])).toEqual([['workers', 'weir-batch', 2]]);
});

test('each case is a row of the table', () => {
  const [first] = growthCasesOf({ growthParts: ['customer'], rows: [], workers: [], patterns: [WEIR_SINGLE] });
  const rounds = [madeUpRound({ recordedPerSecond: 7_000 }), madeUpRound({ recordedPerSecond: 9_000 })];
  expect(growthTable(first === undefined ? [] : [{ ...first, rounds }])).toMatch(
    /\| one customer has everything \| weir-single \|.*\| 8,000 \(7,000–9,000\) \|/,
  );
});
