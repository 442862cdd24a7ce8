// Lets the app close without dropping a request. By itself Node cuts every connection that is idle when a server is closed,
// and loses the request that is on its way over it; and it waits for a connection that was busy at that moment until its
// client gives it up, which may be long after the process had to be gone.

import type { FastifyInstance } from 'fastify';
import { Server } from 'node:net';

/** A busy client sends its next request within this time, and learns from the answer that it was the last one here. */
const LAST_REQUEST_MS = 250;

/** How often connections are looked for on which nothing is under way any more. */
const SWEEP_MS = 25;

/**
 * From now on `app.close()` takes no more connections, answers every request that arrives over those that are open (Fastify
 * tells each client that it was the last one), and closes each connection once nothing is under way on it.
 */
export function useDrain(app: FastifyInstance): void {
  app.addHook('preClose', async () => {
    const { server } = app;
    if (!server.listening) return;
    // Stops listening and nothing else: the close of an HTTP server would cut idle connections too.
    Server.prototype.close.call(server);
    await lastRequests(server);
    const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
    server.once('close', () => clearInterval(sweep));
  });
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
