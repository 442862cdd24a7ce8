// Reads request bodies. Everything that is ambiguous is refused here: what one parser reads as quantity 1 and another as
// quantity 1000 must not become a bill. The text stays with the request, since a number's digits are only in there.

import { isUtf8 } from 'node:buffer';
import { Refusal } from '@weir/shared/errors';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import sjson from 'secure-json-parse';
import { z } from 'zod';
import { isGzip } from './bodies.ts';
import { walkMembers } from './json-decimals.ts';
import type { Spans } from './json-spans.ts';

/** The text of a JSON body, and where in it the members of its object stand. */
export interface JsonText {
  text: string;
  members: Spans;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Null for a request without a body, and for one whose route reads it in another way. */
    json: JsonText | null;
  }
  interface FastifyContextConfig {
    /** How to read the text of a body that is too large to be parsed in one go; what it returns is the body that is validated. */
    readBody?: (request: FastifyRequest, text: string) => unknown;
    /** Names of members, at any level, whose numbers are given to the schema as decimals in a text: see decimals.ts. */
    decimals?: ReadonlySet<string>;
  }
}

/** Many clients say that they send JSON, and then send nothing, where a request has no body or need not have one. */
function mayBeEmpty({ routeOptions }: FastifyRequest): boolean {
  const schema = routeOptions.schema?.body;
  return schema === undefined || (schema instanceof z.ZodType && schema.safeParse(null).success);
}

function readJson(request: FastifyRequest, body: Buffer): unknown {
  if (body.length === 0 && mayBeEmpty(request)) return null;
  const { 'content-type': contentType = '', 'content-encoding': encoding } = request.headers;
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(contentType)?.[1];
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
    throw new Refusal('unsupported_media_type', `Send the body in UTF-8, not in ${charset.slice(0, 40)}.`);
  }
  if (encoding !== undefined && encoding !== 'identity' && !isGzip(request)) {
    throw new Refusal('unsupported_media_type', 'Send the body as it is, or with Content-Encoding: gzip.');
  }
  if (!isUtf8(body)) throw new Refusal('malformed_json', 'The body is not valid UTF-8: encode it as UTF-8.');
  const text = body.toString('utf8');
  // The parser would skip it without a word, and the search for numbers in the text would stumble over it.
  if (text.startsWith('\ufeff')) {
    throw new Refusal('malformed_json', 'The body begins with a byte order mark: send it without one.');
  }
  const { readBody } = request.routeOptions.config;
  if (readBody !== undefined) return readBody(request, text);
  const { value, members } = readExact(request, text);
  request.json = { text, members };
  return value;
}

/** The value of a body, with the digits of its decimals, and where its members stand. Refuses a key that stands twice, also far within. */
export function readExact({ routeOptions }: FastifyRequest, text: string): { value: unknown; members: Spans } {
  const value = parseJson(text);
  return { value, members: walkMembers(value, text, 0, routeOptions.config.decimals) };
}

/** Parses JSON. Throws a Refusal where it is none, or would change what objects inherit. */
export function parseJson(text: string, what = 'body'): unknown {
  try {
    return sjson.parse(text, undefined, { protoAction: 'error', constructorAction: 'ignore' });
  } catch (error) {
    const why = error instanceof Error ? error.message.slice(0, 120) : 'unreadable';
    throw new Refusal(
      'malformed_json',
      text === '' ? `The ${what} is empty: send a JSON object.` : `The ${what} is not JSON that can be taken: ${why}.`,
    );
  }
}

/** Makes JSON the only body that is read, and keeps its text at `request.json`. */
export function useJson(app: FastifyInstance): void {
  app.decorateRequest('json', null);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    try {
      done(null, readJson(request, body as Buffer));
    } catch (error) {
      done(error as Error);
    }
  });
}
