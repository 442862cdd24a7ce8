// The header Idempotency-Key, as draft-ietf-httpapi-idempotency-key-header has it. Tracking reads its text to the letter, since it
// means the same as the field of an event; elsewhere the quotes of a structured field are no part of the key.

import { text } from '@weir/shared/text';
import { LIMITS } from '@weir/shared/limits';
import type { FastifyRequest } from 'fastify';
import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { invalidFields, invalidRequest } from '../problem.ts';

export const KEY_HEADER = 'Idempotency-Key';

/** As in the body of an event, so that a key that may stand in one may stand in the other. */
export const headerKey = text(1, LIMITS.key);

/** Its schema in the document. Nothing checks by it: the bytes of the header are UTF-8, and it may stand twice. */
export function keyHeaderSchema(description: string) {
  return z.object({ 'idempotency-key': headerKey.optional().meta({ description }) });
}

/** The text of the header, undefined without one. Throws a Refusal where it is no text, or several. */
export function textOfKeyHeader(request: FastifyRequest): string | undefined {
  if (request.headers['idempotency-key'] === undefined) return undefined;
  const values = request.raw.headersDistinct['idempotency-key'] ?? [];
  // Node reads header bytes as Latin-1; a key in UTF-8 must be the same key in the header and in the body.
  const bytes = values.map((value) => Buffer.from(value, 'latin1'));
  // Read all the same, two keys that are not UTF-8 could become one, and the second request would be lost as a repeat.
  if (!bytes.every(isUtf8)) throw invalidFields([{ path: KEY_HEADER, message: 'must be UTF-8' }]);
  const [key = '', ...others] = bytes.map((each) => each.toString('utf8'));
  if (others.some((other) => other !== key)) {
    throw invalidFields([{ path: KEY_HEADER, message: 'is there more than once, with different keys: send one' }]);
  }
  return key;
}

/** The key in the header of a request that changes something, undefined without one. Throws a Refusal where it is no key. */
export function keyInHeader(request: FastifyRequest): string | undefined {
  const sent = textOfKeyHeader(request);
  if (sent === undefined) return undefined;
  const result = headerKey.safeParse(sent.startsWith('"') ? withoutQuotes(sent) : sent);
  if (!result.success) throw invalidRequest(result.error, KEY_HEADER);
  return result.data;
}

/** The text in a string of a structured field (RFC 9651). */
function withoutQuotes(sent: string): string {
  const inner = /^"((?:[^"\\]|\\["\\])*)"$/u.exec(sent)?.[1];
  if (inner === undefined) {
    const message = 'must be a text, or one in quotes with \\" and \\\\ for quotes and backslashes in it';
    throw invalidFields([{ path: KEY_HEADER, message }]);
  }
  return inner.replace(/\\(.)/gu, '$1');
}
