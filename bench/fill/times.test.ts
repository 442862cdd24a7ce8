import { expect, test } from 'vitest';
import { daysBetween, monthsBetween } from './times.ts';

const at = (text: string) => Date.parse(text);
const told = (dates: Date[]) => dates.map((date) => date.toISOString());

test('every month that has a part in the span, also over the end of a year', () => {
  expect(told(monthsBetween(at('2025-11-30T23:00:00Z'), at('2026-02-01T00:00:00Z')))).toEqual([
    '2025-11-01T00:00:00.000Z',
    '2025-12-01T00:00:00.000Z',
    '2026-01-01T00:00:00.000Z',
  ]);
});

test('every day that has a part in the span', () => {
  expect(told(daysBetween(at('2026-02-28T13:00:00Z'), at('2026-03-02T00:00:00.001Z')))).toEqual([
    '2026-02-28T00:00:00.000Z',
    '2026-03-01T00:00:00.000Z',
    '2026-03-02T00:00:00.000Z',
  ]);
  expect(daysBetween(at('2026-02-28T00:00:00Z'), at('2026-03-01T00:00:00Z'))).toHaveLength(1);
});
