import { isoOf, microsOf, parseInstant, type Micros } from '@weir/shared/instant';
import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import {
  addDays,
  addMonths,
  dateOf,
  datesLeftOut,
  daysBetween,
  firstInstantOfDate,
  monthsBetween,
  weekday,
} from './local-date.ts';

function at(text: string): Micros {
  const instant = parseInstant(text);
  if ('problem' in instant) throw new Error(instant.problem);
  return microsOf(instant);
}

describe('section 5: a month later is the same day, clamped to the length of the month', () => {
  test.each([
    ['2026-01-31', 1, '2026-02-28'],
    ['2024-01-31', 1, '2024-02-29'],
    ['2026-01-31', 2, '2026-03-31'],
    ['2026-01-31', 3, '2026-04-30'],
    ['2026-01-30', 1, '2026-02-28'],
    ['2026-03-31', -1, '2026-02-28'],
    ['2024-02-29', 12, '2025-02-28'],
    ['2024-02-29', 48, '2028-02-29'],
    ['2096-02-29', 48, '2100-02-28'],
    ['2026-12-15', 1, '2027-01-15'],
    ['2026-01-15', -1, '2025-12-15'],
    ['2026-01-15', 0, '2026-01-15'],
  ])('%s and %i months: %s', (from, months, to) => {
    expect(addMonths(from, months)).toBe(to);
  });
});

test('dates add up as those of another calendar do', () => {
  const dates = fc
    .integer({ min: -20_000, max: 80_000 })
    .map((days) => Temporal.PlainDate.from('1990-01-01').add({ days }));
  fc.assert(
    fc.property(dates, dates, fc.integer({ min: -2000, max: 2000 }), (a, b, step) => {
      expect(addDays(String(a), step)).toBe(String(a.add({ days: step })));
      expect(addMonths(String(a), step)).toBe(String(a.add({ months: step })));
      expect(daysBetween(String(a), String(b))).toBe(a.until(b, { largestUnit: 'day' }).days);
      expect(monthsBetween(String(a), String(b))).toBe((b.year - a.year) * 12 + b.month - a.month);
      expect(weekday(String(a))).toBe(a.dayOfWeek - 1);
    }),
  );
});

test.each(['2026-02-30', '2026-13-01', '2026-1-1', '', '2026-01-01T00:00:00Z', '2025-02-29', 'tomorrow'])(
  '%j is no date and throws',
  (text) => {
    expect(() => addDays(text, 1)).toThrow('not a date');
    expect(() => firstInstantOfDate('UTC', text)).toThrow('not a date');
  },
);

describe('section 5: the first instant of a date', () => {
  test.each([
    ['its midnight', 'Europe/Berlin', '2026-07-01', '2026-06-30T22:00:00.000Z'],
    ['the end of the gap where midnight is skipped', 'America/Sao_Paulo', '2018-11-04', '2018-11-04T03:00:00.000Z'],
    ['the same in Beirut', 'Asia/Beirut', '2022-03-27', '2022-03-26T22:00:00.000Z'],
    ['the same in Cairo', 'Africa/Cairo', '2023-04-28', '2023-04-27T22:00:00.000Z'],
    ['the same in Havana', 'America/Havana', '2026-03-08', '2026-03-08T05:00:00.000Z'],
    // Clocks were set from 01:00 to midnight: it is there at 04:00 and at 05:00 UTC.
    ['the first of two where midnight comes twice', 'America/Havana', '2026-11-01', '2026-11-01T04:00:00.000Z'],
    // Clocks were set from midnight to 23:00, so midnight came once, an hour later.
    ['after the hour that was lived again', 'America/Sao_Paulo', '2018-02-18', '2018-02-18T03:00:00.000Z'],
    ['the same in Cairo, in autumn', 'Africa/Cairo', '2023-10-27', '2023-10-26T22:00:00.000Z'],
    // Clocks were set from 00:01 to 23:01.
    ['the first of two, with the date before in between', 'America/St_Johns', '2006-10-29', '2006-10-29T02:30:00.000Z'],
    ['that of the next where a date was left out', 'Pacific/Apia', '2011-12-30', '2011-12-30T10:00:00.000Z'],
    ['which is that of the next', 'Pacific/Apia', '2011-12-31', '2011-12-30T10:00:00.000Z'],
  ])('is %s: %s, %s', (_title, zone, date, instant) => {
    expect(isoOf(firstInstantOfDate(zone, date))).toBe(instant);
  });
});

describe('the date of an instant is the latest that has begun', () => {
  test.each([
    ['Europe/Berlin', '2026-06-30T21:59:59.999999Z', '2026-06-30'],
    ['Europe/Berlin', '2026-06-30T22:00:00Z', '2026-07-01'],
    ['America/Sao_Paulo', '2018-11-04T02:59:59.999999Z', '2018-11-03'],
    ['America/Sao_Paulo', '2018-11-04T03:00:00Z', '2018-11-04'],
    ['America/Havana', '2026-11-01T04:30:00Z', '2026-11-01'],
    ['America/Havana', '2026-11-01T05:30:00Z', '2026-11-01'],
    // The clock shows 23:31 of the day before, once again.
    ['America/St_Johns', '2006-10-29T03:01:00Z', '2006-10-29'],
    ['Pacific/Apia', '2011-12-30T09:59:59.999999Z', '2011-12-29'],
    ['Pacific/Apia', '2011-12-30T10:00:00Z', '2011-12-31'],
    ['UTC', '1969-12-31T23:59:59.999999Z', '1969-12-31'],
  ])('in %s at %s: %s', (zone, instant, date) => {
    expect(dateOf(zone, at(instant))).toBe(date);
  });
});

describe('dates that a zone left out are found', () => {
  test.each([
    ['Pacific/Apia', '2011-12-01', '2012-01-31', ['2011-12-30']],
    ['Pacific/Apia', '2011-12-30', '2011-12-30', ['2011-12-30']],
    ['Pacific/Apia', '2011-12-01', '2011-12-29', []],
    ['Pacific/Apia', '2011-12-31', '2012-12-31', []],
    ['Pacific/Fakaofo', '2011-01-01', '2012-01-31', ['2011-12-30']],
    ['Pacific/Kwajalein', '1993-08-01', '1993-08-31', ['1993-08-21']],
    ['Pacific/Kiritimati', '1994-12-01', '1995-01-31', ['1994-12-31']],
    ['America/Sao_Paulo', '2018-01-01', '2018-12-31', []],
    // Clocks were set from 23:00 to midnight: the 30th was short, and there.
    ['America/Nuuk', '2024-03-01', '2024-04-30', []],
    ['UTC', '2000-01-01', '2026-12-31', []],
  ])('in %s from %s to %s', (zone, first, last, left) => {
    expect(datesLeftOut(zone, first, last)).toEqual(left);
  });
});

test('an unknown zone throws', () => {
  expect(() => dateOf('Mars/Olympus', 0)).toThrow(/time zone/i);
  expect(() => firstInstantOfDate('Mars/Olympus', '2026-01-01')).toThrow(/time zone/i);
});
