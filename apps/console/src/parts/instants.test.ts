import { expect, test } from 'vitest';
import { addDays, dateIn, daysBetween, formatAgo, formatInstant } from './instants.ts';

test('an instant is shown in the zone that is asked for', () => {
  expect(formatInstant('2026-11-23T23:05:09Z', 'UTC')).toBe('23 Nov 2026, 23:05:09');
  expect(formatInstant('2026-11-23T23:05:09Z', 'Asia/Tokyo')).toBe('24 Nov 2026, 08:05:09');
  expect(dateIn('Asia/Tokyo', new Date('2026-11-23T23:05:09Z'))).toBe('2026-11-24');
});

test('what is near is told by its distance, and what is far by its date', () => {
  const now = Date.parse('2026-11-23T12:00:00Z');
  expect(formatAgo('2026-11-23T11:59:15Z', now)).toBe('45 seconds ago');
  expect(formatAgo('2026-11-23T09:00:00Z', now)).toBe('3 hours ago');
  expect(formatAgo('2026-11-22T12:00:00Z', now)).toBe('yesterday');
  expect(formatAgo('2026-01-01T12:00:00Z', now)).toBe('1 Jan 2026');
});

test('days are counted over the change of a clock, a month and a year', () => {
  expect(addDays('2026-03-28', 2)).toBe('2026-03-30');
  expect(addDays('2026-01-01', -1)).toBe('2025-12-31');
  expect(daysBetween('2026-10-24', '2026-10-26')).toBe(3);
});
