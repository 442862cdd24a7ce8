import type { QueueConnection } from './connection.ts';

/** A worker notes a task no more often: each time Redis writes it to its disk. */
const NOTE_INTERVAL_MS = 30_000;

/**
 * When each task of maintenance was last done, by whichever worker. Of one that fails each time, does not end or is not scheduled its
 * lines in the log, if it has any, are all that tells otherwise.
 */
export class MaintenanceDone {
  readonly #queue: QueueConnection;
  readonly #notedAt = new Map<string, number>();

  constructor(queue: QueueConnection) {
    this.#queue = queue;
  }

  /** Notes that a task is done. */
  async note(task: string): Promise<void> {
    const now = performance.now();
    if (now - (this.#notedAt.get(task) ?? -Infinity) < NOTE_INTERVAL_MS) return;
    const { redis, keys } = this.#queue;
    await redis.hset(keys.maintenanceDone, task, Date.now());
    this.#notedAt.set(task, now);
  }

  /** For how many seconds a task is overdue: it was not done for twice its interval, and a minute, since it is known to be one. 0: it is not. */
  async findOverdueSeconds(task: string, everyMs: number): Promise<number> {
    const { redis, keys } = this.#queue;
    const now = Date.now();
    const doneAt = Number((await redis.hget(keys.maintenanceDone, task)) ?? Infinity);
    // It is new, Redis has lost what it had, or the clock of who noted it was ahead.
    if (doneAt > now) await redis.hset(keys.maintenanceDone, task, now);
    return Math.max(0, now - doneAt - 2 * (everyMs + NOTE_INTERVAL_MS)) / 1_000;
  }
}
