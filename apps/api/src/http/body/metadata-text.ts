// The limits of metadata, checked on its text in one walk. The text is what Postgres gets, and it must hold nothing that
// JSON.parse hid: of two equal keys the first, and numbers that are 0 or rounded for JavaScript and are not for Postgres. The
// same walk writes the canonical form, which is equal for equal JSON. Next: read-event.ts.

import { isStorable } from '@weir/shared/text';
import { LIMITS } from '@weir/shared/limits';
import { skipSpace, skipString, spansOfMembers, twice } from './json-spans.ts';

/** Beyond this Postgres's numeric need not take a number, and a UNIQUE_COUNT meter takes `user_id` for one. */
const EXPONENT_MAX = 308;

/** A decimal of this many digits is no other one for JavaScript. */
const EXACT_DIGITS = 15;

/** Within ten to this and its inverse that is so of every such decimal: nothing is rounded away to 0 or to infinity. */
const EXACT_EXPONENT = 280;

/** Beyond this many keys of an object a set knows sooner than the list whether one stands there twice. */
const FEW_KEYS = 16;

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const LETTER_F = 0x66;

/** The text of metadata, as it was found to be: with what is wrong with it, or with its canonical form where that was asked for. */
export type MetadataText = { problem: string } | { problem?: never; canonical: string };

/**
 * Reads the text of metadata that JSON.parse took for an object. Throws the Refusal of a key that stands twice. Text that
 * is too long is refused before it is looked into, and nothing deeper than the limit is, so the work grows with the bytes alone.
 */
export function readMetadataText(text: string, wantsCanonical: boolean): MetadataText {
  if (isTooLong(text)) return { problem: `must take at most ${LIMITS.metadataBytes} bytes` };
  const walk = new Walk(text, wantsCanonical);
  const canonical = walk.value(0);
  return walk.problem === undefined ? { canonical } : { problem: walk.problem };
}

/** Returns why the text of metadata is refused, or undefined. */
export function problemOfMetadataText(text: string): string | undefined {
  return readMetadataText(text, false).problem;
}

/**
 * Returns the first key of metadata within whose value JavaScript rounds a number, so that it would come back as another one; undefined
 * where none is rounded. Expects text that {@link problemOfMetadataText} finds nothing wrong with.
 */
export function roundedKeyOf(text: string): string | undefined {
  const isRounded = (json: string) =>
    new Walk(json, true).value(0) !== new Walk(JSON.stringify(JSON.parse(json)), true).value(0);
  if (!isRounded(text)) return undefined;
  const { keys, starts, ends } = spansOfMembers(text, 0);
  return keys.find((_, index) => isRounded(`[${text.slice(starts[index], ends[index])}]`));
}

/** Whether JavaScript makes another number of a literal. */
export function isRounded(literal: string): boolean {
  const exact = canonicalNumber(literal);
  return exact === undefined || exact !== canonicalNumber(String(Number(literal)));
}

function isTooLong(text: string): boolean {
  if (text.length > LIMITS.metadataBytes) return true;
  // No character of JavaScript's takes more than three bytes.
  return text.length * 3 > LIMITS.metadataBytes && Buffer.byteLength(text) > LIMITS.metadataBytes;
}

/** One walk over a text, from its first character to its last. What it writes is only of use where it meets no problem. */
class Walk {
  readonly #text: string;
  readonly #writes: boolean;
  /** Only an escape can write what Postgres cannot hold: the body is UTF-8, and JSON takes no raw NUL. */
  readonly #hasEscapes: boolean;
  #at = 0;
  /** The first thing that is wrong. The walk ends with it. */
  problem: string | undefined;

  constructor(text: string, writes: boolean) {
    this.#text = text;
    this.#writes = writes;
    this.#hasEscapes = text.includes('\\');
  }

