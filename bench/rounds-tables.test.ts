import { expect, test } from 'vitest';
import { madeUpRound } from './made-up-results.ts';
import { costTable, growthTable, memoryTable, ratesTable, throughputTable } from './rounds-tables.ts';

/** The cells of a table's only row, by the head of their column. */
function cellsOf(table: string): Record<string, string> {
  const [head = [], , row = []] = table.split('\n').map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return Object.fromEntries(head.map((name, index) => [name, row[index] ?? '']));
}

test('a table has medians with the lowest and the highest round', () => {
  const rounds = [9_000, 8_000, 12_000].map((requestsPerSecond) => madeUpRound({ requestsPerSecond }));
  expect(cellsOf(throughputTable([{ title: 'Weir', rounds }]))).toMatchObject({
    pattern: 'Weir',
    'requests/s': '9,000 (8,000–12,000)',
    'p99 ms': '2.0',
  });
});

test('what a pattern does not do is a dash, and not zero', () => {
  const none = { requestsPerSecond: null, recordedPerSecond: null, backlog: null, postgresBytesPerEvent: null };
  const rows = [{ title: 'none', rounds: [madeUpRound({ ...none, redisBytesPerEvent: null })] }];
  const rates = cellsOf(throughputTable(rows));
  expect([rates['requests/s'], rates['events/s recorded'], rates['backlog']]).toEqual(['–', '–', '–']);
  expect(cellsOf(costTable(rows))).toMatchObject({ 'bytes in Postgres': '–', 'bytes in Redis': '–' });
});

test('CPU time and memory are told by component, and a dash where the system does not tell', () => {
  const round = madeUpRound({ cpuPerEvent: { all: 161, API: 76 }, memoryBytes: { API: 120e6, Redis: 30.4e6 } });
  const told = [{ title: 'Weir', rounds: [round] }];
  expect(cellsOf(costTable(told))).toMatchObject({ 'CPU µs, all but the load': '161', API: '76', worker: '–' });
  expect(cellsOf(memoryTable(told))).toMatchObject({ API: '120', worker: '–', Redis: '30' });
  expect(cellsOf(costTable([{ title: 'Weir', rounds: [madeUpRound()] }]))).toMatchObject({ API: '–' });
});

test('what was not answered with 201, and what was never sent, is told of all rounds', () => {
  const rounds = [
    madeUpRound({ duePerSecond: 4_000, latencyMs: { p50: 1, p99: 5, p999: 9 }, unsent: 2, errors: { 503: 3 } }),
    madeUpRound({ duePerSecond: 5_000, latencyMs: { p50: 3, p99: 8, p999: 90 }, unsent: 0, errors: { broken: 1 } }),
    madeUpRound({ duePerSecond: 4_500, latencyMs: { p50: 2, p99: 6, p999: 10 }, unsent: 1 }),
  ];
  expect(cellsOf(ratesTable([{ sharePercent: 50, rounds }]))).toMatchObject({
    'of the top rate': '50 %',
    'due/s': '4,500 (4,000–5,000)',
    'p99 ms': '6.0 (5.0–8.0)',
    'not 201': '4',
    'never sent': '3',
  });
});

test('each case of growth is a row', () => {
  const rounds = [madeUpRound({ recordedPerSecond: 7_000 }), madeUpRound({ recordedPerSecond: 9_000 })];
  expect(cellsOf(growthTable([{ title: 'one customer', rounds }]))).toMatchObject({
    'what there is': 'one customer',
    'events/s recorded': '8,000 (7,000–9,000)',
  });
});
