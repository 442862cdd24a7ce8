import { setTimeout as delay } from 'node:timers/promises';

/** Spreads what begins over time: so many a second at most, first come, first served. */
export class Pace {
  readonly #stepMs: number;
  #nextAt = 0;

  constructor(perSecond: number) {
    this.#stepMs = 1_000 / perSecond;
  }

  /** Resolves when the next one may begin; at once after a pause. */
  async turn(): Promise<void> {
    const now = performance.now();
    const at = Math.max(now, this.#nextAt);
    this.#nextAt = at + this.#stepMs;
    // A timer is too coarse for less, and what is due by then makes up for it.
    if (at - now >= 1) await delay(at - now);
  }
}
