import { expect, test } from 'vitest';
import {
  drawnOf,
  PARTS_DRAWN_FIRST,
  PARTS_DRAWN_MAX,
  readNames,
  readSplit,
  stacked,
  writeNames,
  writeSplit,
  type Part,
} from './split.ts';

test('an address says what usage is split by, also by a key customer, and by no key that is not there', () => {
  const keys = ['model', 'customer'];
  for (const split of [null, ...keys]) expect(readSplit(writeSplit(split), keys)).toBe(split);
  expect(readSplit('metadata.region', keys)).toBeUndefined();
  expect(readSplit(undefined, keys)).toBeUndefined();
});

test('an address names parts as they are, once each and no more than can be drawn', () => {
  const names = ['a,b', '123', 'null', null, ''];
  expect(readNames(writeNames(names))).toEqual(names);
  expect(readNames('["a","a",7,{}]')).toEqual(['a']);
  expect(readNames('{"a":1}')).toBeUndefined();
  expect(readNames('["a')).toBeUndefined();
  expect(readNames(undefined)).toBeUndefined();
  expect(readNames(writeNames(Array.from({ length: 20 }, (_, index) => String(index))))).toHaveLength(PARTS_DRAWN_MAX);
});

const part = (name: string, ...periods: string[]): Part => ({ name, usage: '1', events: 1, periods });
const whole = (events: number, total: string, ...periods: string[]) => ({
  total_usage: total,
  event_count: events,
  grouped_data: periods.map((usage) => ({ usage })),
});

test('the largest are drawn until some are chosen, and only what was read by the period', () => {
  const parts = Array.from({ length: 12 }, (_, index) => part(`${index}`, '1'));
  const usage = whole(12, '12', '12');
  expect(drawnOf({ usage, parts }, undefined, true).parts).toEqual(parts.slice(0, PARTS_DRAWN_FIRST));
  expect(drawnOf({ usage, parts }, ['9', '2', 'gone'], true).parts).toEqual([parts[2], parts[9]]);
  const unread = [{ ...part('1'), periods: undefined }];
  expect(drawnOf({ usage, parts: unread }, ['1'], true).parts).toEqual([]);
});

test('the others are what is left of the whole, to the last digit, and nobody of what does not add up', () => {
  const usage = whole(3, '9007199254740993.3', '0.3', '9007199254740993');
  const parts = [part('a', '0.1', '9007199254740992')];
  expect(drawnOf({ usage, parts }, undefined, true).others).toEqual({
    periods: ['0.2', '1'],
    total: '9007199254740992.3',
    events: 2,
  });
  expect(drawnOf({ usage, parts }, undefined, false).others).toBeUndefined();
  expect(drawnOf({ usage: whole(1, '1', '0.1'), parts: [part('a', '0.1')] }, undefined, true).others).toBeUndefined();
});

test('stacked values begin where those before them end', () => {
  expect(
    stacked([
      [1, 2],
      [10, 20],
      [100, 200],
    ]),
  ).toEqual([
    [1, 2],
    [11, 22],
    [111, 222],
  ]);
  expect(stacked([])).toEqual([]);
});
