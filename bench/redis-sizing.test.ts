import { expect, test } from 'vitest';
import { maxmemoryFor } from './redis-sizing.ts';

test('what is needed is the claims that live at once and what is staged, in three quarters of the memory', () => {
  const need = { eventsPerSecond: 1_000, claimSeconds: 3_600, awaySeconds: 60 };
  expect(maxmemoryFor({ claimBytes: 150, stagedBytes: 0 }, need)).toBe((1_000 * 3_600 * 150) / 0.75);
  expect(maxmemoryFor({ claimBytes: 0, stagedBytes: 300 }, need)).toBe((1_000 * 60 * 300) / 0.75);
});