  /** Walks over the value that begins here, within `level` others, and returns its canonical form. */
  value(level: number): string {
    const code = this.#text.charCodeAt(this.#at);
    if (code === QUOTE) return this.#string();
    if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (level === LIMITS.metadataLevels)
        return this.#fail(`must be nested at most ${LIMITS.metadataLevels} levels deep`);
      return code === OPEN_BRACE ? this.#object(level + 1) : this.#array(level + 1);
    }
    if (code === MINUS || (code >= DIGIT_0 && code <= DIGIT_9)) return this.#number();
    const start = this.#at;
    this.#at += code === LETTER_F ? 5 : 4;
    return this.#text.slice(start, this.#at);
  }

  #fail(problem: string): string {
    this.problem = problem;
    return '';
  }

  #object(level: number): string {
    const members = new Members();
    this.#at = skipSpace(this.#text, this.#at + 1);
    while (this.#text.charCodeAt(this.#at) !== CLOSE_BRACE) {
      if (level === 1 && members.keys.length === LIMITS.metadataKeys)
        return this.#fail(`must have at most ${LIMITS.metadataKeys} keys`);
      const start = this.#at;
      this.#at = skipString(this.#text, start);
      const key = this.#textOf(start, this.#at);
      if (this.#hasEscapes && !isStorable(key))
        return this.#fail('must not hold a NUL character or half of a surrogate pair in a key');
      if (members.has(key)) throw twice(key);
      this.#at = skipSpace(this.#text, skipSpace(this.#text, this.#at) + 1);
      members.add(key, this.value(level));
      if (this.problem !== undefined) return '';
      this.#next();
    }
    this.#at += 1;
    return this.#writes ? members.inOrder() : '';
  }

  #array(level: number): string {
    let written = '[';
    this.#at = skipSpace(this.#text, this.#at + 1);
    while (this.#text.charCodeAt(this.#at) !== CLOSE_BRACKET) {
      const item = this.value(level);
      if (this.problem !== undefined) return '';
      if (this.#writes) written += written.length === 1 ? item : `,${item}`;
      this.#next();
    }
    this.#at += 1;
    return this.#writes ? `${written}]` : '';
  }

  /** Goes on to the next key or item, or to what ends the object or array. */
  #next(): void {
    this.#at = skipSpace(this.#text, this.#at);
    if (this.#text.charCodeAt(this.#at) === COMMA) this.#at = skipSpace(this.#text, this.#at + 1);
  }

  #string(): string {
    const start = this.#at;
    this.#at = skipString(this.#text, start);
    if (!this.#hasEscapes) return this.#writes ? this.#text.slice(start, this.#at) : '';
    const value = this.#textOf(start, this.#at);
    if (!isStorable(value)) return this.#fail('must not hold a NUL character or half of a surrogate pair');
    return this.#writes ? JSON.stringify(value) : '';
  }

  /** Returns the string from one quote to behind the other, without its escapes. */
  #textOf(start: number, end: number): string {
    const raw = this.#text.slice(start + 1, end - 1);
    return this.#hasEscapes && raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
  }

  #number(): string {
    const start = this.#at;
    let isPlain = true;
    for (;;) {
      const code = this.#text.charCodeAt(this.#at);
      // A digit, a sign, a point or the letter of an exponent.
      if (code === COMMA || code === CLOSE_BRACKET || code === CLOSE_BRACE || code <= 0x20) break;
      if (code > DIGIT_9) isPlain = false;
      this.#at += 1;
    }
    const literal = this.#text.slice(start, this.#at);
    if (isPlain && literal.length <= EXACT_DIGITS) return this.#writes ? String(Number(literal)) : '';
    const written = canonicalNumber(literal);
    return written ?? this.#fail('must not hold a number that is out of range');
  }
}

/** One text for all literals of the same decimal, whatever its digits; undefined for one that is out of range. */
function canonicalNumber(literal: string): string | undefined {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = NUMBER.exec(literal) ?? [];
  if (Math.abs(Number(exponent)) > EXPONENT_MAX || !Number.isFinite(Number(literal))) return undefined;
  const digits = (whole + fraction).replace(/^0+/, '');
  let end = digits.length;
  while (end > 0 && digits.charCodeAt(end - 1) === DIGIT_0) end -= 1;
  if (end === 0) return '0';
  const power = Number(exponent) - fraction.length + digits.length - end;
  const isExact = end <= EXACT_DIGITS && Math.abs(power) <= EXACT_EXPONENT;
  return isExact ? String(Number(literal)) : `${sign}${digits.slice(0, end)}e${power}`;
}

/** The members of one object, and the canonical form of each value. */
class Members {
  readonly keys: string[] = [];
  readonly #values: string[] = [];
  #many: Set<string> | undefined;
  #isInOrder = true;

  has(key: string): boolean {
    if (this.keys.length < FEW_KEYS) return this.keys.includes(key);
    this.#many ??= new Set(this.keys);
    return this.#many.has(key);
  }

  add(key: string, value: string): void {
    this.#isInOrder &&= this.keys.length === 0 || (this.keys.at(-1) ?? '') < key;
    this.#many?.add(key);
    this.keys.push(key);
    this.#values.push(value);
  }

  inOrder(): string {
    const { keys } = this;
    const order = this.#isInOrder
      ? undefined
      : [...keys.keys()].sort((a, b) => ((keys[a] ?? '') < (keys[b] ?? '') ? -1 : 1));
    let written = '{';
    for (let place = 0; place < keys.length; place += 1) {
      const index = order?.[place] ?? place;
      if (place > 0) written += ',';
      written += `${JSON.stringify(keys[index])}:${this.#values[index] ?? ''}`;
    }
    return `${written}}`;
  }
}
