import { expect, test } from 'vitest';
import {
  addDays,
  dateIn,
  daysBetween,
  formatAgo,
  formatDays,
  formatInstant,
  formatLastDay,
  formatMark,
  isDay,
  readDay,
  startOfDay,
} from './instants.ts';

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

test('a period is told by its first and its last day, in its own zone', () => {
  expect(formatDays('2026-10-31T23:00:00Z', '2026-11-30T23:00:00Z', 'Europe/Berlin')).toBe('1 Nov 2026 – 30 Nov 2026');
  expect(formatDays('2026-11-01T00:00:00Z', '2026-11-02T00:00:00Z', 'UTC')).toBe('1 Nov 2026');
  expect(formatLastDay('2026-11-30T23:00:00Z', 'Europe/Berlin')).toBe('30 Nov 2026');
  // Canceled in the middle of a day, that day is the last.
  expect(formatLastDay('2026-11-30T12:00:00Z', 'Europe/Berlin')).toBe('30 Nov 2026');
});

test('a day begins at its midnight where it is one, and as soon as it can where clocks skip that', () => {
  expect(startOfDay('2026-11-23', 'Europe/Berlin')).toBe('2026-11-22T23:00:00.000Z');
  expect(startOfDay('2026-03-29', 'Europe/Berlin')).toBe('2026-03-28T23:00:00.000Z');
  expect(startOfDay('2026-10-26', 'Europe/Berlin')).toBe('2026-10-25T23:00:00.000Z');
  expect(startOfDay('2026-11-23', 'Pacific/Auckland')).toBe('2026-11-22T11:00:00.000Z');
  // There the clocks of that night went from midnight to one.
  expect(startOfDay('2022-03-22', 'Asia/Tehran')).toBe('2022-03-21T20:30:00.000Z');
});

test('marks of an axis are as short as their distance allows', () => {
  expect(formatMark('2026-11-23T14:00:00Z', 3_600, 'UTC')).toBe('14:00');
  expect(formatMark('2026-11-23T00:00:00Z', 3_600, 'UTC')).toBe('23 Nov');
  expect(formatMark('2026-11-01T00:00:00Z', 30 * 86_400, 'UTC')).toBe('Nov 2026');
});

test('a day is read as people write it, and what may be two days is read as none', () => {
  for (const text of ['23 Nov 2026', '23 november 2026', 'Nov 23, 2026', '2026-11-23', '23.11.2026', '23. Nov. 2026']) {
    expect(readDay(text), text).toBe('2026-11-23');
  }
  for (const text of ['11/12/2026', '31 Feb 2026', '2026-13-01', '23 Nov', '23 Nov 20261', 'tomorrow', '']) {
    expect(readDay(text), text).toBeUndefined();
  }
  expect([isDay('2028-02-29'), isDay('2026-02-29'), isDay('23 Nov 2026')]).toEqual([true, false, false]);
});
