// How many connections there may be, in all and from one address. Each takes a descriptor and memory, whatever is sent over it.

import { descriptorsMax } from '@weir/shared/descriptors';
import { Refusal } from '@weir/shared/errors';
import { SparseLog } from '@weir/shared/sparse-log';
import type { FastifyInstance } from 'fastify';
import type { Socket } from 'node:net';
import { addressBlock } from './address-block.ts';
import { answerConnection } from './broken-connection.ts';
import { buildIsProxy } from './proxies.ts';

export interface ConnectionLimitOptions {
  /** In all; 0: as many as descriptors allow, and no more than {@link CONNECTIONS_MAX}. */
  connectionsMax: number;
  /** From one address, of IPv6 from one /64; 0: no limit. */
  perAddressMax: number;
  /** Proxies, which send the requests of many: addresses or networks, separated by commas. */
  trustProxy: string | undefined;
  /** Connections to Postgres that this process may open. */
  databaseConnections: number;
  onShed: () => void;
}

/** Each may hold the 16 kB of headers that a client may send: 160 MB for all of them. */
const CONNECTIONS_MAX = 10_000;

/** For Redis, for the log, for modules that are loaded late, for what Node has open itself: some 40, and as many to spare. */
const OTHER_DESCRIPTORS = 80;

export function limitConnections(app: FastifyInstance, options: ConnectionLimitOptions): void {
  const { server } = app;
  const sparseLog = new SparseLog();
  server.maxConnections = options.connectionsMax || connectionsThatFit(options.databaseConnections);
  server.on('drop', () => {
    options.onShed();
    sparseLog.warn(app.log, 'all', { max: server.maxConnections }, 'there are too many connections: one was closed');
  });
  // A process without free descriptors takes no connection: it waits in the system until others are closed.
  server.on('error', (error) => sparseLog.warn(app.log, 'error', { err: error }, 'a connection could not be taken'));
  if (options.perAddressMax === 0) return;

  // Where descriptors are few, one address does not get all of them.
  const perAddressMax = Math.min(options.perAddressMax, Math.ceil(server.maxConnections / 2));
  const isProxy = buildIsProxy(options.trustProxy);
  const counts = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress;
    if (address === undefined || isProxy(address)) return;
    const block = addressBlock(address);
    const count = counts.get(block) ?? 0;
    if (count >= perAddressMax) {
      options.onShed();
      sparseLog.warn(app.log, 'address', { address, max: perAddressMax }, 'an address has too many connections');
      const detail = `There are ${perAddressMax} connections from this address: use those again, or close some.`;
      answerConnection(socket, new Refusal('rate_limited', detail, { retryAfterSeconds: 1 }));
      // A crowd of them is not waited for.
      socket.destroySoon();
      return;
    }
    counts.set(block, count + 1);
    socket.once('close', () => {
      const left = (counts.get(block) ?? 1) - 1;
      if (left === 0) counts.delete(block);
      else counts.set(block, left);
    });
  });
}

/** As many as there are descriptors for, with those that the rest of the process needs left free. */
function connectionsThatFit(databaseConnections: number): number {
  return Math.max(1, Math.min(CONNECTIONS_MAX, descriptorsMax() - databaseConnections - OTHER_DESCRIPTORS));
}
