import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Warnings } from './warnings.ts';

let said: string[];
let warnings: Warnings;

beforeEach(() => {
  vi.useFakeTimers();
  said = [];
  warnings = new Warnings((message) => said.push(message));
});
afterEach(() => {
  vi.useRealTimers();
});

test('three thousand alike are one warning now and one a minute later, with their number', () => {
  for (let n = 0; n < 3_000; n += 1) warnings.warn('refused', `event ${n} was refused`);
  expect(said).toEqual(['event 0 was refused']);
  vi.advanceTimersByTime(60_000);
  expect(said.slice(1)).toEqual(['event 2999 was refused (and 2998 more like it since the last warning)']);
});

test('while they go on it is said every minute, and after a quiet one at once again', () => {
  warnings.warn('refused', 'first');
  for (let minute = 0; minute < 3; minute += 1) {
    warnings.warn('refused', `in minute ${minute}`);
    vi.advanceTimersByTime(60_000);
  }
  vi.advanceTimersByTime(60_000);
  warnings.warn('refused', 'after a quiet minute');
  expect(said).toEqual(['first', 'in minute 0', 'in minute 1', 'in minute 2', 'after a quiet minute']);
});

test('other kinds are said by themselves, and what was counted is said at the end', () => {
  for (const kind of ['refused', 'line', 'refused', 'line', 'refused'] as const) warnings.warn(kind, `a ${kind}`);
  warnings.flush();
  expect(said).toEqual(['a refused', 'a line', 'a refused (and 1 more like it since the last warning)', 'a line']);
  vi.advanceTimersByTime(120_000);
  expect(said).toHaveLength(4);
});
