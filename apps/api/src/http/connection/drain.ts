// Lets the app close without dropping a request. Three things would drop one. Node cuts idle connections when a server is
// closed, with the request that is on its way: so those who are kept waiting for the next one are told with each answer, from
// the first moment of a stop on, and have the delay before it (see serve.ts) to go elsewhere. Node waits for a busy connection
// until its client gives it up, which may be after the process had to be gone. The system resets connections that the server
// has not taken from it yet.

import type { FastifyInstance } from 'fastify';
import { Server } from 'node:net';
import { isAnswered, nextReply, type Connections } from './connections.ts';

/** Whoever was told connects elsewhere by now: in this time no connection comes any more. */
const QUIET_MS = 100;

/** Clients that are told nothing go on connecting, and cannot be waited for. */
const QUIET_WAIT_MS_MAX = 1_000;

/** A busy client sends its next request within this time, and learns from the answer that it was the last one here. */
const LAST_REQUEST_MS = 250;

/** Of the time that a stop may take, this share is for clients that are slow to send a request or to take their answer. */
const SLOW_SHARE = 0.5;

/** How often connections are looked at. */
const SWEEP_MS = 25;

export interface DrainOptions {
  /** How long a close may take. */
  timeoutMs: number;
  /** Whether the process was told to stop, which is before `app.close()` where a balancer is to hear of it first. */
  isDraining(): boolean;
}

/**
 * Tells each client of a process that is to stop that its request was the last one over its connection. From `app.close()` on it
 * waits until no new connection has come for a moment, and then takes no more. It answers every request that arrives over those
 * that are open, and closes each connection once nothing is under way on it.
 */
export function useDrain(app: FastifyInstance, connections: Connections, options: DrainOptions): void {
  const { server } = app;
  let lastConnectedAt = -Infinity;
  let isClosing = false;
  server.on('connection', () => (lastConnectedAt = performance.now()));
  // Fastify tells the clients whose requests come from now on. A client whose answer takes long would not hear of it, and its
  // next request would be cut off.
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (isClosing || options.isDraining()) void reply.header('connection', 'close');
    done(null, payload);
  });
  app.addHook('preClose', async () => {
    isClosing = true;
    const slowUntil = performance.now() + options.timeoutMs * SLOW_SHARE;
    if (!server.listening) return;
    await waitUntil(() => performance.now() - lastConnectedAt > QUIET_MS, QUIET_WAIT_MS_MAX);
    // Stops listening and nothing else: the close of an HTTP server would cut idle connections too.
    Server.prototype.close.call(server);
    // Not at all when there are no connections left.
    await waitUntil(async () => (await connectionsOf(server)) === 0, LAST_REQUEST_MS);
    // Each time after what has arrived was read (setImmediate): to a process that was kept from running for a moment, a
    // connection with a request on it looks idle until then. The first time it is Fastify that closes them.
    const sweep = setInterval(() => {
      setImmediate(() => {
        server.closeIdleConnections();
        closeForNobody(connections, performance.now() > slowUntil);
      });
    }, SWEEP_MS);
    server.once('close', () => clearInterval(sweep));
    await new Promise((resolve) => setImmediate(resolve));
  });
}

/**
 * Closes connections over which nothing ever came: for Node they are not idle. Once it is late it also closes those on which
 * nobody here works: the request has not come in whole, its body is not needed any more, or its answer is not taken.
 */
function closeForNobody(connections: Connections, isLate: boolean): void {
  for (const connection of connections.open()) {
    const { socket, requests } = connection;
    const isSilent = requests.size === 0 && socket.bytesRead === 0;
    const isForNobody = isAnswered(connection) || nextReply(connection)?.raw.headersSent !== false;
    if (isSilent || (isLate && isForNobody)) socket.destroy();
  }
}

/** Waits until a condition holds, and no longer than this. */
async function waitUntil(condition: () => boolean | Promise<boolean>, ms: number): Promise<void> {
  const deadline = performance.now() + ms;
  while (performance.now() < deadline && !(await condition()))
    await new Promise((resolve) => setTimeout(resolve, SWEEP_MS));
}

function connectionsOf(server: Server): Promise<number> {
  return new Promise((resolve, reject) =>
    server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
  );
}
