import { Refusal, type ErrorCode } from '@weir/shared/errors';
import type { Socket } from 'node:net';
import { connectionOf, isAnswered } from './connections.ts';
import { problemOf } from '../problem.ts';

const BROKEN_CONNECTIONS: Record<string, { code: ErrorCode; detail: string }> = {
  HPE_HEADER_OVERFLOW: {
    code: 'headers_too_large',
    detail: 'The headers are too large together: send fewer or shorter ones.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { code: 'request_timeout', detail: 'The request did not arrive in time: send it again.' },
};

/** Sends a problem to whoever sent what Node could not even read as a request, and closes the connection. */
export function answerBrokenConnection(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  // The client would take an answer now for that of the request under way, which may be accepted. Where that one was refused
  // before its body had come in, the client would take it for that of the next. So what is under way is answered first.
  const connection = connectionOf(socket);
  const isBegun = [...(connection?.requests ?? [])].some(
    ([request, answer]) => request.complete || answer === null || answer.raw.writableEnded,
  );
  if (connection !== undefined && isBegun) {
    if (isAnswered(connection)) socket.destroySoon();
    else connection.isToClose = true;
    return;
  }
  const { code, detail } = BROKEN_CONNECTIONS[error.code ?? ''] ?? {
    code: 'malformed_request' as const,
    detail: 'This is not a valid HTTP/1.1 request: check the client or the proxy in between.',
  };
  answerConnection(socket, new Refusal(code, detail));
}

/** How long a client has to read why its connection was closed. */
const LINGER_MS = 1_000;

/** Sends a problem over a connection on which there is no request, and closes it. */
export function answerConnection(socket: Socket, refusal: Refusal): void {
  const problem = problemOf(refusal, 'none');
  const body = JSON.stringify(problem);
  const retryAfter = refusal.fields.retryAfterSeconds;
  // Node does not listen any more to a connection that asked for a proxy. Its reset would end the process.
  socket.on('error', () => socket.destroy());
  socket.end(
    `HTTP/1.1 ${problem.status} ${problem.title}\r\nContent-Type: application/problem+json; charset=utf-8\r\n` +
      (retryAfter === undefined ? '' : `Retry-After: ${retryAfter}\r\n`) +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
  // If it were closed at once, what still comes from the client would reset it, and the answer would be lost. If it were left
  // open, it would stay for as long as the client leaves its own side open.
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(timer));
}
