import type { ApiKeyGrant } from '@weir/db/api-keys';
import type { FastifyBaseLogger } from 'fastify';

/** After this a key is looked up again, beside the request that noticed. */
const FRESH_MS = 10_000;

/** After a look-up that failed, Postgres is left alone for this long. */
const RETRY_MS = 1_000;

/**
 * A key is not used from memory for longer than this. While Postgres is away, tracking goes on with the keys that were
 * in use. What keeps a deleted key out meanwhile is its tombstone, which every admission asks for.
 */
export const KNOWN_KEY_SECONDS_MAX = 3_600;

/** About 5 MB; beyond it the keys that were looked up first are forgotten first. */
const KEYS_MAX = 10_000;

interface KnownKey {
  grant: ApiKeyGrant;
  lookedUpAt: number;
  lookUpAgainAt: number;
}

/**
 * API keys by hash, kept in memory so that tracking asks Postgres only about keys it has not seen. A key that is not
 * known is always asked for, so that a new one works at once. Only for routes that ask for the tombstone of a key.
 */
export class KnownKeys {
  readonly #find: (keyHash: Buffer) => Promise<ApiKeyGrant | undefined>;
  readonly #log: FastifyBaseLogger;
  readonly #now: () => number;
  readonly #known = new Map<string, KnownKey>();
  readonly #underWay = new Map<string, Promise<ApiKeyGrant | undefined>>();

  constructor(
    find: (keyHash: Buffer) => Promise<ApiKeyGrant | undefined>,
    log: FastifyBaseLogger,
    // Not the time of day, which may be set back and would then keep a key for longer.
    now: () => number = () => performance.now(),
  ) {
    this.#find = find;
    this.#log = log;
    this.#now = now;
  }

  /** What a key opens, at once where it is known; a promise where Postgres has to be asked. */
  get(keyHash: Buffer): ApiKeyGrant | Promise<ApiKeyGrant | undefined> {
    const name = keyHash.toString('base64');
    const known = this.#known.get(name);
    const now = this.#now();
    if (known === undefined || now - known.lookedUpAt > KNOWN_KEY_SECONDS_MAX * 1_000)
      return this.#lookUp(name, keyHash);
    if (now > known.lookUpAgainAt) {
      known.lookUpAgainAt = now + RETRY_MS;
      this.#lookUp(name, keyHash).catch((error: unknown) => {
        this.#log.warn({ err: error }, 'a known API key could not be looked up again');
      });
    }
    return known.grant;
  }

  /** One look-up at a time for each key, however many requests wait for it. */
  #lookUp(name: string, keyHash: Buffer): Promise<ApiKeyGrant | undefined> {
    const underWay = this.#underWay.get(name);
    if (underWay !== undefined) return underWay;
    const lookUp = this.#ask(name, keyHash).finally(() => this.#underWay.delete(name));
    this.#underWay.set(name, lookUp);
    return lookUp;
  }

  async #ask(name: string, keyHash: Buffer): Promise<ApiKeyGrant | undefined> {
    // From before the question: an answer that took long is as old as what Postgres saw when it began.
    const lookedUpAt = this.#now();
    const grant = await this.#find(keyHash);
    this.#known.delete(name);
    if (grant === undefined) return undefined;
    for (const oldest of this.#known.keys()) {
      if (this.#known.size < KEYS_MAX) break;
      this.#known.delete(oldest);
    }
    this.#known.set(name, { grant, lookedUpAt, lookUpAgainAt: lookedUpAt + FRESH_MS });
    return grant;
  }
}
