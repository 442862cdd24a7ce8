import { microsOf, parseInstant, type Micros } from '@weir/shared/instant';
import fc from 'fast-check';
import { Temporal } from 'temporal-polyfill';
import { describe, expect, test } from 'vitest';
import { dateOf } from './local-date.ts';
import { periodAt, type Interval, type Schedule } from './periods.ts';
import { daysOf, formatDays } from './proration.ts';

function at(text: string): Micros {
  const instant = parseInstant(text);
  if ('problem' in instant) throw new Error(instant.problem);
  return microsOf(instant);
}

function scheduleFrom(
  firstInstant: Micros,
  interval: Interval,
  alignment: Schedule['alignment'] = 'anniversary',
  timeZone = 'UTC',
): Schedule {
  return { timeZone, interval, alignment, anchor: dateOf(timeZone, firstInstant), firstInstant, firstCycle: 0 };
}

/** `days` of a due that is in force from an instant to another one, by default to the end of its period. */
function days(
  schedule: Schedule,
  cycle: number,
  part: { from?: string; cancelledAt?: string; changedAt?: string } = {},
) {
  const { start, end } = periodAt(schedule, cycle);
  const until = part.cancelledAt ?? part.changedAt;
  const found = daysOf(schedule, cycle, {
    start: part.from === undefined ? start : at(part.from),
    end: until === undefined ? end : at(until),
    endDateCounts: part.changedAt === undefined,
  });
  return found === null ? null : formatDays(found);
}

describe('section 7: a cancellation at the first instant of a date', () => {
  test('does not touch that date, and an instant later does', () => {
    const may = scheduleFrom(at('2024-05-01T00:00:00Z'), 'month');
    expect(days(may, 0, { cancelledAt: '2024-05-15T00:00:00Z' })).toBe('14/31');
    expect(days(may, 0, { cancelledAt: '2024-05-15T00:00:00.000001Z' })).toBe('15/31');
    expect(days(may, 0, { cancelledAt: '2024-05-01T00:00:00Z' })).toBe('0/31');
  });

  test('is that of the zone, also where midnight is skipped', () => {
    // In Beirut 31 March 2024 began at 01:00, which was 22:00 UTC.
    const march = scheduleFrom(at('2024-02-29T22:00:00Z'), 'month', 'anniversary', 'Asia/Beirut');
    expect(days(march, 0, { cancelledAt: '2024-03-30T22:00:00Z' })).toBe('30/31');
    expect(days(march, 0, { cancelledAt: '2024-03-30T22:00:00.000001Z' })).toBe(null);
  });
});

describe('section 7: the first calendar period counts the dates that it touches, of those of the whole one', () => {
  test.each<[string, Interval, string | null]>([
    // 10 to 31 January are 22 dates.
    ['2026-01-10T15:00:00Z', 'month', '22/31'],
    ['2026-01-31T23:59:59Z', 'month', '1/31'],
    ['2026-01-02T00:00:00Z', 'month', '30/31'],
    ['2024-02-10T00:00:00Z', 'month', '20/29'],
    // A Friday: it and the two after it.
    ['2026-11-20T10:00:00Z', 'week', '3/7'],
    ['2026-11-22T10:00:00Z', 'week', '1/7'],
    ['2026-12-31T10:00:00Z', 'year', '1/365'],
    ['2024-01-02T10:00:00Z', 'year', '365/366'],
    // On the first date of it all dates are touched, at any hour.
    ['2026-01-01T23:00:00Z', 'month', null],
    ['2026-11-23T23:00:00Z', 'week', null],
    ['2026-01-01T23:00:00Z', 'year', null],
  ])('from %s by the %s: %s', (start, interval, expected) => {
    expect(days(scheduleFrom(at(start), interval, 'calendar'), 0)).toBe(expected);
  });

  test('later ones are whole', () => {
    expect(days(scheduleFrom(at('2026-01-10T15:00:00Z'), 'month', 'calendar'), 1)).toBeNull();
  });

  test('the first anniversary period is whole, though it begins in the middle of a date', () => {
    expect(days(scheduleFrom(at('2026-01-10T15:00:00Z'), 'month'), 0)).toBeNull();
  });

  test('one that is cancelled in its first calendar period has both ends', () => {
    const schedule = scheduleFrom(at('2026-01-10T15:00:00Z'), 'month', 'calendar');
    expect(days(schedule, 0, { cancelledAt: '2026-01-12T01:00:00Z' })).toBe('3/31');
  });
});

