// Sends requests as the interface advises: a time-out of 5 s, exponential backoff, the same body with the same idempotency
// key again, to whichever process. All that goes out and comes back is in the history.

import { setTimeout as delay } from 'node:timers/promises';
import { isForNow, type History, type SentLine } from '../history.ts';
import type { Random } from '../random.ts';
import { HttpClient, type Answer, type Message, type NoAnswer } from './http-client.ts';

const TRACK_TIMEOUT_MS = 5_000;
/** A read may take until Postgres gives up its statement, and the judge wants to see whether it takes longer. */
const READ_TIMEOUT_MS = 30_000;

const BACKOFF_FIRST_MS = 250;
const BACKOFF_MAX_MS = 4_000;

const IMPATIENT_MS = 50;

/** Attempts under way at one process. A frozen one takes them all, and the clients then go to the others. */
const ATTEMPTS_PER_API_MAX = 64;

/** A request as its sender sees it. */
export interface Outgoing extends Omit<SentLine, 'type' | 'at' | 'request' | 'api'> {
  message: Message;
  /** Sent again until there is a definite answer. Without it, it is sent once. */
  isRetried?: boolean;
  /** The process that the first attempt goes to. */
  api?: number;
  /** Asks again at once, since it measures when the system is back. */
  isImpatient?: boolean;
  /** What of a long answer the history keeps. */
  excerpt?: (body: Record<string, unknown>) => unknown;
}

export class Sender {
  readonly #clients: HttpClient[];
  readonly #underWay: number[];
  readonly #history: History;
  readonly #random: Random;
  /** Attempts that wait for room, the first one first: else new requests would take all of it. */
  readonly #waiting: (() => void)[] = [];
  /** By organization and API: until when it is asked to ask for nothing, by the clock of `performance`. */
  readonly #refusedUntil = new Map<string, number>();
  #requests = 0;
  #troubleAt = -Infinity;

  constructor(urls: string[], history: History, random: Random) {
    this.#clients = urls.map((url) => new HttpClient(url));
    this.#underWay = urls.map(() => 0);
    this.#history = history;
    this.#random = random;
  }

  get apis(): number {
    return this.#clients.length;
  }

  /** Whether some process has room for another request, and no attempt of an earlier one waits for it. */
  get hasRoom(): boolean {
    return this.#waiting.length === 0 && this.#underWay.some((attempts) => attempts < ATTEMPTS_PER_API_MAX);
  }

  /** Milliseconds since an attempt was last left without a definite answer. */
  get calmMs(): number {
    return performance.now() - this.#troubleAt;
  }

  /**
   * Sends a request; resolves to its definite answer, or to its last one where it is sent once. Undefined when there was
   * none. A retried request is sent until `signal` aborts.
   */
  async send(outgoing: Outgoing, signal: AbortSignal): Promise<Answer | undefined> {
    const { message, isRetried = false, isImpatient = false, excerpt, api: firstApi, ...sent } = outgoing;
    this.#requests += 1;
    const request = this.#requests;
    const timeoutMs = isTracking(outgoing) ? TRACK_TIMEOUT_MS : READ_TIMEOUT_MS;
    for (let attempt = 1; ; attempt += 1) {
      const api = attempt === 1 && firstApi !== undefined ? firstApi : await this.#pickApi(outgoing);
      const at = this.#history.now();
      if (attempt === 1) this.#history.write({ type: 'sent', at, request, api, ...sent });
      else this.#history.write({ type: 'retried', at, request, attempt, api });
      this.#underWay[api] = (this.#underWay[api] ?? 0) + 1;
      const answer = await this.#clientOf(api).attempt(message, timeoutMs);
      this.#underWay[api] = (this.#underWay[api] ?? 0) - 1;
      this.#waiting.shift()?.();
      this.#writeAnswer(request, attempt, answer, excerpt);
      const isDefinite = 'status' in answer && answer.status < 500 && !isForNow(answer.status);
      if (!isDefinite) this.#troubleAt = performance.now();
      const askedMs = 'status' in answer ? Number(answer.retryAfter ?? 0) * 1_000 : 0;
      if ('status' in answer && answer.status === 429)
        this.#refusedUntil.set(`${sent.organization} ${api}`, performance.now() + askedMs);
      if (isDefinite || !isRetried || signal.aborted) return 'status' in answer ? answer : undefined;
      await delay(isImpatient ? IMPATIENT_MS : Math.max(this.#backoffMs(attempt), askedMs));
    }
  }

  close(): void {
    for (const client of this.#clients) client.close();
  }

  #clientOf(api: number): HttpClient {
    const client = this.#clients[api];
    if (client === undefined) throw new RangeError(`there is no API ${api}`);
    return client;
  }

  /**
   * One by chance, and another when that one has its hands full, or has asked this organization to come back later; waits while that is
   * so of all.
   */
  async #pickApi(outgoing: Outgoing): Promise<number> {
    for (let isWoken = false; ; isWoken = true) {
      const first = this.#random.int(0, this.#clients.length - 1);
      let refusedMs = Infinity;
      for (let step = 0; step < this.#clients.length; step += 1) {
        const api = (first + step) % this.#clients.length;
        if ((this.#underWay[api] ?? 0) >= ATTEMPTS_PER_API_MAX) continue;
        const ms = this.#refusedMs(outgoing, api);
        if (ms <= 0) return api;
        refusedMs = Math.min(refusedMs, ms);
      }
      if (refusedMs === Infinity) await new Promise<void>((resolve) => this.#waiting.push(resolve));
      else {
        // Another one may take the room that this one was told of.
        if (isWoken) this.#waiting.shift()?.();
        await delay(refusedMs);
      }
    }
  }

  /** How long it is until this API may be asked. Tracking is not what it refused. */
  #refusedMs(outgoing: Outgoing, api: number): number {
    if (isTracking(outgoing)) return 0;
    return (this.#refusedUntil.get(`${outgoing.organization} ${api}`) ?? 0) - performance.now();
  }

  /** Full jitter: clients that were stopped together do not come back together. */
  #backoffMs(attempts: number): number {
    return this.#random.int(0, Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** (attempts - 1)));
  }

  #writeAnswer(request: number, attempt: number, answer: Answer | NoAnswer, excerpt: Outgoing['excerpt']): void {
    const at = this.#history.now();
    if (!('status' in answer)) {
      this.#history.write({ type: 'unanswered', at, request, attempt, ...answer });
      return;
    }
    const { status, retryAfter } = answer;
    const head = JSON.stringify({ type: 'answered', at, request, attempt, status, retryAfter });
    const body = bodyOf(answer, excerpt);
    this.#history.writeJson(body === '' ? head : `${head.slice(0, -1)},"body":${body}}`);
  }
}

function isTracking({ operation }: Outgoing): boolean {
  return operation === 'track' || operation === 'batch' || operation === 'refusal';
}

/** The body of an answer as JSON. */
function bodyOf({ status, text, isJson }: Answer, excerpt: Outgoing['excerpt']): string {
  if (text === '') return '';
  // What says that it is JSON and is none would make the line unreadable, so only the usual form is taken on trust.
  if (!isJson || !text.startsWith('{') || !text.endsWith('}') || text.includes('\n')) return JSON.stringify(text);
  if (status !== 200 || excerpt === undefined) return text;
  return JSON.stringify(excerpt(JSON.parse(text) as Record<string, unknown>));
}
