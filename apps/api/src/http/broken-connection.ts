import { Refusal, type ErrorCode } from '@weir/shared/errors';
import type { FastifyInstance } from 'fastify';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { problemOf } from './problem.ts';

/** Requests that have not come in whole or are not answered yet, and their answers, by the connection they came over. */
const underWay = new WeakMap<Socket, Map<IncomingMessage, ServerResponse>>();

/** Connections over which something came that is no HTTP, while a request was under way. */
const toClose = new WeakSet<Socket>();

/** Keeps an eye on the requests under way, for {@link answerBrokenConnection}. */
export function watchConnections(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw }, reply, done) => {
    const requests = underWay.get(raw.socket);
    if (requests === undefined) underWay.set(raw.socket, new Map([[raw, reply.raw]]));
    else {
      // Of a request that was answered before it had come in whole, the rest has come by now.
      for (const [request, answer] of requests) if (answer.writableEnded) requests.delete(request);
      requests.set(raw, reply.raw);
    }
    done();
  });
  app.addHook('onResponse', ({ raw }, _reply, done) => {
    const requests = underWay.get(raw.socket);
    if (raw.complete) requests?.delete(raw);
    if (toClose.has(raw.socket) && isAnswered(requests)) raw.socket.destroySoon();
    done();
  });
}

/** Whether nothing is left to answer; a request that has not come in whole cannot have been acted on. */
function isAnswered(requests: Map<IncomingMessage, ServerResponse> | undefined): boolean {
  return [...(requests ?? [])].every(([request, answer]) => answer.writableFinished || !request.complete);
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
  // An answer now would be read as that of the request under way, which may be accepted, or as that of the next request
  // where this one was refused before its body had come in. What is under way is answered first, and then there is nothing
  // more to say to a client that is out of step.
  const requests = underWay.get(socket);
  const isBegun = [...(requests ?? [])].some(([request, answer]) => request.complete || answer.writableEnded);
  if (isBegun) {
    if (isAnswered(requests)) socket.destroySoon();
    else toClose.add(socket);
    return;
  }
  const { code, detail } = BROKEN_CONNECTIONS[error.code ?? ''] ?? {
    code: 'malformed_request' as const,
    detail: 'This is not a valid HTTP/1.1 request: check the client or the proxy in between.',
  };
  answerConnection(socket, new Refusal(code, detail));
}

/** Answers over a connection on which there is no request to answer, and closes it. */
export function answerConnection(socket: Socket, refusal: Refusal): void {
  const problem = problemOf(refusal, 'none');
  const body = JSON.stringify(problem);
  socket.end(
    `HTTP/1.1 ${problem.status} ${problem.title}\r\nContent-Type: application/problem+json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}
