import { Refusal } from '@weir/shared/errors';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { problemOfMetadataText, readMetadataText } from './metadata-text.ts';

const keys = (count: number) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, index])));
const nested = (levels: number) => `${'{"deeper":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`;

describe('metadata may hold', () => {
  test.each([
    ['nothing', '{}'],
    [
      'white space',
      ' { "a" : [ 1 , 2.5e10 , { "b" : "1e999" } , [ ] , { } ] , "c" : null , "d" : true , "e" : false } '.trim(),
    ],
    ['50 keys', keys(50)],
    ['more keys further in', `{"a":${keys(51)}}`],
    ['5 levels', nested(5)],
    ['5 levels, counted through arrays', '{"a":[[[["leaf"]]]]}'],
    ['texts of every script', '{"a":"Grüße 👋","b":"\\u0041\\ud83d\\udc4b","c":"\\\\u0000","d":"\\"]}"}'],
    ['keys named like methods of every object', '{"constructor":1,"toString":2,"hasOwnProperty":3}'],
    ['the largest numbers that Postgres takes', '{"a":1e308,"b":-0.5,"c":1e-308}'],
    ['as many numbers as 8 KiB hold', `{"a":[${Array(4_092).fill('1').join()}]}`],
    ['as many empty arrays as 8 KiB hold', `{"a":[${Array(2_728).fill('[]').join()}]}`],
  ])('%s', (_, text) => {
    expect(problemOfMetadataText(text)).toBeUndefined();
  });
});

describe('metadata may not hold', () => {
  test.each([
    ['more than 8 KiB', `{"a":"${'ä'.repeat(4_100)}"}`, 'must take at most 8192 bytes'],
    ['51 keys', keys(51), 'must have at most 50 keys'],
    ['6 levels', nested(6), 'must be nested at most 5 levels deep'],
    ['6 levels of arrays', '{"a":[[[[[]]]]]}', 'must be nested at most 5 levels deep'],
    ['4,000 levels', `{"a":${'['.repeat(4_000)}${']'.repeat(4_000)}}`, 'must be nested at most 5 levels deep'],
    ['a NUL character', '{"a":"x\\u0000"}', 'must not hold a NUL character or half of a surrogate pair'],
    [
      'half of a surrogate pair',
      '{"a":{"b":["\\ud83d"]}}',
      'must not hold a NUL character or half of a surrogate pair',
    ],
    ['a NUL in a key', '{"a\\u0000":1}', 'must not hold a NUL character or half of a surrogate pair in a key'],
    ['a number too small', '{"a":1e-20000}', 'must not hold a number that is out of range'],
    ['a number too large', '{"a":[{"b":-1.5E+309}]}', 'must not hold a number that is out of range'],
    ['a number too large by its digits', `{"a":${'9'.repeat(400)}}`, 'must not hold a number that is out of range'],
  ])('%s', (_, text, problem) => {
    expect(problemOfMetadataText(text)).toBe(problem);
  });

  test.each(['{"a":0,"a":1}', '{"a":{"b":1,"b":2}}', '{"a":[0,{"b":1,"\\u0062":2}]}'])('a key twice: %s', (text) => {
    expect(() => problemOfMetadataText(text)).toThrow(Refusal);
  });

  test('a key that stands twice among many', () => {
    const text = keys(40).replace('key39', 'key7');
    expect(() => problemOfMetadataText(text)).toThrow('"key7" stands twice');
  });
});

test('metadata that is too long is refused before anything of it is looked into', () => {
  expect(problemOfMetadataText(`{"a":1,"a":${'['.repeat(100_000)}`)).toBe('must take at most 8192 bytes');
});

const canonicalOf = (text: string): string => {
  const read = readMetadataText(text, true);
  if (read.problem !== undefined) throw new Error(`${text}: ${read.problem}`);
  return read.canonical;
};

