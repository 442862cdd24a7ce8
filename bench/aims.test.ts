import { expect, test } from 'vitest';
import { madeUpRound } from './made-up-round.ts';
import { bestCeiling, growthTargetsOf, targetText, targetsOf } from './aims.ts';

const recorded = (...rates: number[]) =>
  rates.map((rate) => madeUpRound({ recordedPerSecond: rate, requestsPerSecond: rate }));

const titles = (lines: { title: string }[]) => lines.map(({ title }) => title);

test('a ratio is the median of those of each round', () => {
  const rounds = new Map([
    ['weir-single', recorded(9_000, 3_000, 10_000)],
    ['floor', recorded(20_000, 10_000, 50_000)],
  ]);
  const [line] = targetsOf(rounds, []);
  expect(line?.figure).toEqual({ median: 0.3, min: 0.2, max: 0.45 });
  expect(line?.isReached).toBe(true);
});

test('two processes are held against two, and one against one', () => {
  const rounds = new Map([
    ['weir-single', recorded(9_000)],
    ['weir-single-2', recorded(12_000)],
    ['floor', recorded(20_000)],
    ['floor-2', recorded(48_000)],
  ]);
  const ratios = targetsOf(rounds, []).filter(({ title }) => title.includes('bare route'));
  expect(ratios.map(({ figure, isReached }) => [figure.median, isReached])).toEqual([
    [0.45, true],
    [0.25, false],
  ]);
  rounds.delete('floor-2');
  expect(targetsOf(rounds, []).filter(({ title }) => title.includes('two processes'))).toEqual([]);
});

test('a figure on the wrong side of its target is below it', () => {
  const rounds = new Map([
    ['weir-single', recorded(1_000, 1_000, 2_000)],
    ['floor', recorded(4_000, 4_000, 4_000)],
    ['job-per-request', recorded(250, 250, 250)],
  ]);
  const reached = targetsOf(rounds, []).map(({ title, isReached }) => [title.slice(0, 14), isReached]);
  expect(reached).toEqual([
    ['single, record', false],
    ['single ÷ one j', true],
    ['single, disk i', true],
  ]);
  const heavy = new Map([['weir-single', [madeUpRound({ postgresBytesPerEvent: 401 })]]]);
  expect(targetsOf(heavy, []).map(({ isReached }) => isReached)).toEqual([false]);
});

test('the best ceiling counts', () => {
  const rounds = new Map([
    ['weir-batch', recorded(30_000)],
    ['raw-postgres-2', recorded(40_000)],
    ['raw-postgres-4', recorded(60_000)],
    ['raw-postgres-8', recorded(50_000)],
  ]);
  expect(bestCeiling(rounds)).toBe('raw-postgres-4');
  expect(targetsOf(rounds, [])[0]?.figure.median).toBe(0.5);
  expect(bestCeiling(new Map())).toBeUndefined();
});

test('latency at half of the top rate is that share, and no other', () => {
  const at = (sharePercent: number, p99: number) => ({
    sharePercent,
    rounds: [madeUpRound({ latencyMs: { p50: 1, p99, p999: 99 } })],
  });
  const [line] = targetsOf(new Map(), [at(25, 3), at(50, 11), at(75, 5)]);
  expect(line).toMatchObject({ figure: { median: 11 }, isReached: false });
  expect(targetsOf(new Map(), [at(25, 3)])).toEqual([]);
});

test('growth compares the most rows with none, for each pattern', () => {
  const points = [
    { pattern: 'weir-single', rows: 20_000_000, rounds: recorded(7_000, 9_000) },
    { pattern: 'weir-single', rows: 0, rounds: recorded(10_000, 10_000) },
    { pattern: 'weir-single', rows: 5_000_000, rounds: recorded(1, 1) },
    { pattern: 'weir-batch', rows: 20_000_000, rounds: recorded(7_000) },
  ];
  const lines = growthTargetsOf(points);
  expect(titles(lines)).toEqual(['weir-single, recorded at 20,000,000 rows ÷ at none']);
  expect(lines[0]?.figure).toEqual({ median: 0.8, min: 0.7, max: 0.9 });
});

test('each target is a line with its figure', () => {
  const lines = targetsOf(new Map([['weir-single', [madeUpRound({ postgresBytesPerEvent: 512 })]]]), []);
  expect(targetText(lines)).toBe(
    'below  single, disk in Postgres for each event  512 (512–512) bytes, target ≤ 400 bytes',
  );
  expect(targetText([])).toBe('');
});
