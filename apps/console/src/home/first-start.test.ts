import { expect, test } from 'vitest';
import { firstStart } from './first-start.ts';

const now = new Date('2026-11-30T23:30:00Z');

test.each([
  ['an event of this month', '2026-11-12T10:00:00Z', 'UTC', '2026-11-12'],
  ['one of the month before', '2026-10-31T23:59:59Z', 'UTC', '2026-11-01'],
  ['one of a year that was imported', '2025-03-04T10:00:00Z', 'UTC', '2026-11-01'],
  ['one before the month that it is in the zone', '2026-11-30T12:00:00Z', 'Asia/Tokyo', '2026-12-01'],
  ['one after midnight in the zone', '2026-11-30T15:30:00Z', 'Asia/Tokyo', '2026-12-01'],
])('a first subscription begins with %s, or with the month', (_, event, zone, day) => {
  expect(firstStart(new Date(event), zone, now)).toBe(day);
});
