// While something is away, each request or attempt meets the same. A line now and then says so as well as thousands.

/** Between two equal lines: twice as long each time, up to this, until there is none for twice as long. */
const INTERVAL_MS_MAX = 60_000;

interface Kind {
  intervalMs: number;
  timer: NodeJS.Timeout;
  /** Whether the next one is written at once: there was none for the whole interval. */
  isQuiet: boolean;
  /** How many were not written, and how the last of them would be. */
  left: number;
  writeLast: (alike: number) => void;
}

type Level = 'error' | 'warn' | 'info';

/** A log has this where it counts alike lines itself. */
export const countsItself = Symbol('counts itself');

/** Of the logs that count some alike lines themselves: whether a line with these fields is one of those. */
export interface CountingLog {
  readonly [countsItself]?: (fields: object) => boolean;
}

type Log<L extends Level> = Record<L, (fields: object, message: string) => void> & CountingLog;

/**
 * Writes the first of many equal lines at once, and after a while the last one, with how many there were between (`alike`). What
 * the log counts itself is passed on at once.
 */
export class SparseLog {
  readonly #kinds = new Map<string, Kind>();
  readonly #firstIntervalMs: number;

  /** With how long there is between the first two of a kind. */
  constructor(firstIntervalMs = 1_000) {
    this.#firstIntervalMs = firstIntervalMs;
  }

  /** `kind` says which lines are equal; there must not be many kinds at a time. */
  warn(log: Log<'warn'>, kind: string, fields: object, message: string): void {
    this.write(log, 'warn', kind, fields, message);
  }

  /** The same at any level. */
  write<L extends Level>(log: Log<L>, level: L, kind: string, fields: object, message: string): void {
    // It has to hear of each when it happens: one that was held back would tell of an outage that is over.
    if (log[countsItself]?.(fields) === true) {
      log[level](fields, message);
      return;
    }
    const write = (alike: number) => log[level]({ ...fields, ...(alike > 0 && { alike }) }, message);
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
    const intervalMs = before === undefined ? this.#firstIntervalMs : Math.min(INTERVAL_MS_MAX, 2 * before.intervalMs);
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
