import { isoOf, microsOfText } from '@weir/shared/instant';
import { monthsOf } from '@weir/shared/months';
import { expect, test } from 'vitest';
import { stretchesOf } from './overview-stretches.ts';

const endOfBefore = (timeZone: string, time: string): string => {
  const at = microsOfText(time);
  return isoOf(stretchesOf(timeZone, monthsOf(timeZone, at), at).before.end);
};

test.each([
  ['Europe/Berlin', '2026-08-28T10:10:00Z', '2026-07-28T10:15:00.000Z'],
  ['Europe/Berlin', '2026-10-28T11:10:00Z', '2026-09-28T10:15:00.000Z'],
  ['Europe/Berlin', '2026-11-28T11:10:00Z', '2026-10-28T11:15:00.000Z'],
  ['Europe/Berlin', '2026-11-10T11:10:00Z', '2026-10-10T10:15:00.000Z'],
  ['Asia/Kolkata', '2026-11-28T11:10:00Z', '2026-10-28T11:15:00.000Z'],
])('in %s at %s the month before counts up to the same time of its clocks', (timeZone, at, end) => {
  expect(endOfBefore(timeZone, at)).toBe(end);
});

test('the month before counts as a whole where it had no such day', () => {
  expect(endOfBefore('Europe/Berlin', '2026-03-31T11:10:00Z')).toBe('2026-02-28T23:00:00.000Z');
});
