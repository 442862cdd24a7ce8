import { expect, test } from 'vitest';
import { madeUpRound } from './made-up-round.ts';
import { openLoopTable, plotPointsOf, rateOf } from './fixed-rates.ts';

test('a rate is a share of the top rate, and never none', () => {
  expect(rateOf(9_250.4, 110)).toBe(10_175);
  expect(rateOf(3, 10)).toBe(1);
});

const rounds = [
  madeUpRound({ duePerSecond: 4_000, latencyMs: { p50: 1, p99: 5, p999: 9 }, unsent: 2, errors: { 503: 3 } }),
  madeUpRound({ duePerSecond: 5_000, latencyMs: { p50: 3, p99: 8, p999: 90 }, unsent: 0, errors: { broken: 1 } }),
  madeUpRound({ duePerSecond: 4_500, latencyMs: { p50: 2, p99: 6, p999: 10 }, unsent: 1 }),
];

test('a plot is of the medians', () => {
  expect(plotPointsOf([{ sharePercent: 50, rounds }])).toEqual([
    { sharePercent: 50, perSecond: 4_500, latencyMs: { p50: 2, p99: 6, 'p99.9': 10 } },
  ]);
});

test('what was not answered with 201, and what was never sent, is told of all rounds', () => {
  const [, , row] = openLoopTable([{ sharePercent: 50, rounds }]).split('\n');
  expect(row).toMatch(/^\| 50 % .*\| +4 \| +3 \|$/);
  expect(row).toContain('6.0 (5.0–8.0)');
});
