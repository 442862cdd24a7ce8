import { expect, test } from 'vitest';
import { backoffMs, parseRetryAfter } from './retry.ts';

test('the wait is anywhere below a limit that doubles up to ten seconds', () => {
  for (const [tries, limit] of [
    [0, 250],
    [3, 2000],
    [20, 10_000],
  ] as const) {
    const waits = Array.from({ length: 1000 }, () => backoffMs(tries));
    expect(Math.max(...waits)).toBeLessThan(limit);
    expect(Math.max(...waits)).toBeGreaterThan(limit * 0.9);
    expect(Math.min(...waits)).toBeLessThan(limit * 0.1);
  }
});

test('Retry-After is read as seconds or as a date, and left out when it is neither', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  expect(parseRetryAfter('7', now)).toBe(7000);
  expect(parseRetryAfter('Thu, 01 Jan 2026 00:00:30 GMT', now)).toBe(30_000);
  expect(parseRetryAfter('Wed, 31 Dec 2025 00:00:00 GMT', now)).toBe(0);
  expect(parseRetryAfter('soon', now)).toBeUndefined();
  expect(parseRetryAfter(null, now)).toBeUndefined();
});
