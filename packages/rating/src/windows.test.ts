import { isoOf, microsOf, parseInstant, type Micros } from '@weir/shared/instant';
import { describe, expect, test } from 'vitest';
import { dateOf } from './local-date.ts';
import { cycleAt, periodAt, type Interval, type Schedule } from './periods.ts';
import { entitlementWindow } from './windows.ts';

function at(text: string): Micros {
  const instant = parseInstant(text);
  if ('problem' in instant) throw new Error(instant.problem);
  return microsOf(instant);
}

function windowAt(
  reset: 'hour' | Interval | null,
  now: string,
  {
    timeZone = 'UTC',
    anchor = '2026-01-31',
    since = '2000-01-01T00:00:00Z',
    alignment = 'anniversary',
  }: { timeZone?: string; anchor?: string; since?: string; alignment?: Schedule['alignment'] } = {},
): string {
  const { start, end } = entitlementWindow({ timeZone, anchor, alignment }, reset, at(now), at(since));
  return `${isoOf(start).slice(0, 16)} ${end === null ? 'never' : isoOf(end).slice(0, 16)}`;
}

describe('section 14: windows are counted from the anchor as periods are', () => {
  test.each<[Interval, string, string]>([
    ['month', '2026-02-28T00:00:00Z', '2026-02-28T00:00 2026-03-31T00:00'],
    ['month', '2026-03-30T23:59:59.999999Z', '2026-02-28T00:00 2026-03-31T00:00'],
    ['month', '2026-03-31T00:00:00Z', '2026-03-31T00:00 2026-04-30T00:00'],
    // 31 January was a Saturday.
    ['week', '2026-02-07T00:00:00Z', '2026-02-07T00:00 2026-02-14T00:00'],
    ['week', '2026-02-06T23:00:00Z', '2026-01-31T00:00 2026-02-07T00:00'],
    ['day', '2026-02-06T23:00:00Z', '2026-02-06T00:00 2026-02-07T00:00'],
    ['year', '2027-01-30T12:00:00Z', '2026-01-31T00:00 2027-01-31T00:00'],
    ['year', '2027-01-31T12:00:00Z', '2027-01-31T00:00 2028-01-31T00:00'],
  ])('%s at %s: %s', (reset, now, window) => {
    expect(windowAt(reset, now)).toBe(window);
  });

  test.each<[Interval, string]>([
    ['month', '2026-02-01T00:00 2026-03-01T00:00'],
    ['week', '2026-02-16T00:00 2026-02-23T00:00'],
    ['day', '2026-02-20T00:00 2026-02-21T00:00'],
    ['year', '2026-01-01T00:00 2027-01-01T00:00'],
  ])('by the calendar where the subscription is: %s', (reset, window) => {
    expect(windowAt(reset, '2026-02-20T10:00:00Z', { alignment: 'calendar' })).toBe(window);
  });

  test.each<[Interval, string]>([
    ['month', '2025-12-31T00:00 2026-01-31T00:00'],
    ['week', '2026-01-24T00:00 2026-01-31T00:00'],
    ['day', '2026-01-28T00:00 2026-01-29T00:00'],
    ['year', '2025-01-31T00:00 2026-01-31T00:00'],
  ])('in a trial, which ends on the anchor, back from it: %s', (reset, window) => {
    expect(windowAt(reset, '2026-01-28T10:00:00Z')).toBe(window);
  });

  test('they are the periods of a subscription with that interval', () => {
    for (const timeZone of ['America/Havana', 'Pacific/Apia', 'America/St_Johns']) {
      const firstInstant = at('2006-01-31T20:15:00Z');
      const schedule = {
        timeZone,
        alignment: 'anniversary',
        anchor: dateOf(timeZone, firstInstant),
        firstInstant,
        firstCycle: 0,
      } as const;
      for (const interval of ['day', 'week', 'month', 'year'] as const) {
        for (let now = firstInstant; now < at('2013-01-01T00:00:00Z'); now += 17.3 * 86_400_000_000) {
          const periods = { ...schedule, interval };
          expect(entitlementWindow(schedule, interval, now, firstInstant)).toEqual(
            periodAt(periods, cycleAt(periods, now)),
          );
        }
      }
    }
  });
});

