// Values by a JSON schema: valid ones, and valid ones with one thing wrong. What is generated is plain data that prints as it
// is; what only exists while the test runs, and what JSON.stringify cannot write, stands in it as a mark.

import fc, { type Arbitrary } from 'fast-check';
import type { Schema } from '../openapi-document.ts';

/** A JSON value. */
export type Value = null | boolean | number | string | Value[] | { [key: string]: Value };

/** Stands for the id of a thing that exists: one of the features, say. */
export const idOf = (kind: string, index: number): string => `<${kind}#${index}>`;

/** Stands for a number as it is written, such as 1e400. */
export const literal = (text: string): string => `<literal:${text}>`;

/** The JSON text of a value, with every literal as it is written. */
export function jsonOf(value: Value): string {
  return JSON.stringify(value).replace(/"<literal:([^>]*)>"/g, '$1');
}

/** A value as it stands in a URL or a header, where there is nothing but text. */
export function textOf(value: Value): string {
  return typeof value === 'string' ? value.toWellFormed() : jsonOf(value);
}

/** Arbitraries for fields whose meaning the document tells in words only, by the name of the field. */
export type Meanings = Record<string, Arbitrary<Value>>;

/** Valid values, as far as the schema says what is valid. */
export function valid(schema: Schema, meanings: Meanings, name = ''): Arbitrary<Value> {
  const meaning = meanings[name];
  if (meaning !== undefined) return meaning;
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...(schema.enum as Value[]));
  if (schema.examples !== undefined) return fc.constantFrom(...(schema.examples as Value[]));
  const branches = schema.oneOf ?? schema.anyOf;
  if (branches !== undefined) return fc.oneof(...branches.map((branch) => valid(branch, meanings, name)));
  switch (schema.type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer': {
      const { minimum: min = -1_000_000, maximum: max = 1_000_000 } = schema;
      return fc.oneof(fc.integer({ min, max }), fc.constantFrom(min, max));
    }
    case 'number':
      return numbers(schema);
    case 'string':
      return texts(schema);
    case 'array': {
      const items = { minLength: schema.minItems ?? 0, maxLength: 3 };
      const item = valid(schema.items ?? {}, meanings, name);
      return fc.uniqueArray(item, { ...items, selector: (value) => JSON.stringify(value) });
    }
    case 'object':
      return objects(schema, meanings);
    case undefined:
    default:
      return anything;
  }
}

function numbers({ minimum, exclusiveMinimum, maximum = 1e15 }: Schema): Arbitrary<Value> {
  const min = minimum ?? exclusiveMinimum ?? -maximum;
  const isExclusive = exclusiveMinimum !== undefined;
  return fc.oneof(
    fc.integer({ min: Math.ceil(min) + (isExclusive ? 1 : 0), max: 1_000 }),
    fc.double({ min, max: maximum, minExcluded: isExclusive, noNaN: true }).filter((number) => !Object.is(number, -0)),
    fc.constantFrom('0.1', '0.30000000000000004', '1.50', '1E+2', '1e-9', '5e-324', String(maximum)).map(literal),
  );
}

const UNSTORABLE = /[\0\ud800-\udfff]/u;

function texts({ minLength = 0, maxLength = 40, pattern, format }: Schema): Arbitrary<string> {
  const expression = pattern === undefined ? undefined : new RegExp(pattern, 'u');
  const isValid = (text: string): boolean => {
    const { length } = Array.from(text);
    const fits = length >= minLength && length <= maxLength && !UNSTORABLE.test(text);
    return fits && (expression?.test(text) ?? true);
  };
  if (format === 'uuid') return fc.uuid({ version: 7 });
  if (format === 'email') return fc.emailAddress().filter(isValid);
  // The pattern of a slug says all there is to say of it; others only say what a text must hold.
  if (pattern?.startsWith('^') === true && expression !== undefined)
    return fc.stringMatching(expression).filter(isValid);
  const short = Math.min(maxLength, minLength + 20);
  return fc.oneof(
    fc.string({ minLength, maxLength: short }).filter(isValid),
    fc.string({ unit: 'binary', minLength, maxLength: short }).filter(isValid),
    fc.constantFrom('x'.repeat(maxLength), '👋'.repeat(maxLength), 'é'.repeat(Math.max(1, minLength))).filter(isValid),
  );
}

function objects(
  { properties = {}, required = [], minProperties = 0, additionalProperties }: Schema,
  meanings: Meanings,
) {
  if (Object.keys(properties).length === 0 && additionalProperties !== false) return metadata;
  const fields = Object.entries(properties).map(([name, schema]) => [name, valid(schema, meanings, name)] as const);
  return fc
    .record(Object.fromEntries(fields), { requiredKeys: required, noNullPrototype: true })
    .filter((object) => Object.keys(object).length >= minProperties);
}

const anything: Arbitrary<Value> = fc.oneof(
  fc.string().filter((text) => !UNSTORABLE.test(text)),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
);

/** Free data within the limits that the document tells in words: 50 keys, 8 KiB, 5 levels. */
const metadata = fc.dictionary(
  fc.string({ maxLength: 20 }).filter((key) => key !== '__proto__'),
  fc.oneof(anything, fc.array(anything, { maxLength: 3 })),
  { maxKeys: 5, noNullPrototype: true },
);

/** What takes the place of a value, or of a part of one. */
const strange: Arbitrary<Value> = fc.oneof(
  fc.constantFrom<Value>(
    null,
    true,
    0,
    -1,
    0.1,
    '',
    ' ',
    'x',
    [],
    {},
    [null],
    'now',
    'infinity',
    '0000-01-01T00:00:00Z',
  ),
  fc.constantFrom('1e400', '-1e400', '-0', '1e-400', '9007199254740993', '1'.repeat(500)).map(literal),
  fc.constantFrom(
    '\0',
    '\ud83d',
    '\udc00\ud83d',
    '\u202e\u200b',
    'e\u0301',
    '\uffff',
    'x'.repeat(300),
    '👋'.repeat(256),
  ),
  fc.constantFrom('x'.repeat(3_000), 'null', '__proto__', '2026-02-30T00:00:00Z', '2026-01-31T23:59:60Z'),
  fc.string({ unit: 'binary' }),
  fc.jsonValue({ maxDepth: 2 }) as Arbitrary<Value>,
);

/** A value with one thing wrong: a field left out, added or replaced, here or further in. */
export function nearlyValid(value: Value): Arbitrary<Value> {
  if (typeof value === 'string') return fc.oneof(strange, fc.constantFrom(`${value}x`, value.slice(1)));
  if (typeof value === 'number') return fc.oneof(strange, fc.constantFrom(value + 1, value - 1, value + 0.5));
  if (typeof value !== 'object' || value === null) return strange;
  if (Array.isArray(value)) {
    const changed = value.map((item, index) => nearlyValid(item).map((other) => value.with(index, other)));
    return fc.oneof(strange, ...changed);
  }
  const keys = Object.keys(value);
  const changed = keys.flatMap((key) => [
    fc.constant(Object.fromEntries(Object.entries(value).filter(([each]) => each !== key))),
    nearlyValid(value[key] ?? null).map((other) => ({ ...value, [key]: other })),
  ]);
  const added = fc
    .tuple(fc.oneof(fc.constantFrom('nmae', 'constructor', 'id', ''), fc.string()), strange)
    .map(([key, other]) => Object.fromEntries([...Object.entries(value), [key, other]]));
  return fc.oneof(strange, added, ...changed);
}
