/** Where progress is shown, beside the results. */
export interface Screen {
  isTTY?: boolean;
  write(text: string): unknown;
}

/** How often a line is written where lines cannot be written over. */
const PLAIN_LINE_MS = 5_000;

const ERASE_LINE = '\r\u001B[2K';

/** A line that tells how far it is: written over on a terminal, and every 5 s elsewhere. */
export class Progress {
  readonly #screen: Screen;
  readonly #now: () => number;
  #isShown = false;
  #shownAt = Number.NEGATIVE_INFINITY;

  constructor(screen: Screen, now: () => number = Date.now) {
    this.#screen = screen;
    this.#now = now;
  }

  /** A line that stays. The next one of progress has its own time to wait after it. */
  log(line: string): void {
    this.#erase();
    this.#screen.write(`${line}\n`);
    this.#shownAt = this.#now();
  }

  /** A line that the next one replaces. */
  show(line: string): void {
    if (this.#screen.isTTY === true) {
      this.#erase();
      this.#screen.write(line);
      this.#isShown = true;
      return;
    }
    if (this.#now() - this.#shownAt < PLAIN_LINE_MS) return;
    this.#screen.write(`${line}\n`);
    this.#shownAt = this.#now();
  }

  #erase(): void {
    if (this.#isShown) this.#screen.write(ERASE_LINE);
    this.#isShown = false;
  }
}