describe('section 7: the date of a cancellation counts', () => {
  const schedule = scheduleFrom(at('2026-01-10T15:00:00Z'), 'month');
  test.each([
    // On the same date as the start.
    [0, '2026-01-10T15:00:01Z', '1/31'],
    [0, '2026-01-10T23:59:59.999999Z', '1/31'],
    [0, '2026-01-11T00:00:00Z', '1/31'],
    [0, '2026-01-11T00:00:00.000001Z', '2/31'],
    // 10 February to 9 March are 28 dates.
    [1, '2026-02-10T00:00:01Z', '1/28'],
    [1, '2026-02-28T12:00:00Z', '19/28'],
    [1, '2026-03-08T12:00:00Z', '27/28'],
    // Section 20: on the last date nothing comes back.
    [1, '2026-03-09T00:00:00Z', '27/28'],
    [1, '2026-03-09T00:00:00.000001Z', null],
    [1, '2026-03-09T23:59:59Z', null],
    [1, '2026-03-10T00:00:00Z', null],
    [1, '2026-04-10T00:00:00Z', null],
  ])('of cycle %i at %s: %s', (cycle, cancelledAt, expected) => {
    expect(days(schedule, cycle, { cancelledAt })).toBe(expected);
  });
});

describe('section 7: the date of a change belongs to the new plan', () => {
  const schedule = scheduleFrom(at('2026-01-10T15:00:00Z'), 'month');
  test.each([
    ['2026-02-10T09:00:00Z', '0/28', null],
    ['2026-02-11T00:00:00Z', '1/28', '27/28'],
    ['2026-02-20T23:00:00Z', '10/28', '18/28'],
    ['2026-03-09T23:00:00Z', '27/28', '1/28'],
  ])('at %s the old plan has %s and the new one %s', (changedAt, old, fresh) => {
    expect(days(schedule, 1, { changedAt })).toBe(old);
    expect(days(schedule, 1, { from: changedAt })).toBe(fresh);
  });

  test('one at the end of the period leaves all of it to the old plan', () => {
    expect(days(schedule, 1, { changedAt: '2026-03-10T00:00:00Z' })).toBeNull();
  });
});

test('what lies outside of the period is cut off', () => {
  const schedule = scheduleFrom(at('2026-01-10T15:00:00Z'), 'month');
  expect(days(schedule, 1, { from: '2026-01-20T00:00:00Z', cancelledAt: '2026-02-12T00:00:00.000001Z' })).toBe('3/28');
  expect(days(schedule, 1, { from: '2026-03-01T00:00:00Z', cancelledAt: '2026-04-12T00:00:00Z' })).toBe('9/28');
  expect(days(schedule, 1, { from: '2026-01-20T00:00:00Z', changedAt: '2026-01-25T00:00:00Z' })).toBe('0/28');
});

test('section 7: in a plan by the day a date that has begun is due whole, to the last plan of it', () => {
  for (const alignment of ['anniversary', 'calendar'] as const) {
    const schedule = scheduleFrom(at('2026-01-10T15:00:00Z'), 'day', alignment);
    expect(days(schedule, 0)).toBeNull();
    expect(days(schedule, 0, { cancelledAt: '2026-01-10T15:00:01Z' })).toBeNull();
    expect(days(schedule, 3, { changedAt: '2026-01-13T01:00:00Z' })).toBe('0/1');
    expect(days(schedule, 3, { changedAt: '2026-01-14T00:00:00Z' })).toBeNull();
  }
});

