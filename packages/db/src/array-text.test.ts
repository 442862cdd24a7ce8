import { expect, test } from 'vitest';
import { plainArray, textArray } from './array-text.ts';

test('nothing is told from the text NULL', () => {
  expect(plainArray(['1.5', null, '2'])).toBe('{1.5,null,2}');
  expect(plainArray([true, false])).toBe('{true,false}');
  expect(plainArray([])).toBe('{}');
  expect(textArray([null, 'NULL', ''])).toBe('{NULL,"NULL",""}');
});
