// One attempt of one request: within a time limit, with the API key or the service token, and never after a redirect.

import { readAnswer, type Answer } from './answer.ts';
import { WeirError } from './error.ts';
import { readMs } from './numbers.ts';

export interface TransportOptions {
  baseUrl: string | undefined;
  apiKey: string | undefined;
  serviceToken: string | undefined;
  timeoutMs: number;
  fetch: typeof fetch;
}

export interface Message {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Whether only an API key opens it; else a service token goes first. */
  byKey?: boolean;
  /** After `/api/v1`. */
  path: string;
  body?: string;
  /** Beside those of the client. */
  headers?: Record<string, string>;
  /** Makes a write that is no event safe to send again; the same one at each attempt. */
  requestKey?: string;
  /** The keys of the events in it, for the error. */
  idempotencyKeys?: readonly string[];
  signal?: AbortSignal | undefined;
  /** In place of the client's own. */
  timeoutMs?: number | undefined;
}

export class Transport {
  readonly #baseUrl: string;
  readonly #apiKey: string | undefined;
  readonly #serviceToken: string | undefined;
  readonly #timeoutMs: number;
  readonly #fetch: typeof fetch;

  /**
   * Throws a TypeError when `baseUrl` is no address, or when there is no credential, or one that cannot be, and a RangeError when `timeoutMs`
   * is no time. Opens no connection.
   */
  constructor(options: TransportOptions) {
    this.#baseUrl = readBaseUrl(options.baseUrl);
    const { apiKey, serviceToken } = options;
    if (serviceToken !== undefined)
      this.#serviceToken = readCredential(
        serviceToken,
        'serviceToken',
        'the token of a service account, such as org_svc_…',
      );
    if (apiKey !== undefined || serviceToken === undefined) this.#apiKey = readCredential(apiKey, 'apiKey', API_KEY);
    this.#timeoutMs = readMs('timeoutMs', options.timeoutMs, 1);
    this.#fetch = options.fetch;
  }

  /** Throws a TypeError where there is no API key, which alone opens tracking. */
  requireApiKey(): string {
    return readCredential(this.#apiKey, 'apiKey', API_KEY);
  }

  /** Makes one attempt. Returns any answer; throws a WeirError of status 0 when none comes, and the signal's reason once aborted. */
  async send(message: Message): Promise<Answer> {
    const { method, path, body, headers, requestKey, idempotencyKeys, signal } = message;
    const timeoutMs = readMs('timeoutMs', message.timeoutMs ?? this.#timeoutMs, 1);
    const credential = this.#credential(message);
    // A listener that is taken off again, since the caller's signal may outlive millions of requests.
    const limit = new AbortController();
    const stop = () => limit.abort();
    const timer = setTimeout(stop, timeoutMs);
    signal?.addEventListener('abort', stop);
    try {
      const response = await this.#fetch(`${this.#baseUrl}/api/v1${path}`, {
        method,
        headers: {
          ...headers,
          ...credential,
          accept: 'application/json',
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(requestKey !== undefined && { 'idempotency-key': requestKey }),
        },
        ...(body !== undefined && { body }),
        // The key must not follow a redirect to another host.
        redirect: 'manual',
        signal: limit.signal,
      });
      return await readAnswer(response);
    } catch (cause) {
      signal?.throwIfAborted();
      const late = limit.signal.aborted;
      throw new WeirError({
        status: 0,
        code: late ? 'timeout' : 'network_error',
        detail: late ? `No answer within ${timeoutMs} ms` : `Cannot reach ${this.#baseUrl}: ${reason(cause)}`,
        ...(idempotencyKeys !== undefined && { idempotencyKeys }),
        cause,
      });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    }
  }

  #credential({ byKey = false }: Message): Record<string, string> {
    if (!byKey && this.#serviceToken !== undefined) return { authorization: `Bearer ${this.#serviceToken}` };
    return { 'x-api-key': this.requireApiKey() };
  }
}

// All of them often come from the environment, where they may be missing whatever the types say.

const BASE_URL = 'baseUrl must be the address of Weir, such as https://usage.example.com';

function readBaseUrl(given: unknown): string {
  const url = typeof given === 'string' && URL.canParse(given) ? new URL(given) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') {
    if (`${url.username}${url.password}${url.search}${url.hash}` === '') return url.href.replace(/\/+$/, '');
    // Not told as it is: a password would be in a log.
    throw new TypeError(`${BASE_URL}, without a user, a password, a query or a fragment`);
  }
  const told = typeof given === 'string' ? `'${given}'` : String(given);
  throw new TypeError(`${BASE_URL}, not ${told}`);
}

const API_KEY = 'an API key of your organization, such as org_live_…';

function readCredential(given: unknown, name: string, what: string): string {
  const isText = typeof given === 'string' && given !== '';
  if (isText && /^[\x21-\x7e]+$/.test(given)) return given;
  const why = isText ? 'it holds a space, a line break or another character that no key has' : 'there is none';
  throw new TypeError(`${name} must be ${what}: ${why}`);
}

/** Fetch says only "fetch failed"; what failed is in the cause. */
function reason(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  return cause.message || ('code' in cause ? String(cause.code) : cause.name);
}
