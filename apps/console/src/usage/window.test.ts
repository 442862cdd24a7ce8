import { expect, test } from 'vitest';
import { lastOfMonth, PRESETS, presetOf, windowBefore, windowOf } from './window.ts';

const NOW = new Date('2026-03-01T03:00:00Z');

test('what an address leaves out is the last 30 days where the reader is', () => {
  expect(windowOf({ zone: 'UTC' }, NOW)).toEqual({ from: '2026-01-31', to: '2026-03-01', zone: 'UTC', by: 'day' });
  // In New York it is still February.
  expect(windowOf({ zone: 'America/New_York' }, NOW).to).toBe('2026-02-28');
});

test('the bucket fits the window unless one is named', () => {
  expect(windowOf({ zone: 'UTC', from: '2026-03-01' }, NOW).by).toBe('hour');
  expect(windowOf({ zone: 'UTC', from: '2025-06-01' }, NOW).by).toBe('week');
  expect(windowOf({ zone: 'UTC', by: 'month' }, NOW).by).toBe('month');
  expect(windowOf({ zone: 'UTC', by: 'fortnight' }, NOW).by).toBe('day');
});

test('the period before is as long and ends the day before', () => {
  const { from, to } = windowBefore(windowOf({ zone: 'UTC', from: '2026-02-20', to: '2026-03-01' }, NOW));
  expect([from, to]).toEqual(['2026-02-10', '2026-02-19']);
});

test('a preset is known by its dates', () => {
  for (const { value, dates } of PRESETS) {
    const window = windowOf({ zone: 'UTC', ...dates('2026-03-01') }, NOW);
    // On the first of a month, this month is today.
    expect(presetOf(window, NOW)).toBe(value === 'month' ? 'today' : value);
  }
  expect(PRESETS.find(({ value }) => value === 'last-month')?.dates('2026-03-01')).toEqual({
    from: '2026-02-01',
    to: '2026-02-28',
  });
  expect(presetOf(windowOf({ zone: 'UTC', from: '2026-02-17' }, NOW), NOW)).toBeUndefined();
});

test('the last of a month', () => {
  expect(lastOfMonth('2028-02')).toBe('2028-02-29');
  expect(lastOfMonth('2026-12')).toBe('2026-12-31');
});
