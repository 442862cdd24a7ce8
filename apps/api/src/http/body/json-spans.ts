// Finds where things stand in a JSON text. JSON.parse turns 0.1234567890123456789 into a float and keeps the last of two equal
// keys without a word: the digits and the first key are only in the text. These functions check no syntax, which JSON.parse
// does before or afterwards. In a text that is no JSON they find something meaningless, and end with the text at the latest.

import { Refusal } from '@weir/shared/errors';

/** The keys of an object, and where their values begin and end (exclusive). Lists, since most objects have too few keys for a map. */
export class Spans {
  readonly keys: string[] = [];
  readonly starts: number[] = [];
  readonly ends: number[] = [];

  get(key: string): readonly [start: number, end: number] | undefined {
    const index = this.keys.indexOf(key);
    const [start, end] = [this.starts[index], this.ends[index]];
    return start === undefined || end === undefined ? undefined : [start, end];
  }
}

/** In an object with more keys than this, a set finds sooner than the list whether one stands there twice. */
const FEW_KEYS = 16;

const TAB = 0x09;
const LINE_FEED = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** The first position from `at` that is not white space of JSON. */
export function skipSpace(text: string, at: number): number {
  let position = at;
  for (;;) {
    const code = text.charCodeAt(position);
    if (code > SPACE || (code !== SPACE && code !== LINE_FEED && code !== RETURN && code !== TAB)) return position;
    position += 1;
  }
}

/** The position after the string that begins at `at`. */
export function skipString(text: string, at: number): number {
  const quote = text.indexOf('"', at + 1);
  if (quote === -1) return text.length;
  // Most strings have no backslash, so that the first quote ends them.
  if (text.charCodeAt(quote - 1) !== BACKSLASH) return quote + 1;
  let position = at + 1;
  while (position < text.length) {
    const code = text.charCodeAt(position);
    if (code === QUOTE) return position + 1;
    position += code === BACKSLASH ? 2 : 1;
  }
  return text.length;
}

/** The position after the value that begins at `at`. */
function skipValue(text: string, at: number): number {
  let position = at;
  let depth = 0;
  while (position < text.length) {
    const code = text.charCodeAt(position);
    if (code === QUOTE) {
      position = skipString(text, position);
      if (depth === 0) return position;
      continue;
    }
    if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      // A bare number or word ends where the object or array around it does.
      if (depth === 0) return position;
      depth -= 1;
      if (depth === 0) return position + 1;
    } else if (depth === 0 && (code === COMMA || code <= 0x20)) return position;
    position += 1;
  }
  return text.length;
}

/** The members of the object that begins at `at`, of JSON that JSON.parse has taken. Refuses a key that stands there twice. */
export function spansOfMembers(text: string, at: number): Spans {
  const spans = new Spans();
  let many: Set<string> | undefined;
  let position = skipSpace(text, at + 1);
  while (text.charCodeAt(position) !== CLOSE_BRACE) {
    const keyEnd = skipString(text, position);
    const raw = text.slice(position + 1, keyEnd - 1);
    const key = raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
    if (spans.keys.length === FEW_KEYS) many = new Set(spans.keys);
    if (many === undefined ? spans.keys.includes(key) : many.has(key)) throw twice(key);
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = skipValue(text, start);
    many?.add(key);
    spans.keys.push(key);
    spans.starts.push(start);
    spans.ends.push(end);
    position = skipSpace(text, end);
    if (text.charCodeAt(position) === COMMA) position = skipSpace(text, position + 1);
  }
  return spans;
}

/** The refusal of an object in which a key stands twice. */
export function twice(key: string): Refusal {
  const name = JSON.stringify(key.slice(0, 64));
  return new Refusal('malformed_json', `The key ${name} stands twice in one object: send it once.`);
}

/** Where the items of an array begin and end (exclusive), and where the array itself ends. */
export interface Items {
  starts: number[];
  ends: number[];
  end: number;
}

/**
 * The items of the array that begins at `at`, of a text that JSON.parse has not seen. Checks the syntax between the items, and
 * not the items: returns undefined where it is not that of an array. Where there are more than `max` items, it stops after
 * one more than that.
 */
export function itemsOf(text: string, at: number, max: number): Items | undefined {
  const items: Items = { starts: [], ends: [], end: 0 };
  let position = skipSpace(text, at + 1);
  if (text.charCodeAt(position) === CLOSE_BRACKET) return { ...items, end: position + 1 };
  for (;;) {
    const end = skipValue(text, position);
    items.starts.push(position);
    items.ends.push(end);
    if (items.starts.length > max) return items;
    position = skipSpace(text, end);
    const code = text.charCodeAt(position);
    if (code === CLOSE_BRACKET) return { ...items, end: position + 1 };
    if (code !== COMMA) return undefined;
    position = skipSpace(text, position + 1);
  }
}
