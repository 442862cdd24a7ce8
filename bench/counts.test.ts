import { expect, test } from 'vitest';
import { WrongCount, check, type Totals } from './counts.ts';

function totals(events: number, quantity: number, change: Partial<Totals> = {}): Totals {
  const rollups = { a_rollup: { events, quantity } };
  return { events, quantity, keys: events, rollups, ...change };
}

const outcome = (accepted: number, acceptedQuantity: number, unclear = 0) => ({ accepted, acceptedQuantity, unclear });
const checking = (after: Totals, ...results: ReturnType<typeof outcome>[]) => {
  return () => check('weir', totals(100, 500), after, results);
};

test('every accepted event is there once, beside those that were there before', () => {
  expect(checking(totals(110, 560), outcome(4, 20), outcome(6, 40))).not.toThrow();
});

test.each([
  ['an event is missing', totals(109, 560)],
  ['an event is there twice', totals(111, 560)],
  ['a quantity is wrong', totals(110, 561)],
  ['a key is missing', totals(110, 560, { keys: 109 })],
  ['a rollup misses an event', totals(110, 560, { rollups: { a_rollup: { events: 109, quantity: 560 } } })],
  ['a rollup has the wrong sum', totals(110, 560, { rollups: { a_rollup: { events: 110, quantity: 559 } } })],
])('it is told when %s', (_what, after) => {
  expect(checking(after, outcome(10, 60))).toThrow(WrongCount);
});

test('a request without an answer may have been taken or not, but no more than that', () => {
  expect(checking(totals(110, 560), outcome(9, 50, 1))).not.toThrow();
  expect(checking(totals(109, 550), outcome(9, 50, 1))).not.toThrow();
  expect(checking(totals(111, 570), outcome(9, 50, 1))).toThrow(WrongCount);
});
