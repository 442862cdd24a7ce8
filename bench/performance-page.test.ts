import { expect, test } from 'vitest';
import { madeUpResults, madeUpRound } from './made-up-results.ts';
import { performancePage, whyNoPage } from './performance-page.ts';

const rounds = [madeUpRound({ cpuPerEvent: { all: 150 }, postgresBytesPerEvent: 400, busyElsewhere: 0.31 })];
const WEIR_SINGLE = { name: 'weir-single', title: 'Weir, one event a request', rounds };
const measured = {
  throughput: [WEIR_SINGLE],
  rates: [{ sharePercent: 50, rounds: [madeUpRound({ cpuPerEvent: { all: 300 } })] }],
  redis: [{ events: 90_000, claimBytes: 150, stagedBytes: 375 }],
  reading: [{ events: 1_000_000, databaseBytes: 1e8, readings: [], stallMs: { median: 9, min: 8, max: 10 } }],
};

const headingsOf = (page: string) => page.split('\n').filter((line) => line.startsWith('#'));
const rowOf = (page: string, title: string) =>
  page
    .split('\n')
    .find((line) => line.startsWith(`| ${title} `))
    ?.replaceAll(/ +/g, ' ');
/** The page without its tables and its code. */
const proseOf = (page: string) =>
  page
    .replaceAll(/```.*?```/gs, '')
    .split('\n')
    .filter((line) => !line.startsWith('|'));

test('the page says what was measured, when, where and how', () => {
  const page = performancePage(madeUpResults({ ...measured, command: 'npm run bench -- --rounds 3' }));
  expect(page).toContain('```sh\nnpm run bench -- --rounds 3\n```');
  expect(rowOf(page, 'build')).toBe('| build | Weir abc1234 |');
  expect(rowOf(page, 'date')).toBe('| date | 2026-11-22 |');
  expect(rowOf(page, 'machine')).toContain('2 cores (Some CPU), 24 GB');
  expect(rowOf(page, 'versions')).toContain('Node v20.20.2, Postgres 18.4, Redis 7.0');
  expect(rowOf(page, 'noise')).toContain('31 %');
});

test('a run beside other programs is no page, and says so', () => {
  expect(whyNoPage(madeUpResults(measured))).toMatch(/other programs used 31 % .* at rest/);
  const quiet = [madeUpRound({ busyElsewhere: 0.2 })];
  expect(whyNoPage(madeUpResults({ throughput: [{ ...WEIR_SINGLE, rounds: quiet }] }))).toBeUndefined();
});

test('what was not measured is left out', () => {
  expect(headingsOf(performancePage(madeUpResults()))).toEqual(['# Performance', '## How to repeat it']);
  expect(headingsOf(performancePage(madeUpResults(measured)))).toEqual([
    '# Performance',
    '## How fast',
    '### At fixed rates',
    '### Reading',
    '## What it costs',
    '## How to size it',
    '## Aims',
    '## How to repeat it',
  ]);
});

test('sizes are those of the events that were measured', () => {
  const page = performancePage(madeUpResults(measured));
  // 0.3 cores at half of the top rate; 400 bytes × 30 days; claims of a day in half of the memory.
  expect(rowOf(page, '1,000')).toBe('| 1,000 | 0.30 | – | 1036.8 | 25.92 |');
  expect(page).toContain('claims    = events/s × claim lifetime in s × 150\n');
  expect(page).toContain('waiting   = events/s × seconds that Postgres may be away × 375\n');
  expect(page).toContain('maxmemory = the larger of claims ÷ 0.5 and (claims + waiting) ÷ 0.75\n');
});

test('the prose has no figures but settings and what was measured, and is wrapped', () => {
  const prose = proseOf(performancePage(madeUpResults(measured)));
  const throughput = ['201', '1,000', '2,000', '201'];
  const reading = ['1,000', '10', '90', '2,000', '0.1', '1,000,000'];
  const sizes = ['24', '10', '150', '375'];
  expect(prose.join(' ').match(/\d[\d,.]*(?<=\d)/g)).toEqual([...throughput, ...reading, ...sizes]);
  expect(Math.max(...prose.map((line) => line.length))).toBeLessThanOrEqual(110);
});
