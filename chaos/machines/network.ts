// The network between machines: each connection between two of them goes through a proxy here, which can hold one direction, both, or
// lose what is on its way. Proxies alone do all of it, without root and without the tools of one kernel.

import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { Edge, type Direction, type Healing } from '../environment/edge.ts';
import { callerAt, machineOf, type MachineName } from './placement.ts';

/** What does not get through: what comes to a machine, or what leaves it. */
export type Side = 'in' | 'out';

interface Crossing {
  edge: Edge;
  caller: string;
  callee: string;
}

/** From how many milliseconds to how many what a primary writes is on its way to its replica. */
export const REPLICATION_MS = { min: 20, max: 100 };

/** So often it is drawn anew how many. */
const REDRAW_MS = 1_000;

export class Network {
  readonly #crossings: Crossing[] = [];
  readonly #fronts: Server[] = [];
  readonly #blocked = new Map<MachineName, readonly Side[]>();
  readonly #redraw: NodeJS.Timeout;
  #replicationMs = REPLICATION_MS.min;

  /** `drawMs` draws how long replication takes for the next second. */
  constructor(drawMs: () => number) {
    this.#redraw = setInterval(() => {
      this.#replicationMs = drawMs();
      for (const crossing of this.#crossings) this.#slowDown(crossing);
    }, REDRAW_MS);
  }

  /** Opens a way of one caller, who is known by the port that it calls. */
  async openWay(caller: string, callee: string, ports: { own: number; callee: number }): Promise<Edge> {
    const { edge } = this.#add(caller, callee, new Edge(ports.own, ports.callee));
    await edge.open();
    return edge;
  }

  /** Opens the one address of a process for all, who are known by where they call from. */
  async openFront(callee: string, ports: { own: number; callee: number }): Promise<void> {
    const server = createServer({ allowHalfOpen: true, noDelay: true });
    server.on('connection', (client) => {
      const caller = callerAt(client.remoteAddress);
      const crossing = this.#between(caller, callee) ?? this.#add(caller, callee, new Edge(0, ports.callee));
      crossing.edge.take(client);
    });
    this.#fronts.push(server);
    server.listen(ports.own, '127.0.0.1');
    await once(server, 'listening');
  }

  /** Has ways lead to another process from now on, as an address that was moved does. What was connected is reset. */
  move(edges: readonly Edge[], callee: string, port: number): void {
    for (const crossing of this.#crossings.filter(({ edge }) => edges.includes(edge))) {
      crossing.callee = callee;
      crossing.edge.divert(port);
      crossing.edge.reset();
      this.#apply(crossing);
    }
  }

  /** Nothing gets through on these sides of a machine any more; connections stay open. */
  cut(machine: MachineName, sides: readonly Side[]): void {
    this.#blocked.set(machine, sides);
    this.#applyAt(machine);
  }

  /** What was held arrives late, or is lost with its connections. */
  heal(machine: MachineName, healing: Healing): void {
    if (!this.#blocked.has(machine)) return;
    if (healing === 'reset') for (const { edge } of this.#at(machine)) edge.reset();
    this.#blocked.delete(machine);
    this.#applyAt(machine);
  }

  /** Holds all that goes between two processes. */
  hold(caller: string, callee: string): void {
    this.#between(caller, callee)?.edge.silence(['forth', 'back']);
  }

  /** Ends that: what was held is lost, and the connections with it. */
  endHold(caller: string, callee: string): void {
    const crossing = this.#between(caller, callee);
    crossing?.edge.reset();
    if (crossing !== undefined) this.#apply(crossing);
  }

  async close(): Promise<void> {
    clearInterval(this.#redraw);
    for (const server of this.#fronts) server.close();
    await Promise.all(this.#crossings.map(({ edge }) => edge.close()));
  }

  #between(caller: string, callee: string): Crossing | undefined {
    return this.#crossings.find((each) => each.caller === caller && each.callee === callee);
  }

  #add(caller: string, callee: string, edge: Edge): Crossing {
    const crossing = { edge, caller, callee };
    this.#crossings.push(crossing);
    this.#apply(crossing);
    return crossing;
  }

  #at(machine: MachineName): Crossing[] {
    return this.#crossings.filter(({ caller, callee }) => isCrossed(caller, callee, machine));
  }

  #applyAt(machine: MachineName): void {
    for (const crossing of this.#at(machine)) this.#apply(crossing);
  }

  #apply(crossing: Crossing): void {
    const { edge, caller, callee } = crossing;
    edge.silence(heldBetween(caller, callee, (machine) => this.#blocked.get(machine) ?? []));
    this.#slowDown(crossing);
  }

  #slowDown({ edge, caller, callee }: Crossing): void {
    // A replica calls its primary, so that what was written comes back to it.
    if (isReplication(caller, callee)) edge.slowDown(this.#replicationMs, 0, ['back']);
  }
}

/** Whether a connection leaves or reaches this machine. */
function isCrossed(caller: string, callee: string, machine: MachineName): boolean {
  const [from, to] = [machineOf(caller), machineOf(callee)];
  return from !== to && (from === machine || to === machine);
}

function isReplication(caller: string, callee: string): boolean {
  const kind = caller.split('-')[0];
  return caller !== callee && (kind === 'redis' || kind === 'postgres') && callee.startsWith(`${kind}-`);
}

/** In which directions nothing gets through between two processes. Within a machine there is no network. */
export function heldBetween(
  caller: string,
  callee: string,
  blockedAt: (machine: MachineName) => readonly Side[],
): Direction[] {
  const [from, to] = [machineOf(caller), machineOf(callee)];
  if (from === to) return [];
  const isBlocked = (machine: MachineName | undefined, side: Side) =>
    machine !== undefined && blockedAt(machine).includes(side);
  const held: Direction[] = [];
  if (isBlocked(from, 'out') || isBlocked(to, 'in')) held.push('forth');
  if (isBlocked(to, 'out') || isBlocked(from, 'in')) held.push('back');
  return held;
}
