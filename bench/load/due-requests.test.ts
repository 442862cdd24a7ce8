import { expect, test } from 'vitest';
import { DueRequests } from './due-requests.ts';

test('requests are due at even distances, and in that order', () => {
  const due = new DueRequests(1_000, 4, 1);
  expect(due.total).toBe(4);
  expect(Array.from({ length: 5 }, () => due.take(10_000))).toEqual([1_000, 1_250, 1_500, 1_750, undefined]);
});

test('a request is not sent before it is due', () => {
  const due = new DueRequests(1_000, 4, 1);
  expect(due.take(999)).toBeUndefined();
  expect(due.take(1_000)).toBe(1_000);
  expect(due.take(1_249)).toBeUndefined();
  expect(due.take(1_250)).toBe(1_250);
});

test('what nobody was free to send stays due at its own time', () => {
  const due = new DueRequests(0, 1_000, 10);
  expect(due.take(9_000)).toBe(0);
  expect(due.take(9_000)).toBe(1);
  expect(due.left).toBe(9_998);
});

test('the distances of an odd rate do not add up to another one', () => {
  const due = new DueRequests(0, 3_333, 600);
  let last = 0;
  for (let at = due.take(1e9); at !== undefined; at = due.take(1e9)) last = at;
  expect(due.total).toBe(1_999_800);
  expect(last).toBeCloseTo(600_000 - 1_000 / 3_333, 6);
});
