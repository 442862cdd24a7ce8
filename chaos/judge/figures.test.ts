import { expect, test } from 'vitest';
import { longestPause } from './figures.ts';

test('the longest pause of the door is one that begins or ends while a fault lasts', () => {
  const takenAt = [0, 900, 1_000, 1_100, 1_600, 1_700, 2_600, 5_000];
  expect(longestPause(takenAt, { at: 950, until: 1_650 })).toBe(500);
  // One that had begun before, and one that goes on after it.
  expect(longestPause(takenAt, { at: 500, until: 950 })).toBe(900);
  expect(longestPause(takenAt, { at: 1_650, until: 2_700 })).toBe(2_400);
  expect(longestPause([], { at: 0, until: 1_000 })).toBe(0);
});
