// Closes connections whose clients do not take their answer. The answer would stay in memory, and its request would count as
// under way, for as long as the client likes.

import { SparseLog } from '@weir/shared/sparse-log';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { nextReply, type Connections } from './connections.ts';

/** Closes each connection whose next answer has been on its way for longer than `timeoutMs`, however much of it was taken. */
export function dropSlowReaders(app: FastifyInstance, connections: Connections, timeoutMs: number): void {
  // Looking at all connections now and then costs no answer anything. A timer for each would cost all of them.
  const since = new WeakMap<FastifyReply, number>();
  const sparseLog = new SparseLog();
  const timer = setInterval(
    () => {
      const now = performance.now();
      for (const connection of connections.open()) {
        // Those behind it do not wait for the client.
        const reply = nextReply(connection);
        if (reply?.raw.headersSent !== true) continue;
        const begun = since.get(reply);
        if (begun === undefined) since.set(reply, now);
        else if (now - begun > timeoutMs) {
          sparseLog.warn(
            app.log,
            'slow reader',
            {},
            'a client did not take its answer in time: its connection was closed',
          );
          connection.socket.destroy();
        }
      }
    },
    Math.min(1_000, timeoutMs / 4),
  ).unref();
  app.addHook('onClose', (_app, done) => {
    clearInterval(timer);
    done();
  });
}
