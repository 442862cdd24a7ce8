// Which way events take: through Redis, or directly to Postgres while Redis does not take them. One failure is enough to leave; to come
// back Redis has to take several writes in a row, and more of them each time that it did not keep what that promised. So nobody
// waits for a Redis that is gone, and none that comes and goes takes everybody along. While Postgres takes nothing either, the first
// answer is enough: whoever is refused gains nothing by waiting for more.

import { SparseLog } from '@weir/shared/sparse-log';
import type { FastifyBaseLogger } from 'fastify';

/** How long after a probe the next one comes: from one of these to the other, so that processes do not ask in step. */
const PROBE_MS = { min: 200, max: 400 };

/** So many probes in a row have to be answered, at first and at most. The most takes a third of a minute. */
const PROBES = { first: 2, most: 64 };

/** Who has been back for so long is back. */
const SETTLED_MS = 10_000;

export interface WayDeps {
  /** Resolves when Redis takes a write in time. */
  probe(): Promise<void>;
  /** Resolves when Redis knows of all that was recorded directly. */
  tellRedis(): Promise<void>;
  /** Whether Postgres takes events, as far as is known. */
  isPostgresOpen(): boolean;
  log: FastifyBaseLogger;
  /** Milliseconds. */
  now?: () => number;
}

export class Way {
  readonly #deps: WayDeps;
  readonly #now: () => number;
  readonly #sparseLog = new SparseLog();
  #isDirect = false;
  /** Why events do not go through Redis, as it was told last. */
  #because = '';
  #isReturning = false;
  #timer: NodeJS.Timeout | undefined;
  #needed = PROBES.first;
  #answered = 0;
  #leftAt = 0;
  #backAt = -Infinity;

  constructor(deps: WayDeps) {
    this.#deps = deps;
    this.#now = deps.now ?? (() => performance.now());
  }

  /** Whether Redis is known not to take events. Costs nothing to ask. */
  isDirect(): boolean {
    return this.#isDirect;
  }

  /** Whether Redis answers, as far as is known: also while it is told of what was recorded directly, before events go there again. */
  isRedisThere(): boolean {
    return !this.#isDirect || this.#isReturning;
  }

  /** Takes the direct way from now on. `because`: what Redis said, or did not. */
  leave(because: string): void {
    if (this.#isDirect) return;
    this.#isDirect = true;
    this.#because = because;
    this.#leftAt = this.#now();
    const hasSettled = this.#leftAt - this.#backAt > SETTLED_MS;
    this.#needed = hasSettled ? PROBES.first : Math.min(PROBES.most, this.#needed * 2);
    this.#answered = 0;
    this.#deps.log.warn({ way: 'direct', because }, 'Redis does not take events: they are recorded directly');
    this.#probeLater();
  }

  close(): void {
    clearTimeout(this.#timer);
    // What is still under way changes nothing any more.
    this.#answered = -Infinity;
  }

  #probeLater(): void {
    const ms = PROBE_MS.min + Math.random() * (PROBE_MS.max - PROBE_MS.min);
    this.#timer = setTimeout(() => void this.#probe(), ms);
  }

  async #probe(): Promise<void> {
    let isEnough = false;
    try {
      await this.#deps.probe();
      this.#answered += 1;
      // What is recorded from here on is told flush by flush. Told at each answer, since another process may be back by then: one that
      // Postgres does not answer.
      this.#isReturning = true;
      await this.#deps.tellRedis();
      isEnough = this.#answered >= this.#needed || !this.#deps.isPostgresOpen();
    } catch (error) {
      this.#answered = Math.min(this.#answered, 0);
      this.#tell(error);
    }
    this.#isReturning = isEnough;
    if (this.#answered === -Infinity) return;
    if (!isEnough) {
      this.#probeLater();
      return;
    }
    this.#isDirect = false;
    this.#isReturning = false;
    this.#backAt = this.#now();
    const seconds = Math.round((this.#backAt - this.#leftAt) / 1000);
    this.#deps.log.info({ way: 'redis', seconds }, 'Redis takes events again');
  }

  /** Why Redis was left was told; what keeps events from coming back may be something else. */
  #tell(error: unknown): void {
    const because = error instanceof Error ? error.message : String(error);
    if (this.#answered === -Infinity || because === this.#because) return;
    this.#because = because;
    this.#sparseLog.warn(this.#deps.log, 'back', { way: 'direct', err: error }, 'events are still recorded directly');
  }
}
