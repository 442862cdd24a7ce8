// A service that takes every event once, unless a test has it answer otherwise. Who Weir is, the tests with a real one tell.

import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SentEvent {
  idempotency_key: string;
  timestamp: string;
  quantity: number;
}

export class FakeService {
  readonly url: string;
  readonly requests: SentEvent[][] = [];
  readonly accepted = new Set<string>();
  /** Answers a request itself and returns true, or leaves it to the service. */
  interfere: (events: SentEvent[], response: ServerResponse) => boolean = () => false;
  readonly #server: Server;

  static async open(): Promise<FakeService> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new FakeService(server);
  }

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (request, response) => {
      let text = '';
      request.setEncoding('utf8');
      request.on('data', (chunk: string) => (text += chunk));
      request.on('end', () => {
        const { events } = JSON.parse(text) as { events: SentEvent[] };
        this.requests.push(events);
        if (!this.interfere(events, response)) this.take(events, response);
      });
    });
  }

  take(events: SentEvent[], response: ServerResponse): void {
    const data = events.map(({ idempotency_key: id }) => {
      if (this.accepted.has(id)) return { status: 409, code: 'duplicate_event', id };
      this.accepted.add(id);
      return { status: 201, id };
    });
    response.writeHead(207).end(JSON.stringify({ data }));
  }

  async untilSent(count: number): Promise<void> {
    while (this.requests.length < count) await new Promise((resolve) => setImmediate(resolve));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** As Weir does it; a batch that is taken in part is no problem. */
export function refuse(response: ServerResponse, status: number, body = {}): true {
  const isProblem = status >= 300;
  response.writeHead(status, { 'content-type': isProblem ? 'application/problem+json' : 'application/json' });
  response.end(JSON.stringify({ ...(isProblem && { code: 'refused', status, request_id: 'r1' }), ...body }));
  return true;
}

/** As a proxy does it that stands before Weir. */
export function refuseAsProxy(response: ServerResponse, status: number): true {
  response.writeHead(status, { 'content-type': 'text/html' }).end(`<html><h1>${status}</h1></html>`);
  return true;
}

export const eventOf = (n: number) => ({
  meter_token: 'm',
  customer_external_id: 'acme',
  quantity: n,
  idempotency_key: `k${n}`,
});

/** The numbers from 1 on. */
export const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);
