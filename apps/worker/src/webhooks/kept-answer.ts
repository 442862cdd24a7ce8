// What is kept of a receiver's answer: enough to see what it said, and no more in a list than its bytes were.

import { storable } from '@weir/shared/text';

/** So much of an answer is kept. */
export const KEPT_BYTES = 1_024;

/**
 * And so much within the quotes of JSON: that writes a control character as six, and a page of deliveries has two thousand answers. Of
 * a text that anybody reads this cuts nothing off.
 */
const KEPT_JSON_BYTES = 2 * KEPT_BYTES;

/** What an answer begins with, as text that Postgres can hold. */
export function keptAnswer(answer: Buffer): string {
  const text = storable(answer.subarray(0, KEPT_BYTES).toString('utf8'));
  if (jsonBytes(text) <= KEPT_JSON_BYTES) return text;
  let kept = '';
  let bytes = 0;
  for (const character of text) {
    bytes += jsonBytes(character);
    if (bytes > KEPT_JSON_BYTES) break;
    kept += character;
  }
  return kept;
}

/** Within its quotes. */
function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}
