import { isoOf, microsOf, parseInstant, type Micros } from '@weir/shared/instant';
import { describe, expect, test } from 'vitest';
import { dateOf } from './local-date.ts';
import { boundary, cycleAt, dateOfStep, type Interval, periodAt, type Schedule, stepOfDate } from './periods.ts';

function at(text: string): Micros {
  const instant = parseInstant(text);
  if ('problem' in instant) throw new Error(instant.problem);
  return microsOf(instant);
}

function scheduleFrom(
  start: string,
  interval: Interval,
  timeZone = 'UTC',
  alignment: Schedule['alignment'] = 'anniversary',
): Schedule {
  const firstInstant = at(start);
  return { timeZone, interval, alignment, anchor: dateOf(timeZone, firstInstant), firstInstant, firstCycle: 0 };
}

function boundaries(schedule: Schedule, count: number): string[] {
  return Array.from({ length: count }, (_, cycle) => isoOf(boundary(schedule, schedule.firstCycle + cycle)));
}

describe('section 5: boundary n is counted from the anchor, never from the boundary before', () => {
  test.each<[string, Interval, string[]]>([
    ['2026-01-31T00:00:00Z', 'month', ['2026-01-31', '2026-02-28', '2026-03-31', '2026-04-30', '2026-05-31']],
    ['2024-01-30T00:00:00Z', 'month', ['2024-01-30', '2024-02-29', '2024-03-30', '2024-04-30']],
    ['2024-02-29T00:00:00Z', 'year', ['2024-02-29', '2025-02-28', '2026-02-28', '2027-02-28', '2028-02-29']],
    ['2026-11-20T00:00:00Z', 'week', ['2026-11-20', '2026-11-27', '2026-12-04']],
    ['2026-12-30T00:00:00Z', 'day', ['2026-12-30', '2026-12-31', '2027-01-01']],
  ])('from %s by the %s', (start, interval, dates) => {
    expect(boundaries(scheduleFrom(start, interval), dates.length)).toEqual(
      dates.map((date) => `${date}T00:00:00.000Z`),
    );
  });

  test('a far boundary is clamped from the anchor too', () => {
    expect(isoOf(boundary(scheduleFrom('2024-01-31T00:00:00Z', 'month'), 999))).toBe('2107-04-30T00:00:00.000Z');
  });
});

describe('section 5: calendar periods begin on the first of the month, Monday, 1 January, at midnight', () => {
  test.each<[string, Interval, string[]]>([
    ['2026-11-20T10:00:00Z', 'month', ['2026-11-20T10:00', '2026-12-01T00:00', '2027-01-01T00:00']],
    ['2026-11-01T10:00:00Z', 'month', ['2026-11-01T10:00', '2026-12-01T00:00', '2027-01-01T00:00']],
    // A Friday, a Monday and a Sunday.
    ['2026-11-20T10:00:00Z', 'week', ['2026-11-20T10:00', '2026-11-23T00:00', '2026-11-30T00:00']],
    ['2026-11-23T10:00:00Z', 'week', ['2026-11-23T10:00', '2026-11-30T00:00', '2026-12-07T00:00']],
    ['2026-11-22T10:00:00Z', 'week', ['2026-11-22T10:00', '2026-11-23T00:00', '2026-11-30T00:00']],
    ['2026-11-20T10:00:00Z', 'year', ['2026-11-20T10:00', '2027-01-01T00:00', '2028-01-01T00:00']],
    ['2026-11-20T10:00:00Z', 'day', ['2026-11-20T10:00', '2026-11-21T00:00', '2026-11-22T00:00']],
  ])('from %s by the %s', (start, interval, times) => {
    const schedule = scheduleFrom(start, interval, 'UTC', 'calendar');
    expect(boundaries(schedule, 3)).toEqual(times.map((time) => `${time}:00.000Z`));
  });
});

describe('section 5: period 0 begins at the instant of the start, all later ones at midnights of the zone', () => {
  test('in New York, over both changes of the clock', () => {
    const schedule = scheduleFrom('2026-02-15T17:30:12.345678Z', 'month', 'America/New_York');
    expect(boundaries(schedule, 3)).toEqual([
      '2026-02-15T17:30:12.345678Z',
      '2026-03-15T04:00:00.000Z',
      '2026-04-15T04:00:00.000Z',
    ]);
    expect(isoOf(boundary(schedule, 9))).toBe('2026-11-15T05:00:00.000Z');
  });

  test('where midnight is skipped a period begins at the end of the gap, where it comes twice at the first', () => {
    expect(isoOf(boundary(scheduleFrom('2018-10-04T12:00:00Z', 'month', 'America/Sao_Paulo'), 1))).toBe(
      '2018-11-04T03:00:00.000Z',
    );
    expect(isoOf(boundary(scheduleFrom('2026-10-01T12:00:00Z', 'month', 'America/Havana'), 1))).toBe(
      '2026-11-01T04:00:00.000Z',
    );
  });

  test('a start in the hour that is lived again over midnight has its own date first', () => {
    // 03:01 UTC shows 23:31 of the 28th in St John's, after the 29th has begun.
    const schedule = scheduleFrom('2006-10-29T03:01:00Z', 'day', 'America/St_Johns');
    expect(boundaries(schedule, 3)).toEqual([
      '2006-10-29T03:01:00.000Z',
      '2006-10-30T03:30:00.000Z',
      '2006-10-31T03:30:00.000Z',
    ]);
  });
});

