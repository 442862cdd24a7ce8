import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SparseLog } from './sparse-log.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function openLog() {
  const lines: unknown[] = [];
  const log = { warn: (fields: object, message: string) => lines.push({ ...fields, message }) };
  const sparse = new SparseLog();
  const warn = (kind: string, n?: number) => sparse.warn(log, kind, { kind, n }, 'away');
  /** What was written since it was asked last. */
  const written = () => lines.splice(0);
  return { warn, written };
}

test('of many equal warnings the first and the last are written, with how many there were between', () => {
  const { warn, written } = openLog();
  for (let n = 1; n <= 1_000; n += 1) warn('redis', n);
  warn('postgres');
  expect(written()).toEqual([
    { kind: 'redis', n: 1, message: 'away' },
    { kind: 'postgres', message: 'away' },
  ]);
  // Nothing follows: what was left out is said all the same.
  vi.advanceTimersByTime(60_000);
  expect(written()).toEqual([{ kind: 'redis', n: 1_000, message: 'away', alike: 998 }]);
  warn('redis', 1_001);
  expect(written()).toEqual([{ kind: 'redis', n: 1_001, message: 'away' }]);
});

test('while they go on fewer and fewer are written, none is lost, and after a quiet time one is news again', () => {
  const { warn, written } = openLog();
  const at: number[] = [];
  let told = 0;
  for (let second = 0; second < 300; second += 1) {
    warn('redis');
    vi.advanceTimersByTime(1_000);
    for (const line of written()) {
      at.push(second);
      told += 1 + ((line as { alike?: number }).alike ?? 0);
    }
  }
  // The first at once, the others at the ends of 1, 2, 4 … and then 60 seconds.
  expect(at.length).toBeLessThan(12);
  vi.advanceTimersByTime(60_000);
  for (const line of written()) told += 1 + ((line as { alike?: number }).alike ?? 0);
  expect(told).toBe(300);
  vi.advanceTimersByTime(120_000);
  for (const ms of [0, 999, 1_000]) {
    vi.advanceTimersByTime(ms);
    warn('redis');
  }
  expect(written()).toHaveLength(2);
});
