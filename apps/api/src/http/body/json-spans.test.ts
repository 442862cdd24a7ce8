import { Refusal } from '@weir/shared/errors';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { itemsOf, skipSpace, spansOfMembers } from './json-spans.ts';

/** Key → the text of its value. */
function membersOf(text: string): Record<string, string> {
  const spans = spansOfMembers(text, skipSpace(text, 0));
  return Object.fromEntries(spans.keys.map((key) => [key, text.slice(...(spans.get(key) ?? []))]));
}

describe('the members of an object are found as they were written', () => {
  test.each<[string, Record<string, string>]>([
    ['{}', {}],
    [' { } ', {}],
    ['{"a":1}', { a: '1' }],
    ['{ "a" : 1.50e1 , "b":"x" }', { a: '1.50e1', b: '"x"' }],
    ['{"a":0.1234567890123456789}', { a: '0.1234567890123456789' }],
    ['{"a":true,"b":false,"c":null,"d":-0}', { a: 'true', b: 'false', c: 'null', d: '-0' }],
    ['{"a":{"b":[1,{"c":"}]"}]},"d":[]}', { a: '{"b":[1,{"c":"}]"}]}', d: '[]' }],
    ['{"a":"\\"","b":"\\\\","c":"\\\\\\""}', { a: '"\\""', b: '"\\\\"', c: '"\\\\\\""' }],
    ['{"qu\\u0061ntity":1}', { quantity: '1' }],
    ['{"":1}', { '': '1' }],
    ['{"a"\n:\t1\r\n}', { a: '1' }],
    ['{"a,}":1,"b{":"[,"}', { 'a,}': '1', 'b{': '"[,"' }],
    ['{"a":1\n}', { a: '1' }],
  ])('%s', (text, members) => {
    expect(membersOf(text)).toEqual(members);
  });
});

describe('a key that stands twice in one object is refused, however it is spelt', () => {
  test.each([
    '{"quantity":1,"quantity":1000}',
    '{"quantity":1,"qu\\u0061ntity":1000}',
    '{"a":1,"b":2,"a":1}',
    '{"":1,"":2}',
    '{"__proto__":1,"__proto__":2}',
    `{${Array.from({ length: 40 }, (_, index) => `"k${index % 39}":1`).join(',')}}`,
    `{${Array.from({ length: 40 }, (_, index) => `"k${index === 39 ? 30 : index}":1`).join(',')}}`,
  ])('%s', (text) => {
    expect(() => membersOf(text)).toThrow(Refusal);
    expect(() => membersOf(text)).toThrow('stands twice in one object: send it once');
  });

  test('but not one that stands again in an object within', () => {
    expect(membersOf('{"a":{"a":1,"b":{"a":2}},"b":1}')).toEqual({ a: '{"a":1,"b":{"a":2}}', b: '1' });
  });
});

describe('the items of an array', () => {
  const textsOf = (text: string, max = 1_000) => {
    const items = itemsOf(text, skipSpace(text, 0), max);
    return items?.starts.map((start, index) => text.slice(start, items.ends[index]));
  };

  test('are found as they were written', () => {
    expect(textsOf(' [ {"a":[1,2]} ,"x,]",3 , [[]],null]}')).toEqual(['{"a":[1,2]}', '"x,]"', '3', '[[]]', 'null']);
    expect(textsOf('[]')).toEqual([]);
    expect(textsOf('[ \n]')).toEqual([]);
    expect(itemsOf('[1, 2 ] ', 0, 2)?.end).toBe(7);
  });

  test('are not looked for beyond one too many', () => {
    expect(textsOf('[1,2,3,4,5', 2)).toEqual(['1', '2', '3']);
  });

  test.each(['[', '[1', '[1,', '[1,"', '[{', '[1 2]', '[1\v,2]', '["a\\'])(
    'are none where it is no array: %j',
    (text) => {
      expect(textsOf(text)).toBeUndefined();
    },
  );

  test('for every text: where they are found and each of them is JSON, all of it is, and the other way round', () => {
    const isJson = (text: string) => {
      try {
        JSON.parse(text);
        return true;
      } catch {
        return false;
      }
    };
    const pieces = [
      '[',
      ']',
      '{',
      '}',
      '"',
      '\\',
      ',',
      ':',
      ' ',
      '\t',
      '\0',
      '1',
      '"a"',
      '{"a":1}',
      '[1]',
      'null',
      '1,2',
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 12 }), (inner) => {
        const text = `[${inner.join('')}]`;
        const items = itemsOf(text, 0, 1_000);
        const isTaken = items?.end === text.length && (textsOf(text) ?? []).every(isJson);
        expect(isTaken).toBe(isJson(text));
      }),
      { numRuns: 5_000 },
    );
  });
});

test('for every JSON object: the members are those that JSON.parse finds', () => {
  const space = fc.stringMatching(/^[ \n\r\t]{0,3}$/);
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), space, (object, between) => {
      const entries = Object.entries(object).map(
        ([key, value]) => `${JSON.stringify(key)}${between}:${between}${JSON.stringify(value, null, between)}`,
      );
      const text = `${between}{${between}${entries.join(`${between},${between}`)}${between}}`;
      expect(Object.keys(membersOf(text)).toSorted()).toEqual(Object.keys(object).toSorted());
      for (const [key, value] of Object.entries(membersOf(text)))
        expect(JSON.parse(value)).toEqual(JSON.parse(JSON.stringify(object[key])));
    }),
  );
});

test('values that are nested 100,000 levels deep are passed over without overflowing the stack', () => {
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  expect(membersOf(`{"a":${deep},"b":1}`)).toEqual({ a: deep, b: '1' });
});
