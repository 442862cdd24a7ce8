// What of metadata only its text shows. The text is what Postgres gets, and it must hold nothing that JSON.parse hid: of two
// equal keys the first, and numbers that are 0 or rounded for JavaScript and are not for Postgres.

import { METADATA_BYTES_MAX } from '@weir/shared/event';
import { spansOfMembers, startsOfItems } from '../http/json-spans.ts';

/** Beyond this Postgres's jsonb need not take a number. */
const EXPONENT_MAX = 308;

/**
 * What is wrong with the text of metadata, or undefined. Throws the Refusal of a key that stands twice. `at` is where the
 * object begins; the object has been found to be nested only a few levels deep where no key stands twice.
 */
export function problemOfMetadataText(text: string): string | undefined {
  if (Buffer.byteLength(text) > METADATA_BYTES_MAX) return `must take at most ${METADATA_BYTES_MAX} bytes`;
  return problemOfValue(text, 0);
}

function problemOfValue(text: string, at: number): string | undefined {
  const first = text.charAt(at);
  const starts =
    first === '{'
      ? [...spansOfMembers(text, at).values()].map(([start]) => start)
      : first === '['
        ? startsOfItems(text, at)
        : [];
  for (const start of starts) {
    const problem = problemOfValue(text, start);
    if (problem !== undefined) return problem;
  }
  if (!/[-\d]/.test(first)) return undefined;
  const exponent = /^-?[\d.]+[eE]([+-]?\d+)/.exec(text.slice(at, at + METADATA_BYTES_MAX))?.[1];
  return Math.abs(Number(exponent ?? 0)) > EXPONENT_MAX ? 'must not hold a number that is out of range' : undefined;
}

/** Whether the text may hold numbers that JavaScript does not tell apart: then only equal texts are equal metadata. */
export function mayHideDigits(text: string): boolean {
  return /[\d.]{16}|\d[eE]/.test(text);
}
