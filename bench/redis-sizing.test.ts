import { expect, test } from 'vitest';
import { maxmemoryFor } from './redis-sizing.ts';

test('all claims have room in half of the memory, and what is staged as well in three quarters', () => {
  const need = { eventsPerSecond: 1_000, claimSeconds: 3_600, awaySeconds: 60 };
  expect(maxmemoryFor({ claimBytes: 150, stagedBytes: 0 }, need)).toBe((1_000 * 3_600 * 150) / 0.5);
  expect(maxmemoryFor({ claimBytes: 0, stagedBytes: 300 }, need)).toBe((1_000 * 60 * 300) / 0.75);
  const long = { ...need, awaySeconds: 3_600 };
  expect(maxmemoryFor({ claimBytes: 150, stagedBytes: 300 }, long)).toBe((1_000 * 3_600 * 450) / 0.75);
});
