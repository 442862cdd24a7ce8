import { expect, test } from 'vitest';
import { readTable } from './read-table.ts';

test('each question is a row, and each size has columns of its own', () => {
  const reading = { title: 'events', p50Ms: 1.24, p99Ms: 3 };
  const results = [100_000, 20_000_000].map((events) => ({
    events,
    databaseBytes: 1,
    stallMs: { median: 1, min: 1, max: 1 },
    readings: [{ ...reading, p99Ms: events / 1e6 }],
  }));
  const rows = readTable(results)
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()));
  expect(rows[0]?.slice(1, -1)).toEqual([
    'ms',
    'p50, 100,000 events',
    'p99, 100,000 events',
    'p50, 20,000,000 events',
    'p99, 20,000,000 events',
  ]);
  expect(rows[2]?.slice(1, -1)).toEqual(['events', '1.2', '0.1', '1.2', '20.0']);
});
