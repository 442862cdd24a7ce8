// Decimals of a body, with the digits that were sent. JSON.parse makes a float of every number, so that
// 123456789012345.123456789012345678 would come to be another price. The text has it as it is.

import { plainDecimal } from '@weir/shared/decimal';
import { itemsOf, skipSpace, spansOfMembers } from './json-spans.ts';

/** Objects and arrays within each other that are looked into: as deep as a schema with decimals goes. */
const LEVELS_MAX = 5;

/** No decimal that is taken is as long. What is longer is left as it was sent, and the schema refuses it by its length. */
const LITERAL_CHARACTERS_MAX = 100;

/**
 * Puts text in the place of numbers: for every member of one of these names whose value is a number, or a list of them, the plain
 * decimal of what was sent, so that its schema gets a text whether a number or a text was sent. `value` is what JSON.parse made of the text from
 * `at` on, and is changed. Refuses an object with a key that stands there twice.
 */
export function putDecimals(
  value: unknown,
  text: string,
  at: number,
  names: ReadonlySet<string>,
  levels = LEVELS_MAX,
): void {
  if (typeof value !== 'object' || value === null || levels === 0) return;
  const start = skipSpace(text, at);
  if (Array.isArray(value)) {
    const { starts = [] } = itemsOf(text, start, value.length) ?? {};
    for (const [index, item] of value.entries()) putDecimals(item, text, starts[index] ?? start, names, levels - 1);
    return;
  }
  const members = value as Record<string, unknown>;
  const { keys, starts, ends } = spansOfMembers(text, start);
  for (const [index, key] of keys.entries()) {
    const member = members[key];
    const from = starts[index] ?? start;
    if (typeof member === 'number' && names.has(key)) members[key] = decimalOf(text.slice(from, ends[index]));
    else if (Array.isArray(member) && names.has(key)) members[key] = decimalsOf(member, text, from);
    else putDecimals(member, text, from, names, levels - 1);
  }
}

function decimalsOf(list: readonly unknown[], text: string, at: number): unknown[] {
  const { starts = [], ends = [] } = itemsOf(text, at, list.length) ?? {};
  return list.map((item, index) =>
    typeof item === 'number' ? decimalOf(text.slice(starts[index], ends[index])) : item,
  );
}

function decimalOf(literal: string): string {
  if (literal.length > LITERAL_CHARACTERS_MAX) return literal;
  const exponent = /[eE](.*)$/.exec(literal)?.[1];
  return exponent !== undefined && Math.abs(Number(exponent)) > LITERAL_CHARACTERS_MAX
    ? literal
    : plainDecimal(literal);
}
