// JSON of others, such as the metadata of events, may hold numbers of which JavaScript loses digits: 9007199254740993 would be shown,
// and sent again, as another number. Such a number is kept as it was written.

import { isLosslessNumber, isSafeNumber, LosslessNumber, parse, stringify } from 'lossless-json';

/** Reads JSON. A number that JavaScript cannot hold exactly becomes an object that `writeExact` writes as it was. Throws a SyntaxError. */
export function parseExact(text: string): unknown {
  return parse(text, null, (digits) => (isSafeNumber(digits) ? Number(digits) : new LosslessNumber(digits)));
}

/** Writes as JSON what `parseExact` has read, or parts of it. */
export function writeExact(value: unknown, space?: number): string {
  return stringify(value, null, space) ?? '';
}

/** Whether it is an object with members, as metadata is. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
}
