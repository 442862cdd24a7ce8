// The client for services that report usage. Every attempt has a time limit, and is retried while that can help. It carries
// a key for each event, so that a retry never counts twice.

import { readAnswer, settle, splitAnswer, type Answer, type Tracked } from './answer.ts';
import { WeirError } from './error.ts';
import { encodeEvent, type UsageEvent } from './event.ts';
import { withRetries } from './retry.ts';

export interface WeirClientOptions {
  /** Where the service listens, without `/api/v1`: `https://usage.example.com`. */
  baseUrl: string;
  /** A key with the scope `usage.write`. */
  apiKey: string;
  /** The limit of one attempt, in milliseconds; default 5000. */
  timeoutMs?: number;
  /** Retries after the first attempt; default 4, which is less than 4 s of waiting unless the service asks for more. */
  retries?: number;
  /** Called with each failure that will be retried, before the wait. */
  onRetry?: (error: WeirError, delayMs: number) => void;
  /** Used instead of the global `fetch`. */
  fetch?: typeof fetch;
}

export interface CallOptions {
  /** Ends the call at once with the signal's reason; whether its events were accepted is then unknown. */
  signal?: AbortSignal | undefined;
}

/** What became of one event of a batch: Weir keeps it, or `error` says why not. */
export type BatchOutcome = Tracked | { error: WeirError };

export class WeirClient {
  readonly #baseUrl: string;
  readonly #apiKey: string;
  readonly #timeoutMs: number;
  readonly #retries: number;
  readonly #onRetry: WeirClientOptions['onRetry'];
  readonly #fetch: typeof fetch;

  /** Throws a TypeError when `baseUrl` is no URL. Opens no connection. */
  constructor(options: WeirClientOptions) {
    this.#baseUrl = new URL(options.baseUrl).href.replace(/\/+$/, '');
    this.#apiKey = options.apiKey;
    this.#timeoutMs = options.timeoutMs ?? 5000;
    this.#retries = options.retries ?? 4;
    this.#onRetry = options.onRetry;
    this.#fetch = options.fetch ?? fetch;
  }

  /**
   * Resolves once the service has the event on disk. Rejects with a WeirError when the service refuses the event, or stays
   * out of reach through all retries. Rejects with a RangeError when the quantity is no number.
   */
  async track(event: UsageEvent, options: CallOptions = {}): Promise<Tracked> {
    const { key, json } = prepare(event);
    return await this.#retry(options, async () => settle(await this.#post('/sdk/track', json, [key], options), key));
  }

  /**
   * Sends 1 to 1000 events in one request, and resolves to their outcomes in the same order. Events that the service cannot
   * take now are sent again without those that are settled. Rejects like `track`, but only while no event has an answer of
   * its own.
   */
  async trackBatch(events: readonly UsageEvent[], options: CallOptions = {}): Promise<BatchOutcome[]> {
    const outcomes: BatchOutcome[] = [];
    let pending = events.map((event, index) => ({ ...prepare(event), index }));

    const attempt = async () => {
      const keys = pending.map((item) => item.key);
      const body = `{"events":[${pending.map((item) => item.json).join(',')}]}`;
      const answers = splitAnswer(await this.#post('/sdk/track/batch', body, keys, options), keys);
      const unsettled = [];
      let failure: WeirError | undefined;
      for (const [position, item] of pending.entries()) {
        const outcome = settleOrError(answers[position]!, item.key);
        outcomes[item.index] = outcome;
        if ('error' in outcome && outcome.error.transient) {
          unsettled.push(item);
          failure = outcome.error;
        }
      }
      pending = unsettled;
      if (failure) throw failure;
    };

    try {
      await this.#retry(options, attempt);
    } catch (error) {
      // Once the events have answers of their own, the unsettled ones keep the error of their last one.
      if (!(error instanceof WeirError) || outcomes.length === 0) throw error;
    }
    return outcomes;
  }

  async #retry<T>(options: CallOptions, attempt: () => Promise<T>): Promise<T> {
    return await withRetries(attempt, {
      retries: this.#retries,
      onRetry: this.#onRetry,
      signal: options.signal,
    });
  }

  /** Makes one attempt. Returns any answer; throws a WeirError of status 0 when none comes. */
  async #post(path: string, body: string, idempotencyKeys: string[], { signal }: CallOptions): Promise<Answer> {
    // A listener that is taken off again, since the caller's signal may outlive millions of requests.
    const limit = new AbortController();
    const stop = () => limit.abort();
    const timer = setTimeout(stop, this.#timeoutMs);
    signal?.addEventListener('abort', stop);
    try {
      const response = await this.#fetch(`${this.#baseUrl}/api/v1${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': this.#apiKey },
        body,
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
        detail: late ? `No answer within ${this.#timeoutMs} ms` : `Cannot reach ${this.#baseUrl}: ${reason(cause)}`,
        idempotencyKeys,
        cause,
      });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    }
  }
}

function prepare(event: UsageEvent): { key: string; json: string } {
  const key = event.idempotency_key ?? crypto.randomUUID();
  return { key, json: encodeEvent({ ...event, idempotency_key: key }) };
}

function settleOrError(answer: Answer, idempotencyKey: string): BatchOutcome {
  try {
    return settle(answer, idempotencyKey);
  } catch (error) {
    if (error instanceof WeirError) return { error };
    throw error;
  }
}

/** Fetch says only "fetch failed"; what failed is in the cause. */
function reason(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  return cause.message || ('code' in cause ? String(cause.code) : cause.name);
}
