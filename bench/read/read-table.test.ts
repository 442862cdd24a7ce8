import { expect, test } from 'vitest';
import { readTable } from './read-table.ts';

test('each question is a row, and each size has columns of its own, first and again', () => {
  const latency = (p99Ms: number) => ({ p50Ms: 1.24, p99Ms });
  const results = [100_000, 20_000_000].map((events) => ({
    events,
    databaseBytes: 1,
    stallMs: { median: 1, min: 1, max: 1 },
    readings: [{ title: 'events', first: latency(events / 1e5), again: latency(events / 1e6) }],
  }));
  const rows = readTable(results)
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()));
  expect(rows[0]?.slice(1, -1)).toEqual([
    'ms',
    '100,000 events: first p50',
    'first p99',
    'again p50',
    'again p99',
    '20,000,000 events: first p50',
    'first p99',
    'again p50',
    'again p99',
  ]);
  expect(rows[2]?.slice(1, -1)).toEqual(['events', '1.2', '1.0', '1.2', '0.1', '1.2', '200.0', '1.2', '20.0']);
});
