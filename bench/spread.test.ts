import { expect, test } from 'vitest';
import { ratioOf, spreadOf, spreadOfAll, spreadText, whole } from './spread.ts';

test('the median is the middle, or between the two in the middle', () => {
  expect(spreadOf([9, 1, 5])).toEqual({ median: 5, min: 1, max: 9 });
  expect(spreadOf([10, 2, 4, 100])).toEqual({ median: 7, min: 2, max: 100 });
});

test('a ratio is made of figures of the same round', () => {
  expect(ratioOf([10, 40], [20, 50])).toEqual({ median: 0.65, min: 0.5, max: 0.8 });
  expect(ratioOf([10, 40], [20])).toEqual({ median: 0.5, min: 0.5, max: 0.5 });
  expect(ratioOf([10], [null])).toBeNull();
  expect(ratioOf([10], [0])).toBeNull();
});

test('a figure that one round does not have is not made up of the others', () => {
  expect(spreadOfAll([1, null], (value) => value)).toBeNull();
  expect(spreadOfAll([], (value: number) => value)).toBeNull();
  expect(spreadText(null, whole)).toBe('–');
  expect(spreadText({ median: 1_234.4, min: 1, max: 5_000 }, whole)).toBe('1,234 (1–5,000)');
  expect(spreadText({ median: 7, min: 6.9, max: 7.1 }, whole)).toBe('7');
});

test('a figure that is just below zero is written as zero', () => {
  expect(whole(-0.3)).toBe('0');
});
