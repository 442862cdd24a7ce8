// A proxy between two parts of the system, on which the network can be made to fail in every way that a network does.

import { once } from 'node:events';
import { createServer, connect, type Server, type Socket } from 'node:net';
import { Flow, resetSocket } from './flow.ts';

/** One connection: towards the part that is called, and back. */
interface Link {
  client: Socket;
  upstream: Socket;
  forth: Flow;
  back: Flow;
  /** Something was sent that no answer has come back for. */
  isWaiting: boolean;
  isForgotten: boolean;
}

/** Which way nothing gets through. */
export type Direction = 'forth' | 'back';

/** How a silence ends: what was held arrives late, or the connections it befell are reset. */
export type Healing = 'deliver' | 'reset';

const BOTH: readonly Direction[] = ['forth', 'back'];

export class Edge {
  readonly port: number;
  /** Where what is called listens. */
  readonly #ownPort: number;
  #upstreamPort: number;
  readonly #links = new Set<Link>();
  #server: Server | undefined;
  #delay: (() => number) | undefined;
  #delayed: readonly Direction[] = BOTH;
  #held: readonly Direction[] = [];
  #cutsLeft = 0;
  #toSkip = 0;
  #skip: () => number = () => 0;

  constructor(port: number, upstreamPort: number) {
    this.port = port;
    this.#ownPort = upstreamPort;
    this.#upstreamPort = upstreamPort;
  }

  async open(): Promise<void> {
    if (this.#server !== undefined) return;
    const server = createServer({ allowHalfOpen: true, noDelay: true });
    server.on('connection', (client) => this.take(client));
    this.#server = server;
    server.listen(this.port, '127.0.0.1');
    await once(server, 'listening');
  }

  /** Everything that goes these ways arrives late by this much, and by up to `jitterMs` more. */
  slowDown(ms: number, jitterMs: number, directions: readonly Direction[] = BOTH): void {
    this.#delay = () => ms + Math.random() * jitterMs;
    this.#delayed = directions;
    for (const link of this.#links) this.#apply(link);
  }

  /** Nothing gets through in these directions any more; connections stay open, and new ones are taken. */
  silence(directions: readonly Direction[]): void {
    this.#held = directions;
    for (const link of this.#links) this.#apply(link);
  }

  /**
   * The present connections are dead from now on and for ever, and nobody is told: as behind a firewall that has lost
   * its memory, or (`isUpstreamTold`) as when the called machine has been started anew. New connections are whole.
   */
  forget(isUpstreamTold: boolean): void {
    for (const link of this.#links) {
      link.isForgotten = true;
      link.forth.forget();
      link.back.forget();
      if (isUpstreamTold) link.upstream.destroy();
    }
  }

  /** Resets every connection. */
  reset(): void {
    for (const { client, upstream } of this.#links) {
      resetSocket(client);
      resetSocket(upstream);
    }
  }

  /** Resets every connection, and takes none. */
  async refuse(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = once(server, 'close');
    server.close();
    this.reset();
    await closed;
  }

  /**
   * So many answers are lost together with their connections, after their requests have arrived. `skip` says how many
   * answers get through before each: else it would always be the first of a new connection.
   */
  cutAnswers(count: number, skip: () => number): void {
    this.#cutsLeft = count;
    this.#skip = skip;
    this.#toSkip = skip();
  }

  /** How many of those are still to come. */
  get cutsLeft(): number {
    return this.#cutsLeft;
  }

  /** New connections go to this port instead, as a load balancer sends them while a process is replaced. */
  divert(port: number): void {
    this.#upstreamPort = port;
  }

  /** They come here again. */
  endDivert(): void {
    this.#upstreamPort = this.#ownPort;
  }

  /** Makes the edge whole again. */
  async heal(healing: Healing = 'deliver'): Promise<void> {
    const wasSilent = this.#held.length > 0;
    this.#delay = undefined;
    this.#held = [];
    this.#cutsLeft = 0;
    if (wasSilent && healing === 'reset') this.reset();
    for (const link of this.#links) this.#apply(link);
    await this.open();
  }

  async close(): Promise<void> {
    await this.refuse();
    for (const { client, upstream } of this.#links) {
      client.destroy();
      upstream.destroy();
    }
  }

  /** Connects a client through. An edge that is not open gets its clients so. */
  take(client: Socket): void {
    const upstream = connect({ port: this.#upstreamPort, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    const link: Link = {
      client,
      upstream,
      isWaiting: false,
      isForgotten: false,
      forth: new Flow(client, upstream, () => (link.isWaiting = true)),
      back: new Flow(upstream, client, () => !this.#cut(link)),
    };
    this.#links.add(link);
    this.#apply(link);
    const onClose = () => {
      // Nothing of a forgotten connection gets through, so the end that its client makes has to be made here as well.
      if (client.destroyed && link.isForgotten) upstream.destroy();
      if (client.destroyed && upstream.destroyed) this.#links.delete(link);
    };
    client.once('close', onClose);
    upstream.once('close', onClose);
  }

  #apply(link: Link): void {
    for (const direction of BOTH) {
      link[direction].setDelay((this.#delayed.includes(direction) ? this.#delay : undefined) ?? (() => 0));
      if (this.#held.includes(direction)) link[direction].hold();
      else link[direction].release();
    }
  }

  #cut(link: Link): boolean {
    const wasWaiting = link.isWaiting;
    link.isWaiting = false;
    if (this.#cutsLeft === 0 || !wasWaiting) return false;
    if (this.#toSkip > 0) {
      this.#toSkip -= 1;
      return false;
    }
    this.#cutsLeft -= 1;
    this.#toSkip = this.#skip();
    resetSocket(link.client);
    resetSocket(link.upstream);
    return true;
  }
}
