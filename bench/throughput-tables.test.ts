import { expect, test } from 'vitest';
import { madeUpRound } from './made-up-round.ts';
import { cpuTable, noiseSentence, rateTable, ratiosOf, sentencesOf, spaceTable, summarize } from './throughput-tables.ts';

const WEIR = { name: 'weir-single', title: 'Weir', takesRequests: true };
const FLOOR = { name: 'floor', title: 'floor', takesRequests: true };
const CEILING = { name: 'raw-postgres', title: 'ceiling', takesRequests: false };

const cellsOf = (table: string) =>
  table.split('\n').map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );

test('a table has medians with the lowest and the highest round', () => {
  const rounds = [9_000, 8_000, 12_000].map((requestsPerSecond) => madeUpRound({ requestsPerSecond }));
  expect(cellsOf(rateTable([summarize(WEIR, rounds)]))[2]?.slice(0, 2)).toEqual(['Weir', '9,000 (8,000–12,000)']);
});

test('what a pattern does not do is a dash, and not zero', () => {
  const floor = summarize(FLOOR, [
    madeUpRound({ recordedPerSecond: null, backlog: null, postgresBytesPerEvent: null, redisBytesPerEvent: null }),
  ]);
  const ceiling = summarize(CEILING, [madeUpRound({ redisBytesPerEvent: null })]);
  expect(cellsOf(rateTable([floor]))[2]?.slice(3, 5)).toEqual(['–', '–']);
  expect(cellsOf(rateTable([ceiling]))[2]?.[1]).toBe('–');
  expect(cellsOf(spaceTable([ceiling]))[2]?.slice(-2)).toEqual(['300 (300–300)', '–']);
});

test('CPU time and memory are told by part, and a dash where the system does not tell', () => {
  const round = madeUpRound({ cpuPerEvent: { all: 161, API: 76 }, memoryBytes: { API: 120e6, Redis: 30.4e6 } });
  const [told, untold] = [summarize(WEIR, [round]), summarize(WEIR, [madeUpRound()])];
  expect(cellsOf(cpuTable([told]))[2]?.slice(0, 4)).toEqual(['Weir', '161 (161–161)', '76 (76–76)', '–']);
  expect(cellsOf(spaceTable([told]))[2]?.slice(0, 5)).toEqual(['Weir', '120 (120–120)', '–', '–', '30 (30–30)']);
  expect(cellsOf(cpuTable([untold]))[2]?.slice(1, 3)).toEqual(['–', '–']);
});

test('a ratio is made of the same round, and none is made of what was not run', () => {
  const at = (...rates: number[]) => rates.map((requestsPerSecond) => madeUpRound({ requestsPerSecond }));
  const rounds = new Map([
    ['weir-single', at(10_000, 5_000)],
    ['floor', at(50_000, 20_000)],
  ]);
  const ratios = ratiosOf(rounds);
  expect(ratios.weirToFloor?.median).toBeCloseTo(0.225);
  expect(ratios.weirToJobPerRequest).toBeNull();
  expect(sentencesOf(ratios)).toEqual(['Weir answers 23 % of the requests that a bare route does.']);
});

test('the noise is that of the worst round', () => {
  expect(noiseSentence([0.02, 0.31, 0.1].map((busyElsewhere) => madeUpRound({ busyElsewhere })))).toContain('31 %');
});
