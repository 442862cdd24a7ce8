// Ends the server without dropping a request. The close of Node and Fastify cuts every connection that is idle at that
// moment, and loses the request that is on its way over it; and it waits for a connection that was busy then to be given
// up by its client, which may be never.

import type { FastifyInstance } from 'fastify';
import { Server } from 'node:net';

/** A busy client sends its next request within this time, and learns from the answer that it was the last one here. */
const LAST_REQUEST_MS = 250;

/** How often connections are looked for on which nothing is under way any more. */
const SWEEP_MS = 25;

/**
 * Takes no more connections, answers every request that arrives over those that are open, and closes each of them once
 * nothing is under way on it. Resolves when all of them are closed.
 */
export async function closeServer(app: FastifyInstance): Promise<void> {
  const { server } = app;
  server.prependListener('request', (_request, response) => response.setHeader('connection', 'close'));
  // Stops listening and nothing else: the close of an HTTP server would cut idle connections too.
  if (server.listening) Server.prototype.close.call(server);
  await lastRequests(server);
  const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
  try {
    await app.close();
  } finally {
    clearInterval(sweep);
  }
}

/** Waits until clients had the time to send a last request; not at all when there are no connections left. */
async function lastRequests(server: Server): Promise<void> {
  const deadline = performance.now() + LAST_REQUEST_MS;
  while (performance.now() < deadline && (await connectionsOf(server)) > 0)
    await new Promise((resolve) => setTimeout(resolve, SWEEP_MS));
}

function connectionsOf(server: Server): Promise<number> {
  return new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
  );
}