describe('section 7: daylight saving does not move a date, and one that was left out does not count', () => {
  test('the day of 23 hours and that of 25 are one date each', () => {
    const berlin = scheduleFrom(at('2026-02-28T23:00:00Z'), 'month', 'calendar', 'Europe/Berlin');
    expect(days(berlin, 0, { cancelledAt: '2026-03-29T21:59:59Z' })).toBe('29/31');
    expect(days(berlin, 0, { cancelledAt: '2026-03-29T22:00:00Z' })).toBe('29/31');
    expect(days(berlin, 0, { cancelledAt: '2026-03-29T22:00:00.000001Z' })).toBe('30/31');
  });

  test('dates are local: at 20:00 in UTC it is the next date in Tokyo', () => {
    const tokyo = scheduleFrom(at('2026-01-10T20:00:00Z'), 'month', 'calendar', 'Asia/Tokyo');
    expect(days(tokyo, 0)).toBe('21/31');
  });

  test('December 2011 had 30 dates in Samoa', () => {
    const apia = scheduleFrom(at('2011-12-20T20:00:00Z'), 'month', 'calendar', 'Pacific/Apia');
    // 20 to 29, and the 31st.
    expect(days(apia, 0)).toBe('11/30');
    expect(days(apia, 0, { cancelledAt: '2011-12-30T09:59:59Z' })).toBe('10/30');
    expect(days(apia, 0, { cancelledAt: '2011-12-30T10:00:00Z' })).toBe('10/30');
    expect(days(apia, 0, { cancelledAt: '2011-12-30T10:00:00.000001Z' })).toBe('11/30');
    expect(days(apia, 0, { changedAt: '2011-12-30T10:00:00Z' })).toBe('10/30');
  });

  test('a period that begins on the date that was left out has the dates after it', () => {
    const apia = scheduleFrom(at('2011-11-30T20:00:00Z'), 'month', 'anniversary', 'Pacific/Apia');
    expect(days(apia, 0)).toBeNull();
    expect(days(apia, 1)).toBeNull();
    // 31 December to 29 January.
    expect(days(apia, 1, { cancelledAt: '2011-12-31T20:00:00Z' })).toBe('2/30');
  });

  test('the hour that is lived again before midnight is no second day before', () => {
    // In St John's the 28th comes back for 59 minutes after the 29th has begun.
    const stJohns = scheduleFrom(at('2006-09-29T02:30:00Z'), 'month', 'anniversary', 'America/St_Johns');
    expect(days(stJohns, 1, { cancelledAt: '2006-10-29T02:30:30Z' })).toBe('1/31');
    expect(days(stJohns, 1, { cancelledAt: '2006-10-29T03:01:00Z' })).toBe('1/31');
    expect(days(stJohns, 1, { cancelledAt: '2006-10-30T03:30:00Z' })).toBe('1/31');
    expect(days(stJohns, 1, { cancelledAt: '2006-10-30T03:30:00.000001Z' })).toBe('2/31');
  });
});

test('a random part of a period touches the dates that one sees who looks at the clock every half hour', () => {
  const HALF_HOUR = 1_800_000_000;
  const zones = fc.constantFrom(
    'UTC',
    'Asia/Kolkata',
    'America/Sao_Paulo',
    'America/Havana',
    'Africa/Cairo',
    'Pacific/Apia',
  );
  const start = fc.integer({
    min: at('2009-06-01T00:00:00Z') / HALF_HOUR,
    max: at('2018-12-31T00:00:00Z') / HALF_HOUR,
  });
  const parts = fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }));
  fc.assert(
    fc.property(
      zones,
      start,
      fc.constantFrom('week', 'month'),
      parts,
      fc.boolean(),
      (timeZone, from, interval, cuts, endDateCounts) => {
        const schedule = scheduleFrom(from * HALF_HOUR, interval, 'anniversary', timeZone);
        const period = periodAt(schedule, 1);
        const cut = (share: number): Micros => period.start + Math.floor(share * (period.end - period.start - 1));
        const part = { start: cut(Math.min(...cuts)), end: cut(Math.max(...cuts)) };
        const seen = { all: new Set<string>(), part: new Set<string>() };
        const look = (micros: Micros, dates: Set<string>): unknown =>
          dates.add(
            Temporal.Instant.fromEpochMilliseconds(Math.floor(micros / 1000))
              .toZonedDateTimeISO(timeZone)
              .toPlainDate()
              .toString(),
          );
        for (let now = period.start; now < period.end; now += HALF_HOUR) {
          look(now, seen.all);
          if (now >= part.start && now < part.end) look(now, seen.part);
        }
        look(part.start, seen.part);
        look(part.end, seen.part);
        const end = Temporal.Instant.fromEpochNanoseconds(BigInt(part.end) * 1000n).toZonedDateTimeISO(timeZone);
        const isFirst = end.startOfDay().epochNanoseconds === end.epochNanoseconds;
        if (!endDateCounts || isFirst) seen.part.delete([...seen.part].sort().at(-1) ?? '');
        const found = daysOf(schedule, 1, { ...part, endDateCounts }) ?? {
          inForce: seen.all.size,
          inPeriod: seen.all.size,
        };
        expect(found).toEqual({ inForce: seen.part.size, inPeriod: seen.all.size });
      },
    ),
    { numRuns: 60 },
  );
}, 30_000);

test('section 7: days are written 22/31', () => {
  expect(formatDays({ inForce: 22, inPeriod: 31 })).toBe('22/31');
});
