// One attempt of one request over a kept connection, as cheap as node:http makes it: the clients share two cores with what
// they try.

import http from 'node:http';
import type { UnansweredLine } from '../history.ts';

/** An answer, whatever its status. */
export interface Answer {
  status: number;
  text: string;
  isJson: boolean;
  retryAfter: string | undefined;
  /** The session cookie, when one was set. */
  session: string | undefined;
}

/** Why there is no answer. */
export type NoAnswer = Pick<UnansweredLine, 'why' | 'connection' | 'detail'>;

export interface Message {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/** Less than the 250 ms that an API which stops waits for a last request on each connection. */
const IDLE_MS_MAX = 150;

/** The connections of the clients to one API process. */
export class HttpClient {
  readonly #agent = new http.Agent({
    keepAlive: true,
    // The connection that was used last is used first, and one that is left over is closed before a server that stops
    // takes it for idle: that race is HTTP's own, and says nothing about the server.
    scheduling: 'lifo',
    timeout: IDLE_MS_MAX,
    maxFreeSockets: 1_024,
  });
  readonly #host: string;
  readonly #port: string;
  readonly #localAddress: string | undefined;

  /** `localAddress`: where its connections come from. */
  constructor(url: string, localAddress?: string) {
    const { hostname, port } = new URL(url);
    this.#host = hostname;
    this.#port = port;
    this.#localAddress = localAddress;
  }

  /** Sends a message and waits for its answer, for at most `timeoutMs`. Never throws. */
  attempt(message: Message, timeoutMs: number): Promise<Answer | NoAnswer> {
    return new Promise((resolve) => {
      const headers: Record<string, string | number> = { ...message.headers };
      if (message.body !== undefined) {
        headers['content-type'] = 'application/json';
        headers['content-length'] = Buffer.byteLength(message.body);
      }
      let isLate = false;
      const request = http.request({
        agent: this.#agent,
        host: this.#host,
        port: this.#port,
        method: message.method,
        path: message.path,
        headers,
        ...(this.#localAddress !== undefined && { localAddress: this.#localAddress }),
      });
      const timer = setTimeout(() => {
        isLate = true;
        request.destroy();
      }, timeoutMs);
      const fail = (error: NodeJS.ErrnoException) => {
        clearTimeout(timer);
        const connection = request.reusedSocket ? 'kept' : 'new';
        resolve({ why: isLate ? 'timeout' : whyOf(error), connection, detail: error.code ?? error.message });
      };
      request.on('error', fail);
      request.on('response', (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (text += chunk));
        response.on('error', fail);
        response.on('end', () => {
          clearTimeout(timer);
          resolve({
            status: response.statusCode ?? 0,
            text,
            isJson: response.headers['content-type']?.includes('json') ?? false,
            retryAfter: response.headers['retry-after'],
            session: /access_token=([^;]+)/.exec(response.headers['set-cookie']?.[0] ?? '')?.[1],
          });
        });
      });
      request.end(message.body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

function whyOf({ code, message }: NodeJS.ErrnoException): NoAnswer['why'] {
  if (code === 'ECONNREFUSED') return 'refused';
  return message === 'socket hang up' || message === 'aborted' ? 'closed' : 'reset';
}
