import { expect, test } from 'vitest';
import { monthOf } from './month-counts.ts';

test('an event is counted in the month in which it was received, in UTC, to the millisecond', () => {
  const monthAt = (time: string) => monthOf(Date.parse(time));
  expect(monthAt('2026-11-30T23:59:59.999Z')).toBe('2026-11');
  expect(monthAt('2026-12-01T00:00:00.000Z')).toBe('2026-12');
  // Back again: the clocks of two processes do not agree to the millisecond.
  expect(monthAt('2026-11-30T23:59:59.999Z')).toBe('2026-11');
  expect(monthAt('2026-12-31T23:59:59.999Z')).toBe('2026-12');
  expect(monthAt('2027-01-01T00:00:00.000Z')).toBe('2027-01');
});
