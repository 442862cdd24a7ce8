import { Refusal } from '@weir/shared/errors';
import { describe, expect, test } from 'vitest';
import { mayHideDigits, problemOfMetadataText } from './metadata-text.ts';

describe('metadata that Postgres would take for something else than JavaScript did is refused', () => {
  test.each(['{"a":1e-20000}', '{"a":[{"b":-1.5E+309}]}', '{"a":1e400000}'])('a number out of range: %s', (text) => {
    expect(problemOfMetadataText(text)).toBe('must not hold a number that is out of range');
  });

  test.each(['{"a":"\\u0000","a":1}', '{"a":{"b":1,"b":2}}', '{"a":[0,{"b":1,"\\u0062":2}]}'])(
    'a key that stands twice: %s',
    (text) => {
      expect(() => problemOfMetadataText(text)).toThrow(Refusal);
    },
  );

  test('text of more than 8 KiB', () => {
    expect(problemOfMetadataText(`{"a":"${'ä'.repeat(4_100)}"}`)).toContain('8192 bytes');
  });
});

test.each(['{}', '{ "a" : [1, 2.5e10, {"b": "1e999"}], "c": null, "d": true }', '{"a":1e308,"b":-0.5}'])(
  '%s is taken',
  (text) => {
    expect(problemOfMetadataText(text)).toBeUndefined();
  },
);

test('only a long number or one with an exponent can hide digits', () => {
  expect(mayHideDigits('{"user_id":9007199254740993}')).toBe(true);
  expect(mayHideDigits('{"x":1e2}')).toBe(true);
  expect(mayHideDigits('{"user_id":900719925474099,"price":12.50}')).toBe(false);
});
