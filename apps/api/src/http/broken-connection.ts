import { Refusal, type ErrorCode } from '@weir/shared/errors';
import type { FastifyInstance } from 'fastify';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { problemOf } from './problem.ts';

/** Requests that are not answered yet, by the connection they came over. */
const underWay = new WeakMap<Socket, Set<IncomingMessage>>();

/** Connections over which something came that is no HTTP, while a request was under way. */
const toClose = new WeakSet<Socket>();

/** Keeps an eye on the requests under way, for {@link answerBrokenConnection}. */
export function watchConnections(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    const requests = underWay.get(raw.socket);
    if (requests === undefined) underWay.set(raw.socket, new Set([raw]));
    else requests.add(raw);
    done();
  });
  app.addHook('onResponse', ({ raw }, _reply, done) => {
    underWay.get(raw.socket)?.delete(raw);
    if (toClose.has(raw.socket) && !awaitsAnswer(raw.socket)) raw.socket.destroySoon();
    done();
  });
}

/** Whether a request has come in whole over a connection and is not answered; one that has not cannot have been acted on. */
function awaitsAnswer(socket: Socket): boolean {
  return [...(underWay.get(socket) ?? [])].some((request) => request.complete);
}

const BROKEN_CONNECTIONS: Record<string, { code: ErrorCode; detail: string }> = {
  HPE_HEADER_OVERFLOW: {
    code: 'headers_too_large',
    detail: 'The headers are too large together: send fewer or shorter ones.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { code: 'request_timeout', detail: 'The request did not arrive in time: send it again.' },
};

/** Answers what Node could not even read as a request, and closes the connection. */
export function answerBrokenConnection(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  // An answer now would be read as that of the request under way, which may be accepted. That one is answered first,
  // and then there is nothing more to say to a client that is out of step.
  if (awaitsAnswer(socket)) {
    toClose.add(socket);
    return;
  }
  const { code, detail } = BROKEN_CONNECTIONS[error.code ?? ''] ?? {
    code: 'malformed_request' as const,
    detail: 'This is not a valid HTTP/1.1 request: check the client or the proxy in between.',
  };
  const problem = problemOf(new Refusal(code, detail), 'none');
  const body = JSON.stringify(problem);
  socket.end(
    `HTTP/1.1 ${problem.status} ${problem.title}\r\nContent-Type: application/problem+json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
