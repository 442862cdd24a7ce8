// Faults of the API and worker processes.

import { connect, type Socket } from 'node:net';
import type { FaultKind } from './fault.ts';
import { pauseIn } from './pause.ts';

const APIS = ['api-0', 'api-1'];
const WORKERS = ['worker-0', 'worker-1'];
const APPS = [...APIS, ...WORKERS];

const HOUR_MS = 3_600_000;

/** More than any process of this size serves at once. */
const IDLE_CONNECTIONS = 400;

/** Killed, and started again as its supervisor would. */
const kill: FaultKind = {
  name: 'kill',
  lane: 'processes',
  targets: APPS,
  seconds: [0, 3],
  isQuick: true,
  async inflict(context, target) {
    const child = context.stack.child(target);
    await child.end('SIGKILL');
    await context.hold(context.seconds);
    await child.start(context.stack.variantOf(target));
    return {};
  },
};

/** Another worker takes what this one still believes to be its own. */
const pause = pauseIn('processes', APPS);

/** Started anew with a clock that is an hour ahead or behind. */
const clock: FaultKind = {
  name: 'clock off',
  lane: 'processes',
  targets: APPS,
  seconds: [5, 9],
  isQuick: false,
  async inflict(context, target) {
    const child = context.stack.child(target);
    const variant = context.stack.variantOf(target);
    const offset = context.random.pick([HOUR_MS, -HOUR_MS]);
    const module = new URL(`../environment/shifted-clock-main.js?offset=${offset}`, import.meta.url).href;
    await child.end('SIGTERM');
    await child.start({ ...variant, imports: [...(variant.imports ?? []), module] });
    await context.hold(context.seconds);
    await child.end('SIGTERM');
    await child.start(variant);
    return { detail: offset > 0 ? 'an hour ahead' : 'an hour behind' };
  },
};

/** Hundreds of connections on which nothing is asked, or only the beginning of something. */
const idleConnections: FaultKind = {
  name: 'idle connections',
  lane: 'processes',
  targets: APIS,
  seconds: [2, 5],
  isQuick: true,
  async inflict({ stack, seconds, hold }, target) {
    const { port } = stack.edge(`client>${target}`);
    const sockets: Socket[] = [];
    for (let index = 0; index < IDLE_CONNECTIONS; index += 1) {
      const socket = connect(port, '127.0.0.1');
      // The API closes what is asked too slowly, and the edge may be cut meanwhile.
      socket.on('error', () => {});
      if (index % 2 === 0) socket.write('POST /api/v1/sdk/track HTTP/1.1\r\nhost: weir\r\ncontent-le');
      sockets.push(socket);
    }
    await hold(seconds);
    for (const socket of sockets) socket.destroy();
    return { detail: `${IDLE_CONNECTIONS} connections` };
  },
};

/**
 * Every API and worker is replaced in turn, in order, as at a deployment. Behind a load balancer no request may be
 * dropped: it opens no connection to a process that is about to stop, and goes to the other one meanwhile.
 */
const rollingRestart: FaultKind = {
  name: 'rolling restart',
  lane: 'processes',
  targets: [APPS.join(',')],
  seconds: [4, 12],
  isQuick: true,
  isExclusive: true,
  async inflict(context) {
    for (const name of APPS) {
      const child = context.stack.child(name);
      const other = APIS.find((api) => api !== name) ?? '';
      const edge = APIS.includes(name) ? context.stack.edge(`client>${name}`) : undefined;
      edge?.divert(context.stack.port(other));
      try {
        await child.end('SIGTERM');
        await child.start(context.stack.variantOf(name));
      } finally {
        edge?.endDivert();
      }
    }
    return {};
  },
};

export const processFaults: FaultKind[] = [kill, pause, clock, idleConnections, rollingRestart];
