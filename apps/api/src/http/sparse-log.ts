// While a part of Weir is away, every request fails for the same reason. One line a second says so as well as thousands.

import type { FastifyBaseLogger } from 'fastify';

const INTERVAL_MS = 1_000;

/** Writes the first of many equal warnings, and with the next one, a second later or more, how many there were between. */
export class SparseLog {
  readonly #now: () => number;
  readonly #last = new Map<string, { at: number; left: number }>();

  /** `now` is in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** `kind` says which warnings are equal; there must not be many kinds. */
  warn(log: FastifyBaseLogger, kind: string, fields: object, message: string): void {
    const now = this.#now();
    const last = this.#last.get(kind);
    if (last !== undefined && now - last.at < INTERVAL_MS) {
      last.left += 1;
      return;
    }
    this.#last.set(kind, { at: now, left: 0 });
    log.warn({ ...fields, ...(last !== undefined && last.left > 0 && { alike: last.left }) }, message);
  }
}
