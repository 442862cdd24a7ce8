import { expect, test } from 'vitest';
import { isoOf } from './instant.ts';
import { monthIn, monthsOf, utcMonthOf } from './months.ts';

const at = (text: string) => Date.parse(text) * 1000;

test.each([
  ['UTC', '2026-11-23T12:00:00Z', '2026-11-01T00:00:00.000Z', '2026-10-01T00:00:00.000Z'],
  ['UTC', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000Z', '2025-12-01T00:00:00.000Z'],
  // Daylight saving begins and ends in between.
  ['Europe/Berlin', '2026-11-01T00:00:00+01:00', '2026-10-31T23:00:00.000Z', '2026-09-30T22:00:00.000Z'],
  ['Europe/Berlin', '2026-10-31T23:59:59.999+01:00', '2026-09-30T22:00:00.000Z', '2026-08-31T22:00:00.000Z'],
  ['Asia/Kathmandu', '2026-03-01T00:00:00+05:45', '2026-02-28T18:15:00.000Z', '2026-01-31T18:15:00.000Z'],
])('in %s the month of %s began at %s, and the one before at %s', (zone, text, start, before) => {
  const months = monthsOf(zone, at(text));
  expect([isoOf(months.now.start), isoOf(months.before.start)]).toEqual([start, before]);
});

test('a month has all of its days, of which some are longer than others', () => {
  const { now, before } = monthsOf('Europe/Berlin', at('2026-03-31T12:00:00Z'));
  expect([now.days.length, before.days.length]).toEqual([31, 28]);
  const hours = now.days.map((start, day) => ((now.days[day + 1] ?? start) - start) / 3_600_000_000);
  expect(hours.filter((each) => each !== 24)).toEqual([23, 0]);
  expect(hours[28]).toBe(23);
});

test('an event is counted in the month in which it was received, in UTC, to the millisecond', () => {
  const monthAt = (time: string) => utcMonthOf(Date.parse(time));
  expect(monthAt('2026-11-30T23:59:59.999Z')).toBe('2026-11');
  expect(monthAt('2026-12-01T00:00:00.000Z')).toBe('2026-12');
  // Back again: the clocks of two processes do not agree to the millisecond.
  expect(monthAt('2026-11-30T23:59:59.999Z')).toBe('2026-11');
  expect(monthAt('2026-12-31T23:59:59.999Z')).toBe('2026-12');
  expect(monthAt('2027-01-01T00:00:00.000Z')).toBe('2027-01');
});

test('a month that clocks show is known by its name, and ends where the next one begins', () => {
  const shown = (zone: string, text: string) => {
    const { name, start, end } = monthIn(zone, at(text));
    return [name, isoOf(start), isoOf(end)];
  };
  expect(shown('Europe/Berlin', '2026-03-31T21:59:59.999Z')).toEqual([
    '2026-03',
    '2026-02-28T23:00:00.000Z',
    '2026-03-31T22:00:00.000Z',
  ]);
  expect(shown('Europe/Berlin', '2026-12-31T23:00:00Z')[0]).toBe('2027-01');
  // A moment before 1970, which is a part of a millisecond.
  expect(monthIn('UTC', -1).name).toBe('1969-12');
});
