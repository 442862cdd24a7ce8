import { LIMITS } from './limits.ts';
import { expect, test } from 'vitest';
import { isoOf } from './instant.ts';
import { toEnd } from './to-end.ts';
import { nameOf, planningWindow, type Window, type WindowQuery } from './window.ts';

const NOW = Date.UTC(2026, 10, 20, 16, 30, 12, 345);

function plan(query: Partial<WindowQuery>): Window {
  const window = toEnd(planningWindow({ timezone: 'UTC', ...query }, NOW));
  if ('problem' in window) throw new Error(`${window.problem.path} ${window.problem.message}`);
  return window;
}

function problemOf(query: Partial<WindowQuery>): string {
  const window = toEnd(planningWindow({ timezone: 'UTC', ...query }, NOW));
  return 'problem' in window ? `${window.problem.path} ${window.problem.message}` : 'none';
}

/** Name and first instant of each period. */
function periods(query: Partial<WindowQuery>): string[] {
  const { group_by: grouping = 'day' } = query;
  return plan(query).periods.map((period) => `${nameOf(period, grouping)} ${isoOf(period.at)}`);
}

function endsOf(query: Partial<WindowQuery>): { start: string; end: string } {
  const { start, end } = plan(query);
  return { start: isoOf(start), end: isoOf(end) };
}

test('a window ends now and begins at the midnight 30 days before, unless it is told otherwise', () => {
  expect(endsOf({})).toEqual({ start: '2026-10-21T00:00:00.000Z', end: '2026-11-20T16:30:12.345Z' });
  expect(plan({}).periods).toEqual([]);
  expect(endsOf({ end_date: '2026-03-05' }).start).toBe('2026-02-04T00:00:00.000Z');
});

test.each([
  ['Europe/Berlin', undefined, '2026-10-20T22:00:00.000Z'],
  ['Asia/Kolkata', undefined, '2026-10-20T18:30:00.000Z'],
  // It is the 21st there.
  ['Pacific/Auckland', undefined, '2026-10-21T11:00:00.000Z'],
  // That day began at 1:00.
  ['America/Sao_Paulo', '2017-11-14T10:00:00Z', '2017-10-15T03:00:00.000Z'],
])('a default window in %s begins at a local midnight', (timezone, end_date, start) => {
  expect(endsOf({ timezone, end_date }).start).toBe(start);
});

test('30 days before the end are 30 calendar days, also where one of them has 23 hours', () => {
  const query = { end_date: '2026-03-15', timezone: 'America/New_York', group_by: 'day' } as const;
  expect(endsOf(query).start).toBe('2026-02-14T05:00:00.000Z');
  expect(plan(query).periods).toHaveLength(30);
});

test('bare dates mean whole days of the time zone, the last one included', () => {
  const { start, end } = endsOf({ start_date: '2026-11-02', end_date: '2026-11-03', timezone: 'Asia/Kolkata' });
  expect([start, end]).toEqual(['2026-11-01T18:30:00.000Z', '2026-11-03T18:30:00.000Z']);
});

test('an instant keeps its microseconds', () => {
  const query = { start_date: '2026-11-01T10:00:00.0000019Z', end_date: '2026-11-01T12:00:00.500001+01:00' };
  expect(endsOf(query)).toEqual({ start: '2026-11-01T10:00:00.000001Z', end: '2026-11-01T11:00:00.500001Z' });
});

test('a window within one hour has one period', () => {
  expect(periods({ start_date: '2026-11-01T10:20Z', end_date: '2026-11-01T10:40Z', group_by: 'hour' })).toEqual([
    '2026-11-01T10:00Z 2026-11-01T10:00:00.000Z',
  ]);
});

test('an hour has the offset of its zone in its name', () => {
  const hours = periods({
    start_date: '2026-11-01',
    end_date: '2026-11-02',
    timezone: 'Asia/Kolkata',
    group_by: 'hour',
  });
  expect(hours).toHaveLength(48);
  expect(hours[1]).toBe('2026-11-01T01:00+05:30 2026-10-31T19:30:00.000Z');
});

test('a day on which clocks are set forward has 23 hours, and its missing hour has no bucket', () => {
  const day = { start_date: '2026-03-08', end_date: '2026-03-08', timezone: 'America/New_York' };
  const hours = periods({ ...day, group_by: 'hour' });
  expect(hours).toHaveLength(23);
  expect(hours.slice(1, 3)).toEqual([
    '2026-03-08T01:00-05:00 2026-03-08T06:00:00.000Z',
    '2026-03-08T03:00-04:00 2026-03-08T07:00:00.000Z',
  ]);
  expect(periods({ ...day, group_by: 'day' })).toEqual(['2026-03-08 2026-03-08T05:00:00.000Z']);
});

