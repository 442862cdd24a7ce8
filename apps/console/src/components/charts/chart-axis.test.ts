import { expect, test } from 'vitest';
import { axisRange, axisTicks } from './chart-axis.ts';

test('ticks are few and round, and 0 is one of them', () => {
  expect(axisTicks(...axisRange(0, 23))).toEqual([0, 5, 10, 15, 20]);
  expect(axisTicks(...axisRange(0, 11_800_000))).toEqual([0, 5_000_000, 10_000_000]);
  expect(axisTicks(...axisRange(0, 0.7))).toEqual([0, 0.2, 0.4, 0.6]);
  expect(axisTicks(...axisRange(-30, 60))).toEqual([-20, 0, 20, 40, 60]);
  for (let max = 1; max < 10_000; max += 7) {
    const { length } = axisTicks(...axisRange(0, max));
    expect(length >= 3 && length <= 6, String(max)).toBe(true);
  }
});

test('what is counted has ticks of whole numbers, and where there is nothing there is an axis, too', () => {
  expect(axisTicks(...axisRange(0, 1), 1)).toEqual([0, 1]);
  expect(axisTicks(...axisRange(0, 3), 1)).toEqual([0, 1, 2, 3]);
  expect(axisTicks(...axisRange(0, 0), 1)).toEqual([0, 1]);
  expect(axisTicks(Number.NaN, 1)).toEqual([]);
});
