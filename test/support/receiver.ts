// A receiver of webhooks: keeps what comes, in the order in which it comes, and answers as a test likes.

import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';

export interface ReceivedWebhook {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  type: string;
  sequence: number | null;
  data: Record<string, unknown>;
}

export interface Receiver {
  url: string;
  /** All that came, whatever it was answered. */
  received: ReceivedWebhook[];
  /** How many connections were made. */
  connections(): number;
  close(): Promise<void>;
}

/** How a receiver answers; by default 204. */
export type Answering = (webhook: ReceivedWebhook, response: ServerResponse) => void;

export async function openReceiver(
  answer: Answering = (_, response) => response.writeHead(204).end(),
  host = '127.0.0.1',
): Promise<Receiver> {
  const received: ReceivedWebhook[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const { type, data } = JSON.parse(body) as { type: string; data: Record<string, unknown> };
      const webhook = {
        path: request.url ?? '',
        headers: request.headers,
        body,
        type,
        data,
        sequence: data['sequence'] as number | null,
      };
      received.push(webhook);
      answer(webhook, response);
    });
  });
  server.on('connection', () => (connections += 1));
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${port}/hook`,
    received,
    connections: () => connections,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