describe('a date that the zone left out is nobody’s period', () => {
  test('by the day it is passed over, so that no period is empty', () => {
    const apia = scheduleFrom('2011-12-28T20:00:00Z', 'day', 'Pacific/Apia');
    expect(apia.anchor).toBe('2011-12-28');
    expect(boundaries(apia, 4)).toEqual([
      '2011-12-28T20:00:00.000Z',
      '2011-12-29T10:00:00.000Z',
      // The 31st follows the 29th.
      '2011-12-30T10:00:00.000Z',
      '2011-12-31T10:00:00.000Z',
    ]);
    expect(boundaries(scheduleFrom('1993-08-20T12:00:00Z', 'day', 'Pacific/Kwajalein'), 3)).toEqual([
      '1993-08-20T12:00:00.000Z',
      '1993-08-21T12:00:00.000Z',
      '1993-08-22T12:00:00.000Z',
    ]);
  });

  test('by the month a boundary on it comes with the next date, and later ones on the day of the anchor', () => {
    const apia = scheduleFrom('2011-11-30T20:00:00Z', 'month', 'Pacific/Apia');
    expect(boundaries(apia, 3)).toEqual([
      '2011-11-30T20:00:00.000Z',
      '2011-12-30T10:00:00.000Z',
      '2012-01-29T10:00:00.000Z',
    ]);
  });
});

test('steps lead back from the anchor as they lead on', () => {
  const calendar = {
    timeZone: 'Pacific/Apia',
    interval: 'day',
    alignment: 'anniversary',
    anchor: '2012-01-01',
  } as const;
  const dates = ['2011-12-28', '2011-12-29', '2011-12-31', '2012-01-01', '2012-01-02'];
  expect([-3, -2, -1, 0, 1].map((steps) => dateOfStep(calendar, steps))).toEqual(dates);
  expect(dates.map((date) => stepOfDate(calendar, date))).toEqual([-3, -2, -1, 0, 1]);
  const monthly = { ...calendar, interval: 'month', anchor: '2026-01-31' } as const;
  expect([-2, -1, 0, 1].map((steps) => dateOfStep(monthly, steps))).toEqual([
    '2025-11-30',
    '2025-12-31',
    '2026-01-31',
    '2026-02-28',
  ]);
  expect(stepOfDate(monthly, '2025-12-30')).toBe(-2);
});

test('a new anchor counts on from its own cycle', () => {
  const schedule = { ...scheduleFrom('2026-05-31T00:00:00Z', 'month'), firstCycle: 7 };
  expect(boundaries(schedule, 3)).toEqual([
    '2026-05-31T00:00:00.000Z',
    '2026-06-30T00:00:00.000Z',
    '2026-07-31T00:00:00.000Z',
  ]);
  expect(cycleAt(schedule, at('2026-07-31T00:00:00Z'))).toBe(9);
  expect(periodAt(schedule, 8)).toEqual({ start: boundary(schedule, 8), end: boundary(schedule, 9) });
});

describe('section 5: an instant at a boundary belongs to the period that begins there', () => {
  test.each<[Interval, Schedule['alignment']]>([
    ['day', 'anniversary'],
    ['week', 'anniversary'],
    ['week', 'calendar'],
    ['month', 'anniversary'],
    ['month', 'calendar'],
    ['year', 'anniversary'],
    ['year', 'calendar'],
  ])('by the %s, %s', (interval, alignment) => {
    const schedule = scheduleFrom('2024-02-29T20:15:00Z', interval, 'America/Havana', alignment);
    for (const cycle of [0, 1, 2, 11, 12, 13, 40]) {
      const { start, end } = periodAt(schedule, cycle);
      expect(cycleAt(schedule, start)).toBe(cycle);
      expect(cycleAt(schedule, end - 1)).toBe(cycle);
      expect(cycleAt(schedule, end)).toBe(cycle + 1);
    }
  });
});

test('there is no period before the first', () => {
  const schedule = { ...scheduleFrom('2026-05-31T12:00:00Z', 'month'), firstCycle: 3 };
  expect(() => boundary(schedule, 2)).toThrow('no period 2 before 3');
  expect(() => boundary(schedule, 3.5)).toThrow('no period 3.5');
  expect(() => cycleAt(schedule, at('2026-05-31T11:59:59Z'))).toThrow('before the first period');
  expect(cycleAt(schedule, at('2026-05-31T12:00:00Z'))).toBe(3);
});
