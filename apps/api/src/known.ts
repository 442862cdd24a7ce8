import type { FastifyBaseLogger } from 'fastify';

/** After a look-up that failed or took too long, Postgres is left alone for this long. */
const RETRY_MS = 1_000;

/** What is known already waits no longer than this for Postgres to say that it is still so. */
const WAIT_MS = 250;

export interface KnownOptions<Value> {
  /** What is remembered, for the log: `API key`. */
  what: string;
  /** Asks Postgres. Undefined where there is none. */
  find(name: string): Promise<Value | undefined>;
  /** After this it is looked up again before it is used. */
  freshMs: number;
  /** For no longer than this is it used from memory, even while Postgres is away. */
  usableMs: number;
  /** Beyond this many, those that were looked up first are forgotten first. */
  countMax: number;
  log: FastifyBaseLogger;
  /** Milliseconds. By default not the time of day, which may be set back and would then keep something for longer. */
  now?: () => number;
}

interface Entry<Value> {
  value: Value;
  lookedUpAt: number;
  lookUpAgainAt: number;
}

/**
 * Things that the track path needs at every request, kept in memory so that it asks Postgres only about those it has not
 * seen. What is not known is always asked for, so that a new one works at once. While Postgres is away, tracking goes on
 * with those in use.
 */
export class Known<Value> {
  readonly #options: KnownOptions<Value>;
  readonly #now: () => number;
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #underWay = new Map<string, Promise<Value | undefined>>();

  constructor(options: KnownOptions<Value>) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** At once where it is known; a promise where Postgres has to be asked, which rejects when it cannot be. */
  get(name: string): Value | Promise<Value | undefined> {
    const entry = this.#entries.get(name);
    const now = this.#now();
    if (entry === undefined || now - entry.lookedUpAt > this.#options.usableMs) return this.#lookUp(name);
    return now > entry.lookUpAgainAt ? this.#renew(name, entry) : entry.value;
  }

  /** Forgets all that is known; each is looked up again when it is asked for. */
  clear(): void {
    this.#entries.clear();
  }

  /** What Postgres says now, or what is known if Postgres does not answer. */
  async #renew(name: string, entry: Entry<Value>): Promise<Value | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`Postgres did not answer within ${WAIT_MS} ms`)), WAIT_MS);
    });
    try {
      return await Promise.race([this.#lookUp(name), tooLate]);
    } catch (error) {
      entry.lookUpAgainAt = this.#now() + RETRY_MS;
      this.#options.log.warn({ err: error }, `a known ${this.#options.what} could not be looked up again`);
      return entry.value;
    } finally {
      clearTimeout(timer);
    }
  }

  /** One look-up at a time for each name, however many requests wait for it. */
  #lookUp(name: string): Promise<Value | undefined> {
    const underWay = this.#underWay.get(name);
    if (underWay !== undefined) return underWay;
    const lookUp = this.#ask(name).finally(() => this.#underWay.delete(name));
    this.#underWay.set(name, lookUp);
    return lookUp;
  }

  async #ask(name: string): Promise<Value | undefined> {
    // From before the question: an answer that took long is as old as what Postgres saw when it began.
    const lookedUpAt = this.#now();
    const value = await this.#options.find(name);
    this.#entries.delete(name);
    if (value === undefined) return undefined;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size < this.#options.countMax) break;
      this.#entries.delete(oldest);
    }
    this.#entries.set(name, { value, lookedUpAt, lookUpAgainAt: lookedUpAt + this.#options.freshMs });
    return value;
  }
}