test('an hour that comes twice has two buckets with two names', () => {
  const day = { start_date: '2026-11-01', end_date: '2026-11-01', timezone: 'America/New_York' };
  const hours = periods({ ...day, group_by: 'hour' });
  expect(hours).toHaveLength(25);
  expect(hours.slice(1, 3)).toEqual([
    '2026-11-01T01:00-04:00 2026-11-01T05:00:00.000Z',
    '2026-11-01T01:00-05:00 2026-11-01T06:00:00.000Z',
  ]);
  expect(endsOf(day)).toEqual({ start: '2026-11-01T04:00:00.000Z', end: '2026-11-02T05:00:00.000Z' });
});

test.each([
  ['America/Sao_Paulo', '2017-10-15', '2017-10-15T03:00:00.000Z'],
  ['Asia/Beirut', '2024-03-31', '2024-03-30T22:00:00.000Z'],
  ['Africa/Cairo', '2024-04-26', '2024-04-25T22:00:00.000Z'],
])('where %s has no midnight on %s, the day begins after the gap', (timezone, date, start) => {
  expect(endsOf({ start_date: date, end_date: date, timezone }).start).toBe(start);
  expect(periods({ start_date: date, end_date: date, timezone, group_by: 'day' })).toEqual([`${date} ${start}`]);
});

test('where midnight comes twice, the day begins at the first one', () => {
  // Havana sets its clocks from 1:00 back to 0:00.
  const query = {
    start_date: '2026-10-31',
    end_date: '2026-11-01',
    timezone: 'America/Havana',
    group_by: 'day',
  } as const;
  expect(periods(query)).toEqual(['2026-10-31 2026-10-31T04:00:00.000Z', '2026-11-01 2026-11-01T04:00:00.000Z']);
  expect(endsOf(query).end).toBe('2026-11-02T05:00:00.000Z');
});

test('clocks that are set by half an hour leave half an hour with a name of its own', () => {
  const zone = { timezone: 'Australia/Lord_Howe', group_by: 'hour' } as const;
  expect(periods({ ...zone, start_date: '2026-04-04T14:00Z', end_date: '2026-04-04T16:00Z' })).toEqual([
    '2026-04-05T01:00+11:00 2026-04-04T14:00:00.000Z',
    '2026-04-05T01:30+10:30 2026-04-04T15:00:00.000Z',
    '2026-04-05T02:00+10:30 2026-04-04T15:30:00.000Z',
  ]);
  expect(periods({ ...zone, start_date: '2026-10-03T14:30Z', end_date: '2026-10-03T17:00Z' })).toEqual([
    '2026-10-04T01:00+10:30 2026-10-03T14:30:00.000Z',
    '2026-10-04T02:30+11:00 2026-10-03T15:30:00.000Z',
    '2026-10-04T03:00+11:00 2026-10-03T16:00:00.000Z',
  ]);
});

test('the first bucket begins at its calendar period, even before the window', () => {
  // Clocks went back at 2:00 to 1:30; half an hour later the bucket is still the one that began with the change.
  const after = { start_date: '2026-04-04T15:10Z', end_date: '2026-04-04T15:20Z', timezone: 'Australia/Lord_Howe' };
  expect(periods({ ...after, group_by: 'hour' })).toEqual(['2026-04-05T01:30+10:30 2026-04-04T15:00:00.000Z']);
  expect(periods({ start_date: '2026-11-20T10:00Z', end_date: '2026-11-20T11:00Z', group_by: 'month' })).toEqual([
    '2026-11 2026-11-01T00:00:00.000Z',
  ]);
});

test('a day that a zone left out has no bucket', () => {
  const query = {
    start_date: '2011-12-29',
    end_date: '2011-12-31',
    timezone: 'Pacific/Apia',
    group_by: 'day',
  } as const;
  expect(periods(query)).toEqual(['2011-12-29 2011-12-29T10:00:00.000Z', '2011-12-31 2011-12-30T10:00:00.000Z']);
});

test('weeks begin on Monday and belong to the year of their Thursday', () => {
  expect(periods({ start_date: '2026-12-28', end_date: '2027-01-04', group_by: 'week' })).toEqual([
    '2026-W53 2026-12-28T00:00:00.000Z',
    '2027-W01 2027-01-04T00:00:00.000Z',
  ]);
  expect(periods({ start_date: '2024-12-29', end_date: '2024-12-30', group_by: 'week' })).toEqual([
    '2024-W52 2024-12-23T00:00:00.000Z',
    '2025-W01 2024-12-30T00:00:00.000Z',
  ]);
  expect(periods({ start_date: '2023-01-01', end_date: '2023-01-01', group_by: 'week' })).toEqual([
    '2022-W52 2022-12-26T00:00:00.000Z',
  ]);
});

