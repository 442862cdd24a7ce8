import { expect, test } from 'vitest';
import { WeirError } from './error.ts';
import { backoffMs, parseRetryAfter, withRetries } from './retry.ts';

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

const shed = { status: 503, code: 'unavailable', outcome: 'not_accepted' } as const;
const doubtful = { ...shed, outcome: 'unknown' } as const;
const cut = { status: 0, code: 'network_error' };
const limited = { status: 429, code: 'rate_limited' };

test.each([
  ['not_accepted', [limited, shed]],
  ['unknown', [doubtful, shed]],
  ['unknown', [cut, shed]],
  ['unknown', [shed, doubtful]],
  ['unknown', [cut, limited]],
])('what is thrown is told of all attempts: %s', async (told, failures) => {
  let tries = 0;
  const attempt = () => Promise.reject(new WeirError({ detail: 'no', ...failures[tries++]! }));
  await expect(withRetries(attempt, { retries: 1 })).rejects.toMatchObject({ outcome: told });
  expect(tries).toBe(2);
});
