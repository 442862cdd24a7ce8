// A receiver of webhooks, which fails in the ways that receivers do, and writes down all that reaches it. It runs in the process of the
// clients: also what it refuses has come, and in an order that is known.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { History } from '../history.ts';

/** What it does with what it has read: takes it, answers 500, lets the connection break, or says nothing. */
export type Mood = 'well' | 'failing' | 'breaking' | 'silent';

export class Receiver {
  readonly name: string;
  readonly #port: number;
  #history: History | undefined;
  #server: Server | undefined;
  #mood: Mood = 'well';

  constructor(name: string, port: number) {
    this.name = name;
    this.#port = port;
  }

  /** Where an endpoint of this name is reached. */
  urlOf(endpoint: string): string {
    return `http://127.0.0.1:${this.#port}/${endpoint}`;
  }

  /** Everything that comes from now on is written down there. */
  writeTo(history: History): void {
    this.#history = history;
  }

  async open(): Promise<void> {
    this.#server = createServer((request, response) => {
      // A connection that breaks under a request brings nothing.
      this.#take(request, response).catch(() => response.destroy());
    });
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  /** As when its process is killed: connections are gone, and none is taken. */
  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  }

  /** Those that wait for an answer have none to come when it is another. */
  set mood(mood: Mood) {
    this.#mood = mood;
    if (mood === 'well') this.#server?.closeAllConnections();
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const mood = this.#mood;
    const status = mood === 'well' ? 204 : mood === 'failing' ? 500 : null;
    const history = this.#history;
    history?.write({
      type: 'webhook',
      at: history.now(),
      receiver: this.name,
      endpoint: request.url?.slice(1) ?? '',
      id: headerOf(request, 'webhook-id'),
      timestamp: headerOf(request, 'webhook-timestamp'),
      signature: headerOf(request, 'webhook-signature'),
      body,
      status,
    });
    if (status !== null) response.writeHead(status).end();
    else if (mood === 'breaking') response.destroy();
  }
}

const headerOf = (request: IncomingMessage, name: string) => String(request.headers[name] ?? '');
