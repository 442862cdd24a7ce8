// While a door is shut, every request is refused for the same reason. A line now and then says so as well as thousands.

import type { FastifyBaseLogger } from 'fastify';

/** Between two equal warnings: twice as long each time, up to a minute, until there is none for as long. */
const INTERVAL_MS = { first: 1_000, longest: 60_000 };

/** Writes the first of many equal warnings, and with the next one, a second or more later, how many there were between. */
export class SparseLog {
  readonly #now: () => number;
  readonly #last = new Map<string, { at: number; left: number; intervalMs: number }>();

  /** `now` is in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** `kind` says which warnings are equal; there must not be many kinds. */
  warn(log: FastifyBaseLogger, kind: string, fields: object, message: string): void {
    const now = this.#now();
    const last = this.#last.get(kind);
    const before = last?.intervalMs ?? INTERVAL_MS.first;
    const sinceLast = now - (last?.at ?? -Infinity);
    if (last !== undefined && sinceLast < before) {
      last.left += 1;
      return;
    }
    const intervalMs = sinceLast < 2 * before ? Math.min(INTERVAL_MS.longest, 2 * before) : INTERVAL_MS.first;
    this.#last.set(kind, { at: now, left: 0, intervalMs });
    log.warn({ ...fields, ...(last !== undefined && last.left > 0 && { alike: last.left }) }, message);
  }
}