describe('the canonical form', () => {
  test.each([
    ['{"b":{"y":[1,"x"],"x":null},"a":true}', '{ "a" : true, "b" : { "x" : null , "y" : [ 1 , "x" ] } }'],
    ['{"id":"8d7e2f31-1e4f-4d6b-9c3a-2b1f0e9d8c7b","v":1}', '{"v": 1, "id": "8d7e2f31-1e4f-4d6b-9c3a-2b1f0e9d8c7b"}'],
    ['{"hash":"1234567890123456789012345678901e","v":1}', '{"v":1,"hash":"1234567890123456789012345678901e"}'],
    ['{"card":"4111111111111111"}', '{ "card": "4111111111111111" }'],
    ['{"A":"A/B"}', '{"\\u0041":"\\u0041\\/B"}'],
    ['{"a":"👋"}', '{"a":"\\ud83d\\uDC4B"}'],
    ['{"n":100}', '{"n":1.00e2}'],
    ['{"n":0}', '{"n":-0.00e17}'],
    ['{"user_id":12345678901234567890}', '{ "user_id": 1234567890123456789e1 }'],
  ])('is the same for equal JSON: %s and %s', (one, other) => {
    expect(canonicalOf(one)).toBe(canonicalOf(other));
  });

  test.each([
    ['{"user_id":9007199254740992}', '{"user_id":9007199254740993}'],
    ['{"n":0.1}', '{"n":0.10000000000000000001}'],
    ['{"n":1e-300}', '{"n":1e-301}'],
    ['{"n":1}', '{"n":"1"}'],
    ['{"n":1}', '{"n":-1}'],
    ['{"n":null}', '{"n":"null"}'],
    ['{"x":{"a":1}}', '{"x":[["a",1]]}'],
    ['{"x":["a,b"]}', '{"x":["a","b"]}'],
    ['{"a\\"":1}', '{"a":1}'],
    ['{}', '{"a":null}'],
  ])('tells other JSON apart: %s and %s', (one, other) => {
    expect(canonicalOf(one)).not.toBe(canonicalOf(other));
  });

  /** JSON with exact numbers: a whole number of tenths, hundredths and so on. */
  type Tree = null | boolean | string | { digits: bigint; power: number } | Tree[] | Map<string, Tree>;
  type Choose = (below: number) => number;

  /** The plainest model: every number as its digits without zeros at the end, every object as its sorted pairs. */
  function model(tree: Tree): unknown {
    if (tree instanceof Map) return { pairs: [...tree].map(([key, value]) => [key, model(value)]).sort(byKey) };
    if (Array.isArray(tree)) return tree.map(model);
    if (tree === null || typeof tree !== 'object') return tree;
    let { digits, power } = tree;
    for (; digits !== 0n && digits % 10n === 0n; digits /= 10n) power += 1;
    return { number: digits === 0n ? '0' : `${digits} ${power}` };
  }
  const byKey = ([a]: unknown[], [b]: unknown[]): number => (String(a) < String(b) ? -1 : 1);

  /** One of the many texts of a tree. */
  function spell(tree: Tree, choose: Choose): string {
    const space = () => [' ', '\n', '\t ', '', '', ''][choose(6)] ?? '';
    const list = (items: string[]) => items.map((item) => space() + item + space()).join(',');
    if (tree instanceof Map) {
      const pairs = [...tree].sort(() => choose(3) - 1);
      return `{${list(pairs.map(([key, value]) => `${spellText(key, choose)}${space()}:${space()}${spell(value, choose)}`))}${space()}}`;
    }
    if (Array.isArray(tree)) return `[${list(tree.map((item) => spell(item, choose)))}${space()}]`;
    if (typeof tree === 'string') return spellText(tree, choose);
    if (tree === null || typeof tree !== 'object') return String(tree);
    return spellNumber(tree, choose);
  }

  function spellText(text: string, choose: Choose): string {
    const units = Array.from({ length: text.length }, (_, index) => text.charCodeAt(index));
    const escapesAll = choose(3) === 0;
    const isPair = /[\ud800-\udfff]/.test(text);
    const spelled = units.map((unit, index) => {
      const plain = JSON.stringify(text.charAt(index)).slice(1, -1);
      const isEscaped = escapesAll || (!isPair && choose(4) === 0);
      return isEscaped ? `\\u${unit.toString(16).padStart(4, '0')}` : isPair ? text.charAt(index) : plain;
    });
    return isPair && !escapesAll ? JSON.stringify(text) : `"${spelled.join('')}"`;
  }

  function spellNumber({ digits, power }: { digits: bigint; power: number }, choose: Choose): string {
    const zeros = choose(4);
    const shown = (digits * 10n ** BigInt(zeros)).toString();
    const exponent = power - zeros;
    if (exponent === 0 && choose(2) === 0) return shown;
    if (exponent < 0 && choose(2) === 0) {
      const unsigned = shown.replace('-', '').padStart(1 - exponent, '0');
      return `${digits < 0n ? '-' : ''}${unsigned.slice(0, exponent)}.${unsigned.slice(exponent)}`;
    }
    return `${shown}${'eE'.charAt(choose(2))}${exponent >= 0 && choose(2) === 0 ? '+' : ''}${exponent}`;
  }

  const trees = (text: fc.Arbitrary<string>, digits: fc.Arbitrary<bigint>) =>
    fc.letrec<{ any: Tree; object: Tree }>((tie) => ({
      any: fc.oneof(
        { maxDepth: 3, depthIdentifier: 'metadata' },
        fc.constantFrom(null, true, false),
        text,
        fc.record({ digits, power: fc.integer({ min: -25, max: 25 }) }),
        fc.array(tie('any'), { maxLength: 3, depthIdentifier: 'metadata' }),
        tie('object'),
      ),
      object: fc
        .uniqueArray(fc.tuple(text, tie('any')), {
          maxLength: 12,
          selector: ([key]) => key,
          depthIdentifier: 'metadata',
        })
        .map((pairs) => new Map(pairs)),
    })).object;
  const anyText = fc.string({ unit: 'binary', maxLength: 8 }).filter((text) => !text.includes('\0'));
  const choices = fc.infiniteStream(fc.nat(1_000));
  const choosing =
    (stream: Iterator<number>): Choose =>
    (below) =>
      (stream.next().value as number) % below;

  test('is the same for all texts of the same JSON', () => {
    const anyTree = trees(anyText, fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }));
    fc.assert(
      fc.property(anyTree, choices, choices, (tree, one, other) => {
        const [first, second] = [spell(tree, choosing(one)), spell(tree, choosing(other))];
        fc.pre(problemOfMetadataText(first) === undefined && problemOfMetadataText(second) === undefined);
        expect(canonicalOf(first)).toBe(canonicalOf(second));
        expect(() => JSON.parse(first)).not.toThrow();
      }),
      { numRuns: 1_000 },
    );
  });

  test('is the same only for texts of the same JSON', () => {
    const fewTrees = trees(fc.constantFrom('', 'a', 'b', '1', ','), fc.constantFrom(0n, 1n, 10n, -1n));
    fc.assert(
      fc.property(fewTrees, fewTrees, choices, (one, other, stream) => {
        const [first, second] = [spell(one, choosing(stream)), spell(other, choosing(stream))];
        const areEqual = JSON.stringify(model(one)) === JSON.stringify(model(other));
        expect(canonicalOf(first) === canonicalOf(second)).toBe(areEqual);
      }),
      { numRuns: 3_000 },
    );
  });
});
