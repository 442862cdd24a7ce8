import { expect, test } from 'vitest';
import { bucketAt, extent, indexByKey, middleOf } from './chart-points.ts';

const DAYS = [0, 86_400, 172_800];

test('all of a bar is its own bucket, and of a line the nearest point', () => {
  expect([0, 43_200, 86_399, 86_400, 250_000].map((time) => bucketAt(DAYS, time, 'bars'))).toEqual([0, 0, 0, 1, 2]);
  expect([0, 40_000, 50_000, 250_000].map((time) => bucketAt(DAYS, time, 'line'))).toEqual([0, 0, 1, 2]);
  expect(bucketAt([], 7, 'bars')).toBeUndefined();
});

test('the cursor stands in the middle of a bar, the last one too', () => {
  expect(DAYS.map((_, index) => middleOf(DAYS, index, 'bars'))).toEqual([43_200, 129_600, 216_000]);
  expect(middleOf(DAYS, 1, 'line')).toBe(86_400);
  expect(extent([86_400], 'bars')).toEqual([86_400, 172_800]);
});

test('arrows go from point to point, and not past the ends', () => {
  const pressed = (key: string, index?: number) => indexByKey(key, index, 2);
  expect([pressed('ArrowLeft'), pressed('ArrowLeft', 2), pressed('ArrowLeft', 0)]).toEqual([2, 1, 0]);
  expect([pressed('ArrowRight', 2), pressed('Home', 2), pressed('End', 0), pressed('a', 1)]).toEqual([
    2,
    0,
    2,
    undefined,
  ]);
});
