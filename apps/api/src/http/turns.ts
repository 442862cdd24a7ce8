// Long work in slices. Whatever takes one process long does so for all of its clients: so it is cut, and between two slices
// everybody else has a turn of the event loop.

/** How long a slice may take. Some five of them, of as many requests, still leave others a tenth of a second's wait away. */
const SLICE_MS = 5;

/** Lets the slices of all requests take turns: one of them in each turn of the event loop, however many there are. */
export class Turns {
  readonly #waiting: (() => void)[] = [];
  #isScheduled = false;

  /** Resolves in a later turn of the event loop, in which nobody else who waits here goes on. First come, first served. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#schedule();
    });
  }

  /** Begins a slice now. Its `isOver` is for the work to ask, as often as it can stop. */
  slice(now: () => number = () => performance.now()): { isOver(): boolean } {
    const end = now() + SLICE_MS;
    return { isOver: () => now() >= end };
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#waiting.shift()?.();
      this.#schedule();
    });
  }
}
