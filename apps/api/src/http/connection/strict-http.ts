// Refuses requests that two readers of HTTP may read differently. Where a proxy and Weir do not agree, one request can hide
// another, or a header goes unseen.

import { Refusal } from '@weir/shared/errors';
import type { FastifyInstance } from 'fastify';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { answerConnection } from './broken-connection.ts';

/** Headers that say what the request is, and whose: of two of them Node would take the first without a word. */
const ONCE = new Set(['host', 'content-type', 'authorization']);

export function useStrictHttp(app: FastifyInstance): void {
  const { server } = app;
  // Node would drop every header after the first 2,000 without a word, an idempotency key too. Their bytes are limited.
  server.maxHeadersCount = 0;
  // Node would answer this by itself, with a status and nothing else.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    server.emit('request', request, response);
  });
  // Node would close the connection without an answer.
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    answerConnection(socket, new Refusal('malformed_request', 'This is no proxy: send requests for Weir itself.'));
  });
  app.addHook('onRequest', ({ raw }, _reply, done) => done(refusalOfHttp(raw)));
}

function refusalOfHttp({ headers, httpVersion, rawHeaders, url = '' }: IncomingMessage): Refusal | undefined {
  // RFC 9112, section 3.2.
  if (headers.host === undefined && httpVersion === '1.1')
    return new Refusal('malformed_request', 'An HTTP/1.1 request must have the header Host.');
  const twice = nameOfSecond(rawHeaders);
  if (twice !== undefined) return new Refusal('malformed_request', `The header ${twice} stands twice: send it once.`);
  // Node undoes only the chunks. A body that is coded once more would not be what the sender means.
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked')
    return new Refusal('malformed_request', 'Send the body with a Content-Length, or with Transfer-Encoding: chunked.');
  const { expect } = headers;
  if (expect !== undefined && expect.toLowerCase() !== '100-continue')
    return new Refusal('expectation_failed', 'Nothing but 100-continue can be expected: leave the header Expect out.');
  // To read it all the same would be to guess. The router refuses such a path.
  const queryAt = url.indexOf('?');
  if (queryAt >= 0 && !isDecodable(url.slice(queryAt + 1)))
    return new Refusal('malformed_request', 'The query is not valid in a URL: check its percent-encoding.');
  return undefined;
}

function isDecodable(query: string): boolean {
  if (!query.includes('%')) return true;
  try {
    decodeURIComponent(query);
    return true;
  } catch {
    return false;
  }
}

/** The name of a header that must stand once and stands twice. */
function nameOfSecond(rawHeaders: readonly string[]): string | undefined {
  let seen = '';
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? '';
    if (!ONCE.has(name)) continue;
    if (seen.includes(name)) return rawHeaders[at];
    seen += name;
  }
  return undefined;
}
