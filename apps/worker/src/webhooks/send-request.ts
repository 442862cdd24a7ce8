// One request to a receiver. It is bounded in time and in what is read of its answer, and follows no redirect.

import { errorCodeOf } from '@weir/shared/errors';
import { hostOf, type Networks } from '@weir/shared/networks';
import { storable } from '@weir/shared/text';
import { withinMs } from '@weir/shared/within';
import { Agent as HttpAgent, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

import { KEPT_BYTES, keptAnswer } from './kept-answer.ts';
import { findAddresses, type NameLookup } from './receiver-address.ts';

/** What came back. */
export interface Received {
  /** Null: there was no answer. */
  status: number | null;
  error: string | null;
  /** What the answer begins with, as text that Postgres can hold. */
  answer: string | null;
  retryAfter: string | undefined;
}

export interface Sending {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** From the look-up of the name to the status of the answer, and to its end as far as that is read. */
const ATTEMPT_MS_MAX = 15_000;

/** The look-up of a name takes no longer, whatever its servers do. */
const LOOKUP_MS_MAX = 10_000;

/** So much of it is read, so that its connection can be used again; of a longer one the connection is closed. */
const READ_BYTES_MAX = 16 * 1_024;

/** A connection is kept open for the next request for so long, and so many of one receiver. */
const IDLE_MS = 5_000;
const IDLE_CONNECTIONS_MAX = 4;

const ERROR_LENGTH_MAX = 200;

/** These say that nobody listens at an address of several. */
const NOT_CONNECTED = new Set(['ECONNREFUSED', 'ENETUNREACH', 'EHOSTUNREACH', 'EADDRNOTAVAIL']);

export interface SenderOptions {
  lookup: NameLookup;
  /** Where addresses that are not public are taken, and plain http. */
  allowed: Networks;
  /** Of those who are trusted instead of the well-known ones. */
  ca?: string;
  attemptMsMax?: number;
}

/** Sends requests, over connections that it keeps for a while. */
export class Sender {
  readonly #attemptMsMax: number;
  readonly #lookup: NameLookup;
  readonly #allowed: Networks;
  readonly #https: HttpsAgent;
  readonly #http: HttpAgent;
  readonly #underWay = new Set<AbortController>();

  constructor({ lookup, allowed, ca, attemptMsMax = ATTEMPT_MS_MAX }: SenderOptions) {
    this.#attemptMsMax = attemptMsMax;
    this.#lookup = lookup;
    this.#allowed = allowed;
    const options = { keepAlive: true, maxFreeSockets: IDLE_CONNECTIONS_MAX, timeout: IDLE_MS };
    this.#https = new HttpsAgent({ ...options, ...(ca !== undefined && { ca }) });
    this.#http = new HttpAgent(options);
  }

  /** Never fails: what went wrong is in what came back. Undefined: it was given up, and nobody knows what came of it. */
  async send(sending: Sending): Promise<Received | undefined> {
    const giveUp = new AbortController();
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      giveUp.abort();
    }, this.#attemptMsMax);
    this.#underWay.add(giveUp);
    try {
      const url = new URL(sending.url);
      const addresses = await withinMs(
        Math.min(LOOKUP_MS_MAX, this.#attemptMsMax),
        findAddresses(url, this.#lookup, this.#allowed),
      );
      return await this.#sendToFirst(url, addresses, sending, giveUp.signal);
    } catch (error) {
      if (giveUp.signal.aborted && !isLate) return undefined;
      const late = `No answer within ${this.#attemptMsMax / 1_000} s.`;
      return { status: null, error: isLate ? late : errorText(error), answer: null, retryAfter: undefined };
    } finally {
      clearTimeout(timer);
      this.#underWay.delete(giveUp);
    }
  }

  /** Gives up what is under way. */
  giveUp(): void {
    for (const each of this.#underWay) each.abort();
  }

  close(): void {
    this.#https.destroy();
    this.#http.destroy();
  }

  async #sendToFirst(url: URL, addresses: readonly string[], sending: Sending, signal: AbortSignal): Promise<Received> {
    for (const [index, address] of addresses.entries()) {
      try {
        return await this.#sendTo(url, address, sending, signal);
      } catch (error) {
        if (index === addresses.length - 1 || !NOT_CONNECTED.has(errorCodeOf(error) ?? '')) throw error;
      }
    }
    throw new Error('a receiver without an address was not refused');
  }

  async #sendTo(url: URL, address: string, sending: Sending, signal: AbortSignal): Promise<Received> {
    for (;;) {
      const request = this.#open(url, address, sending, signal);
      try {
        const message = await answerTo(request, sending.body);
        const { statusCode = null, headers } = message;
        const answer = await readBeginning(message);
        return { status: statusCode, error: null, answer, retryAfter: headers['retry-after'] };
      } catch (error) {
        // The receiver closed a connection that was kept while this request set out on it: that says nothing of the receiver.
        if (!request.reusedSocket || errorCodeOf(error) !== 'ECONNRESET') throw error;
      }
    }
  }

  #open(url: URL, address: string, { headers, body }: Sending, signal: AbortSignal): ClientRequest {
    const options = {
      method: 'POST',
      // The address and not the name: connections are told apart by it, and nothing is looked up once more.
      host: address,
      path: url.pathname + url.search,
      headers: { ...headers, host: url.host, 'content-length': Buffer.byteLength(body) },
      signal,
    };
    if (url.protocol === 'http:') return httpRequest({ ...options, port: Number(url.port || 80), agent: this.#http });
    // Whose certificate it has to be. Where the URL has an address it is that, which has no place in SNI.
    const servername = hostOf(url) === address ? {} : { servername: url.hostname };
    return httpsRequest({ ...options, ...servername, port: Number(url.port || 443), agent: this.#https });
  }
}

async function answerTo(request: ClientRequest, body: string): Promise<IncomingMessage> {
  return await new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve);
    request.on('error', reject);
    request.on('upgrade', (_, socket) => {
      socket.destroy();
      reject(new Error('The receiver asked for another protocol.'));
    });
    request.end(body);
  });
}

/** Where the rest does not come, what has come is enough: the status is known. */
async function readBeginning(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of message as AsyncIterable<Buffer>) {
      if (bytes < KEPT_BYTES) chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > READ_BYTES_MAX) break;
    }
  } catch {
    // Cut off.
  }
  return keptAnswer(Buffer.concat(chunks));
}

function errorText(error: unknown): string {
  const text = error instanceof Error && error.message !== '' ? error.message : String(error);
  return storable(text).slice(0, ERROR_LENGTH_MAX);
}
