/** A terminal or a log: the part of a writable stream that is used. */
export interface Output {
  isTTY?: boolean;
  write: (text: string) => unknown;
}

const TERMINAL_EVERY_MS = 100;
const LOG_EVERY_MS = 5_000;

/** Shows what is being looked at: a moving line on a terminal, else a line now and then. */
export class Progress {
  readonly #output: Output;
  #shownAt = performance.now();
  #isShown = false;

  constructor(output: Output) {
    this.#output = output;
  }

  part(name: string): void {
    const now = performance.now();
    if (now - this.#shownAt < (this.#output.isTTY === true ? TERMINAL_EVERY_MS : LOG_EVERY_MS)) return;
    this.#shownAt = now;
    this.#output.write(this.#output.isTTY === true ? `\r\x1b[KLooking at ${name} …` : `Looking at ${name} …\n`);
    this.#isShown = this.#output.isTTY === true;
  }

  /** Takes the moving line away. */
  clear(): void {
    if (this.#isShown) this.#output.write('\r\x1b[K');
    this.#isShown = false;
  }
}
