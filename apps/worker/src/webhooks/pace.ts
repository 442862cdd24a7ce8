import { setTimeout as delay } from 'node:timers/promises';

/**
 * What is due within so long begins together: each wait wakes this process in the middle of what others do. Ten in a row and then none for
 * a tenth of a second take a fraction of what ten at even distances take.
 */
const TOGETHER_MS = 100;

/** So many begin in a second, and what is due within a tenth of one beyond; who comes first is first, to a tenth of a second. */
export class Pace {
  readonly #stepMs: number;
  #nextAt = 0;

  constructor(perSecond: number) {
    this.#stepMs = 1_000 / perSecond;
  }

  /** Resolves when the next one may begin, or once it is given up. */
  async turn(giveUp?: AbortSignal): Promise<void> {
    const now = performance.now();
    const at = Math.max(now, this.#nextAt);
    this.#nextAt = at + this.#stepMs;
    const wholeMs = Math.floor((at - now) / TOGETHER_MS) * TOGETHER_MS;
    if (wholeMs > 0) await delay(wholeMs, undefined, { signal: giveUp }).catch(() => {});
  }
}
