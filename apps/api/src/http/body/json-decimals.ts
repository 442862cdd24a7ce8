// What JSON.parse loses of a body is in its text: the first of two equal keys, and the digits of decimals. It makes a float of every
// number, so that 123456789012345.123456789012345678 would come to be another price.

import { plainDecimal } from '@weir/shared/decimal';
import { itemsOf, skipSpace, skipString, Spans, spansOfMembers } from './json-spans.ts';
import { isRounded } from './metadata-text.ts';

/** Objects and arrays within each other that are looked into: as deep as a schema goes. */
const LEVELS_MAX = 5;

/**
 * Items of arrays, objects and arrays that are looked into. A body that its schema takes has fewer (test/catalog/openapi.test.ts), and of one
 * that it refuses the rest does not matter.
 */
export const LOOKED_INTO_MAX = 50_000;

/** What its route reads by its text, where its bytes are counted first (metadata-text.ts): in here nothing is looked for. */
const READ_BY_TEXT = 'metadata';

/** No decimal that is taken is as long. What is longer is left as it was sent, and the schema refuses it by its length. */
const LITERAL_CHARACTERS_MAX = 100;

const NONE = new Spans();
const NO_DECIMALS: ReadonlySet<string> = new Set();

/**
 * Refuses an object with a key that stands there twice, and puts text in the place of numbers: for every member of one of these names whose
 * value is a number, or a list of them, the plain decimal of what was sent, so that its schema gets a text whether a number or a text was
 * sent. `value` is what JSON.parse made of the text from `at` on, and is changed. Returns where its members stand, where it is an object.
 * Metadata, and what comes after {@link LOOKED_INTO_MAX} values, is left as it is.
 */
export function walkMembers(
  value: unknown,
  text: string,
  at: number,
  decimals = NO_DECIMALS,
  levels = LEVELS_MAX,
  left = { count: LOOKED_INTO_MAX },
): Spans {
  if (typeof value !== 'object' || value === null || levels === 0) return NONE;
  left.count -= 1 + (Array.isArray(value) ? value.length : 0);
  if (left.count < 0) return NONE;
  const start = skipSpace(text, at);
  if (Array.isArray(value)) {
    const { starts = [] } = itemsOf(text, start, value.length) ?? {};
    for (const [index, item] of value.entries())
      walkMembers(item, text, starts[index] ?? start, decimals, levels - 1, left);
    return NONE;
  }
  const members = value as Record<string, unknown>;
  const spans = spansOfMembers(text, start);
  const { keys, starts, ends } = spans;
  for (const [index, key] of keys.entries()) {
    const member = members[key];
    const from = starts[index] ?? start;
    if (typeof member === 'number' && decimals.has(key)) members[key] = decimalOf(text.slice(from, ends[index]));
    else if (Array.isArray(member) && decimals.has(key) && member.length <= left.count)
      members[key] = decimalsOf(member, text, from);
    else if (key !== READ_BY_TEXT) walkMembers(member, text, from, decimals, levels - 1, left);
  }
  return spans;
}

/** The text of JSON, with the decimal that was sent as a text in the place of each number that JavaScript would round. */
export function withRoundedAsText(text: string): string {
  let written = '';
  let from = 0;
  for (let at = 0; at < text.length;) {
    const literal = numberAt(text, at);
    if (literal === '') at = text[at] === '"' ? skipString(text, at) : at + 1;
    else {
      const end = at + literal.length;
      if (isRounded(literal)) {
        written += `${text.slice(from, at)}"${decimalOf(literal)}"`;
        from = end;
      }
      at = end;
    }
  }
  return written + text.slice(from);
}

const NUMBER = /-?\d[\d.eE+-]*/y;

/** The number that begins here; empty where none does. Expects a place outside of texts. */
function numberAt(text: string, at: number): string {
  NUMBER.lastIndex = at;
  return NUMBER.exec(text)?.[0] ?? '';
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
