/**
 * The requests of a steady rate: each is due at a time that was settled beforehand, so that a server that is slow is asked
 * for no less, and what it keeps waiting is seen. They are taken in the order in which they are due. Times in milliseconds.
 */
export class DueRequests {
  /** All that are due within the time. */
  readonly total: number;
  readonly #startedAt: number;
  readonly #perSecond: number;
  #taken = 0;

  constructor(startedAt: number, perSecond: number, seconds: number) {
    this.#startedAt = startedAt;
    this.#perSecond = perSecond;
    this.total = Math.floor(perSecond * seconds);
  }

  /** Takes the next request, and returns when it was due; undefined when none is due by now. */
  take(now: number): number | undefined {
    const dueAt = this.#dueAt(this.#taken);
    if (this.#taken >= this.total || dueAt > now) return undefined;
    this.#taken += 1;
    return dueAt;
  }

  /** How many have not been taken, be they due already or not. */
  get left(): number {
    return this.total - this.#taken;
  }

  // From the number and not from the one before: steps that are added up drift away from the rate.
  #dueAt(index: number): number {
    return this.#startedAt + (index * 1_000) / this.#perSecond;
  }
}
