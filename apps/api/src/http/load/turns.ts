// Long work in slices. Whatever takes a process long does so for all of its clients: so it is cut, and between two slices
// everybody else has a turn of the event loop.

/** How much of one turn of the event loop all slices together may take. Others wait for as long, and a little more. */
const SLICE_MS = 3;

/** One slice for each turn of the event loop, however many requests there are with long work. First come, first served. */
export class Turns {
  readonly #now: () => number;
  readonly #waiting: (() => void)[] = [];
  #isScheduled = false;
  /** When the slice of this turn of the event loop is over; undefined while nobody has begun it. */
  #end: number | undefined;

  /** `now` is in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether the slice of this turn is used up, for long work to ask as often as it can stop. The first to ask begins it. */
  isOver(): boolean {
    if (this.#end === undefined) {
      // Those who wait come first.
      if (this.#waiting.length > 0) return true;
      this.#begin();
      return false;
    }
    return this.#now() >= this.#end;
  }

  /** Resolves in a later turn of the event loop, whose slice is then the caller's. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#schedule();
    });
  }

  #begin(): void {
    this.#end = this.#now() + SLICE_MS;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#end = undefined;
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#begin();
      next();
    });
  }
}

/** Does work that stops where it can, and lets everybody else have a turn wherever a slice is used up. */
export async function inTurns<Result>(turns: Turns, work: Generator<undefined, Result, undefined>): Promise<Result> {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    if (turns.isOver()) await turns.next();
  }
}
