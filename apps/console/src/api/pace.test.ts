import { expect, test } from 'vitest';
import { noteAnswer, pace } from './pace.ts';

function answered(...all: number[]): void {
  for (const ms of all) noteAnswer(ms);
}

test('before the first answer it is as often as the page likes', () => {
  expect(pace(1_500)).toBe(1_500);
});

test('a page asks again as soon as it likes while answers are quick', () => {
  answered(20, 20, 20, 20, 20);
  expect(pace(1_500)).toBe(1_500);
});

test('one answer that comes late changes nothing, as long as another came quickly', () => {
  answered(20, 900, 900, 900, 900);
  expect(pace(1_500)).toBe(1_500);
});

test('when all come late it waits for sixty times as long as they took, and half a minute at most', () => {
  answered(100, 100, 110, 120, 900);
  expect(pace(1_500)).toBe(6_000);
  expect(pace(10_000)).toBe(10_000);
  answered(2_000, 2_000, 2_000, 2_000, 2_000);
  expect(pace(1_500)).toBe(30_000);
});
