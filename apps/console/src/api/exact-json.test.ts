import { expect, test } from 'vitest';
import { isJsonObject, parseExact, writeExact } from './exact-json.ts';

test.each([
  '{"user_id":9007199254740993}',
  '{"a":[0.1234567890123456789,1e400,-12345678901234567890],"b":{"c":1.5,"d":null,"e":"9007199254740993"}}',
])('every digit of %s is there again', (text) => {
  expect(writeExact(parseExact(text))).toBe(text);
});

test('a number that JavaScript holds is one', () => {
  expect(parseExact('{"a":12,"b":0.5,"c":-1e3}')).toEqual({ a: 12, b: 0.5, c: -1000 });
});

test('objects are told from all else', () => {
  const texts = ['{}', '[]', 'null', '1', '12345678901234567890', '"x"'];
  expect(texts.map((text) => isJsonObject(parseExact(text)))).toEqual([true, false, false, false, false, false]);
});
