import { expect, test } from 'vitest';
import { epochMsOfId, firstIdAt, isUuid, newId } from './ids.ts';

test('an id holds the millisecond at which it was made', () => {
  for (const epochMs of [0, 1, 946_684_800_000, Date.now(), 2 ** 48 - 1]) {
    expect(epochMsOfId(newId(epochMs))).toBe(epochMs);
  }
  const before = Date.now();
  expect(epochMsOfId(newId())).toBeGreaterThanOrEqual(before);
});

test('ids are UUIDs of version 7, and no two are the same even within one millisecond', () => {
  const ids = Array.from({ length: 10_000 }, () => newId(1_767_225_600_000));
  expect(new Set(ids).size).toBe(ids.length);
  const version7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  expect(ids.filter((id) => !version7.test(id))).toEqual([]);
});

test('ids of one millisecond sort in the order in which they were made', () => {
  for (const epochMs of [1, 1_767_225_600_000, 2 ** 40]) {
    const ids = Array.from({ length: 1000 }, () => newId(epochMs));
    expect(ids.toSorted()).toEqual(ids);
  }
});

test('ids of a later millisecond sort after those of an earlier one', () => {
  const ids = [1, 2, 3, 1000, 2 ** 40].map((epochMs) => newId(epochMs));
  expect(ids.toSorted()).toEqual(ids);
});

test('the first id of a millisecond divides the ids that were made before it from those that were not', () => {
  for (const epochMs of [1, 1_767_225_600_000, 2 ** 48 - 1]) {
    expect(newId(epochMs - 1) < firstIdAt(epochMs)).toBe(true);
    expect(firstIdAt(epochMs) <= newId(epochMs)).toBe(true);
  }
});

test('what is no UUID is told apart', () => {
  expect(isUuid('0198c0de-0000-7000-8000-000000000000')).toBe(true);
  expect(isUuid('0198C0DE-0000-4000-8000-00000000000A')).toBe(true);
  for (const text of [
    '',
    '0198c0de',
    '0198c0de00007000800000000000000 0',
    '{0198c0de-0000-7000-8000-000000000000}',
    '0198c0de-0000-7000-8000-00000000000g',
    '0198c0de-0000-7000-8000-000000000000\n',
  ])
    expect(isUuid(text)).toBe(false);
});
