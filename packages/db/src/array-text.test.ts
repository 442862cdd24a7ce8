import { expect, test } from 'vitest';
import { plainArray, textArray } from './array-text.ts';

test('nothing is told from the text NULL', () => {
  expect(plainArray(['1.5', null, '2'])).toBe('{1.5,null,2}');
  expect(plainArray([true, false])).toBe('{true,false}');
  expect(plainArray([])).toBe('{}');
  expect(textArray([null, 'NULL', ''])).toBe('{NULL,"NULL",""}');
});

test('quotes and backslashes are escaped, and nothing else is', () => {
  const written = (value: string) => textArray([value]);
  expect(written('{"a": "b"}')).toBe(String.raw`{"{\"a\": \"b\"}"}`);
  expect(written(String.raw`{"a":"\n\u0001"}`)).toBe(String.raw`{"{\"a\":\"\\n\\u0001\"}"}`);
  expect(written('"\n\t\u0001\u007f😀\u2028')).toBe('{"\\"\n\t\u0001\u007f😀\u2028"}');
  expect(written('\n\u001f,{}')).toBe('{"\n\u001f,{}"}');
});
