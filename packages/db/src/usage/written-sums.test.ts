import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { WrittenSums } from './written-sums.ts';

const NONE = { event_count: null, usage: null };

test('sums are found in any order, and those that are not there are none', () => {
  const keys = fc.uniqueArray(fc.nat({ max: 40 })).map((all) => all.toSorted((a, b) => a - b));
  fc.assert(
    fc.property(keys, fc.array(fc.nat({ max: 41 })), (written, asked) => {
      const sums = new WrittenSums(written.map((key) => `${key} ${key + 1} ${key}.5`).join());
      for (const key of asked) {
        const there = { event_count: String(key + 1), usage: `${key}.5` };
        expect(sums.find(key)).toEqual(written.includes(key) ? there : NONE);
      }
    }),
  );
});

test('a sum without usage has a count, and no text has no sums', () => {
  expect(new WrittenSums('0 3,2 1 1.5').find(0)).toEqual({ event_count: '3', usage: null });
  expect(new WrittenSums(null).find(0)).toEqual(NONE);
});