describe('section 14: hour is a whole local hour', () => {
  test.each([
    ['UTC', '2026-02-06T23:00:00Z', '2026-02-06T23:00 2026-02-07T00:00'],
    ['UTC', '2026-02-06T23:59:59.999999Z', '2026-02-06T23:00 2026-02-07T00:00'],
    ['Asia/Kolkata', '2026-02-06T23:10:00Z', '2026-02-06T22:30 2026-02-06T23:30'],
    ['Asia/Kathmandu', '2026-02-06T23:10:00Z', '2026-02-06T22:15 2026-02-06T23:15'],
    // The hour from 01:00 to 02:00 comes twice, and each is one.
    ['America/New_York', '2026-11-01T05:30:00Z', '2026-11-01T05:00 2026-11-01T06:00'],
    ['America/New_York', '2026-11-01T06:30:00Z', '2026-11-01T06:00 2026-11-01T07:00'],
    // Clocks were set back by half an hour at 02:00, which is 15:00 UTC: from 01:30 on there is half an hour again.
    ['Australia/Lord_Howe', '2026-04-04T14:40:00Z', '2026-04-04T14:00 2026-04-04T15:00'],
    ['Australia/Lord_Howe', '2026-04-04T15:10:00Z', '2026-04-04T15:00 2026-04-04T15:30'],
    // And forward by half an hour at 02:00, to 02:30.
    ['Australia/Lord_Howe', '2026-10-03T15:40:00Z', '2026-10-03T15:30 2026-10-03T16:00'],
  ])('in %s at %s: %s', (timeZone, now, window) => {
    expect(windowAt('hour', now, { timeZone })).toBe(window);
  });

  test('an hour that the clock cuts ends there', () => {
    // St John's, 00:01 set back to 23:01, at 02:31 UTC.
    const timeZone = 'America/St_Johns';
    expect(windowAt('hour', '2006-10-29T02:30:30Z', { timeZone })).toBe('2006-10-29T02:30 2006-10-29T02:31');
    expect(windowAt('hour', '2006-10-29T02:31:00Z', { timeZone })).toBe('2006-10-29T02:31 2006-10-29T03:30');
  });
});

describe('section 14: since the start', () => {
  const since = '2026-02-03T10:20:00Z';
  test('null has no end', () => {
    expect(windowAt(null, '2026-05-01T00:00:00Z', { since })).toBe('2026-02-03T10:20 never');
  });

  test('no window begins before the subscription', () => {
    expect(windowAt('month', '2026-02-20T00:00:00Z', { since, anchor: '2026-02-03' })).toBe(
      '2026-02-03T10:20 2026-03-03T00:00',
    );
    expect(windowAt('hour', '2026-02-03T10:30:00Z', { since })).toBe('2026-02-03T10:20 2026-02-03T11:00');
    expect(windowAt('month', '2026-02-05T00:00:00Z', { since, anchor: '2026-02-17' })).toBe(
      '2026-02-03T10:20 2026-02-17T00:00',
    );
  });

  test('before it there is none', () => {
    expect(() => windowAt('month', '2026-02-03T10:19:59Z', { since })).toThrow('before the subscription');
    expect(windowAt(null, since, { since })).toBe('2026-02-03T10:20 never');
  });

  test('a date that was left out is no window by the day', () => {
    const timeZone = 'Pacific/Apia';
    expect(windowAt('day', '2011-12-30T09:00:00Z', { timeZone, anchor: '2011-01-01' })).toBe(
      '2011-12-29T10:00 2011-12-30T10:00',
    );
    expect(windowAt('day', '2011-12-30T10:00:00Z', { timeZone, anchor: '2011-01-01' })).toBe(
      '2011-12-30T10:00 2011-12-31T10:00',
    );
  });
});