test('months have their own lengths', () => {
  const query = {
    start_date: '2024-01-31',
    end_date: '2024-04-01',
    group_by: 'month',
    timezone: 'Europe/Berlin',
  } as const;
  expect(periods(query)).toEqual([
    '2024-01 2023-12-31T23:00:00.000Z',
    '2024-02 2024-01-31T23:00:00.000Z',
    '2024-03 2024-02-29T23:00:00.000Z',
    '2024-04 2024-03-31T22:00:00.000Z',
  ]);
});

test(`a window has at most ${LIMITS.buckets} buckets`, () => {
  const start_date = '2025-01-01T00:00Z';
  const end = Date.parse(start_date) + LIMITS.buckets * 3_600_000;
  const hours = (ms: number) => ({ start_date, end_date: new Date(ms).toISOString(), group_by: 'hour' }) as const;
  expect(plan(hours(end)).periods).toHaveLength(LIMITS.buckets);
  const tooMany = 'group_by would make more than 10000 buckets: ask for a shorter window or longer periods';
  expect(problemOf(hours(end + 1))).toBe(tooMany);
  expect(problemOf({ start_date: '1970-01-01', end_date: '2199-12-31', group_by: 'day' })).toBe(tooMany);
  expect(problemOf({ start_date: '1970-01-01', end_date: '2199-12-31', group_by: 'month' })).toBe('none');
});

test('the largest window is planned in steps, in any zone and grouping', () => {
  for (const [group_by, years] of [
    ['hour', 1],
    ['day', 27],
    ['week', 190],
    ['month', 229],
  ] as const) {
    const query = { start_date: '1970-01-02', end_date: `${1970 + years}-02-01`, timezone: 'Europe/Berlin', group_by };
    const steps = [...planningWindow(query, NOW)].length;
    expect(steps).toBe(Math.floor(plan(query).periods.length / 250));
    expect(steps).toBeGreaterThan(10);
  }
});

test('the periods follow each other without a gap', () => {
  for (const timezone of ['UTC', 'America/St_Johns', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'Africa/Casablanca']) {
    for (const group_by of ['hour', 'day', 'week', 'month'] as const) {
      const window = plan({
        start_date: '2010-10-30T10:07Z',
        end_date: '2011-05-02T01:59:59.999999Z',
        timezone,
        group_by,
      });
      const starts = window.periods.map(({ at }) => at);
      expect(starts.every((start, index) => index === 0 || start > (starts[index - 1] ?? 0))).toBe(true);
      expect(starts[0]).toBeLessThanOrEqual(window.start);
      expect(starts[1] ?? window.end).toBeGreaterThan(window.start);
      expect(starts.at(-1)).toBeLessThan(window.end);
      expect(new Set(window.periods.map((period) => nameOf(period, group_by))).size).toBe(starts.length);
    }
  }
});

test.each([
  [{ timezone: '+05:30' }, 'timezone must be a time zone of the IANA database, such as Europe/Berlin or UTC'],
  [{ timezone: 'Mars/Olympus' }, 'timezone must be a time zone of the IANA database, such as Europe/Berlin or UTC'],
  [{ timezone: '' }, 'timezone must be a time zone of the IANA database, such as Europe/Berlin or UTC'],
  [
    { timezone: '2026-01-01[Europe/Paris]' },
    'timezone must be a time zone of the IANA database, such as Europe/Berlin or UTC',
  ],
  [
    { start_date: 'yesterday' },
    'start_date must be a date such as 2026-01-31, or a time with its offset such as 2026-01-31T09:30:00Z',
  ],
  [{ end_date: '2026-02-30' }, 'end_date is not a date of the calendar'],
  [
    { end_date: '2026-01-31T09:30:00' },
    'end_date must say its offset from UTC: end it in Z or in an offset such as +02:00; or a date, such as 2026-01-31',
  ],
  [
    { end_date: '2026-01-31T09:30:00 02:00' },
    'end_date has a space where its offset should begin: write + as %2B in a URL',
  ],
  [{ start_date: '1969-12-31' }, 'start_date must be in the years 1970 to 2199'],
  [{ end_date: '9999-12-31' }, 'end_date must be in the years 1970 to 2199'],
  [
    { start_date: '2026-11-02', end_date: '2026-11-01' },
    'start_date must be before the end, which is 2026-11-02T00:00:00.000Z',
  ],
  [{ start_date: '2027-01-01' }, 'start_date must be before the end, which is 2026-11-20T16:30:12.345Z (now)'],
])('%j is refused with a reason', (query, problem) => {
  expect(problemOf(query)).toBe(problem);
});

test('other names of a zone work, in any case', () => {
  const day = { start_date: '2026-11-01', end_date: '2026-11-01' };
  expect(plan({ ...day, timezone: 'Asia/Calcutta' })).toEqual(plan({ ...day, timezone: 'asia/kolkata' }));
  expect(endsOf({ ...day, timezone: 'US/Eastern' }).start).toBe('2026-11-01T04:00:00.000Z');
});
