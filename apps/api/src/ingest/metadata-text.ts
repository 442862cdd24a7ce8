// What of metadata only its text shows. The text is what Postgres gets, and it must hold nothing that JSON.parse hid: of two
// equal keys the first, and numbers that are 0 or rounded for JavaScript and are not for Postgres.

import { METADATA_BYTES_MAX } from '@weir/shared/event';
import { spansOfMembers, startsOfItems } from '../http/json-spans.ts';

/** Beyond this Postgres's numeric need not take a number, and a UNIQUE_COUNT meter takes `user_id` for one. */
const EXPONENT_MAX = 308;

const NUMBER_WITH_EXPONENT = /-?[\d.]+[eE]([+-]?\d+)/y;

/**
 * What is wrong with the text of metadata, or undefined. Throws the Refusal of a key that stands twice. What JSON.parse
 * made of it was found to be nested only a few levels deep, and a key that hides more is refused before it is looked into.
 */
export function problemOfMetadataText(text: string): string | undefined {
  if (Buffer.byteLength(text) > METADATA_BYTES_MAX) return `must take at most ${METADATA_BYTES_MAX} bytes`;
  return problemOfValue(text, 0);
}

function problemOfValue(text: string, at: number): string | undefined {
  const first = text.charAt(at);
  const starts = first === '{' ? spansOfMembers(text, at).starts : first === '[' ? startsOfItems(text, at) : [];
  for (const start of starts) {
    const problem = problemOfValue(text, start);
    if (problem !== undefined) return problem;
  }
  NUMBER_WITH_EXPONENT.lastIndex = at;
  const exponent = NUMBER_WITH_EXPONENT.exec(text)?.[1];
  return Math.abs(Number(exponent ?? 0)) > EXPONENT_MAX ? 'must not hold a number that is out of range' : undefined;
}

/** Whether the text may hold numbers that JavaScript does not tell apart: then only equal texts are equal metadata. */
export function mayHideDigits(text: string): boolean {
  return /[\d.]{16}|\d[eE]/.test(text);
}
