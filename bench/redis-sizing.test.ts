import { expect, test } from 'vitest';
import { maxmemoryFor, sizingText } from './redis-sizing.ts';

test('what is needed is the claims that live at once and what is staged, in three quarters of the memory', () => {
  const need = { eventsPerSecond: 1_000, claimSeconds: 3_600, awaySeconds: 60 };
  expect(maxmemoryFor({ claimBytes: 150, stagedBytes: 0 }, need)).toBe((1_000 * 3_600 * 150) / 0.75);
  expect(maxmemoryFor({ claimBytes: 0, stagedBytes: 300 }, need)).toBe((1_000 * 60 * 300) / 0.75);
});

test('the formula has the figures that were measured', () => {
  const text = sizingText({ events: 90_000, claimBytes: 150, stagedBytes: 375 });
  expect(text).toContain(
    'maxmemory = events/s × (claim lifetime in s × 150 + seconds that Postgres may be away × 375) ÷ 0.75',
  );
  expect(text).toContain('1,000 events/s, claims of 24 h: 17.6 GB');
});
