import { expect, test } from 'vitest';
import { lastOfMonth, periodsAtMost, PRESETS, presetOf, windowBefore, windowOf } from './window.ts';

const NOW = new Date('2026-03-01T03:00:00Z');

test('what an address leaves out is the last 30 days, and the zone beside it', () => {
  expect(windowOf({}, 'UTC', NOW)).toEqual({ from: '2026-01-31', to: '2026-03-01', zone: 'UTC', by: 'day' });
  // In New York it is still February.
  expect(windowOf({}, 'America/New_York', NOW).to).toBe('2026-02-28');
  expect(windowOf({ zone: 'UTC' }, 'America/New_York', NOW).to).toBe('2026-03-01');
});

test('an address that names no zone and no days is one that leaves them out', () => {
  const plain = windowOf({}, 'Asia/Tokyo', NOW);
  expect(windowOf({ zone: 'Mars/X', from: 'junk', to: '2026-02-30' }, 'Asia/Tokyo', NOW)).toEqual(plain);
  expect(windowOf({ from: '2026-02-20', to: 'junk' }, 'UTC', NOW)).toMatchObject({
    from: '2026-02-20',
    to: '2026-03-01',
  });
});

test('the bucket fits the window unless one is named', () => {
  expect(windowOf({ from: '2026-03-01' }, 'UTC', NOW).by).toBe('hour');
  expect(windowOf({ from: '2025-06-01' }, 'UTC', NOW).by).toBe('week');
  expect(windowOf({ by: 'month' }, 'UTC', NOW).by).toBe('month');
  expect(windowOf({ by: 'fortnight' }, 'UTC', NOW).by).toBe('day');
});

test('the period before is as long and ends the day before', () => {
  const { from, to } = windowBefore(windowOf({ from: '2026-02-20', to: '2026-03-01' }, 'UTC', NOW));
  expect([from, to]).toEqual(['2026-02-10', '2026-02-19']);
});

test('a preset is known by its dates', () => {
  for (const { value, dates } of PRESETS) {
    const window = windowOf({ ...dates('2026-03-01') }, 'UTC', NOW);
    // On the first of a month, this month is today.
    expect(presetOf(window, NOW)).toBe(value === 'month' ? 'today' : value);
  }
  expect(PRESETS.find(({ value }) => value === 'last-month')?.dates('2026-03-01')).toEqual({
    from: '2026-02-01',
    to: '2026-02-28',
  });
  expect(presetOf(windowOf({ from: '2026-02-17' }, 'UTC', NOW), NOW)).toBeUndefined();
});

test('the last of a month', () => {
  expect(lastOfMonth('2028-02')).toBe('2028-02-29');
  expect(lastOfMonth('2026-12')).toBe('2026-12-31');
});

test('a window has no more periods than are reckoned with', () => {
  const window = { from: '2026-10-24', to: '2026-10-26', zone: 'Europe/Berlin', by: 'hour' } as const;
  expect(periodsAtMost(window)).toBeGreaterThanOrEqual(73);
  expect(periodsAtMost({ ...window, by: 'day' })).toBe(3);
  // Sunday to Monday: two weeks, and the last of a month to the first of the next: two months.
  expect(periodsAtMost({ ...window, from: '2026-05-31', to: '2026-06-01', by: 'week' })).toBe(2);
  expect(periodsAtMost({ ...window, from: '2026-05-31', to: '2026-06-01', by: 'month' })).toBe(2);
  expect(periodsAtMost({ ...window, from: '2026-01-31', to: '2026-03-01', by: 'month' })).toBe(3);
});
