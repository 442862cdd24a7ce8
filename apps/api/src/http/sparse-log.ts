// While a door is shut, every request is refused for the same reason. A line now and then says so as well as thousands.

import type { FastifyBaseLogger } from 'fastify';

/** Between two equal warnings: twice as long each time, up to a minute, until there is none for twice as long. */
const INTERVAL_MS = { first: 1_000, longest: 60_000 };

interface Kind {
  intervalMs: number;
  timer: NodeJS.Timeout;
  /** Whether the next one is written at once: there was none for the whole interval. */
  isQuiet: boolean;
  /** How many were not written, and how the last of them would be. */
  left: number;
  writeLast: (alike: number) => void;
}

/** Writes the first of many equal warnings at once, and after a while the last one, with how many there were between. */
export class SparseLog {
  readonly #kinds = new Map<string, Kind>();

  /** `kind` says which warnings are equal; there must not be many kinds. */
  warn(log: FastifyBaseLogger, kind: string, fields: object, message: string): void {
    const write = (alike: number) => log.warn({ ...fields, ...(alike > 0 && { alike }) }, message);
    const known = this.#kinds.get(kind);
    if (known === undefined || known.isQuiet) {
      write(0);
      this.#hold(kind, known);
      return;
    }
    known.left += 1;
    known.writeLast = write;
  }

  #hold(kind: string, before: Kind | undefined): void {
    clearTimeout(before?.timer);
    const intervalMs = before === undefined ? INTERVAL_MS.first : Math.min(INTERVAL_MS.longest, 2 * before.intervalMs);
    const timer = setTimeout(() => this.#endHold(kind, held), intervalMs).unref();
    const held: Kind = { intervalMs, timer, isQuiet: false, left: 0, writeLast: () => {} };
    this.#kinds.set(kind, held);
  }

  #endHold(kind: string, held: Kind): void {
    if (held.left > 0) {
      held.writeLast(held.left - 1);
      this.#hold(kind, held);
      return;
    }
    held.isQuiet = true;
    held.timer = setTimeout(() => this.#kinds.delete(kind), held.intervalMs).unref();
  }
}
