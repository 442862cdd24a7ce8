/** A terminal or a log: the part of a writable stream that is used. */
export interface Output {
  isTTY?: boolean;
  write(text: string): unknown;
}

/**
 * Has the process go on when nobody reads any more what it says, as `head` after its lines. Otherwise it would end in the midst of its
 * work, with the status of something else.
 */
export function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
}

const TERMINAL_EVERY_MS = 100;
const LOG_EVERY_MS = 5_000;

const ERASE_LINE = '\r\u001B[K';

/** Tells how far something is: one line that is written over on a terminal, and a plain line every 5 s elsewhere. */
export class ProgressLine {
  readonly #output: Output;
  readonly #now: () => number;
  #shownAt: number;
  #isShown = false;

  constructor(output: Output, now: () => number = () => performance.now()) {
    this.#output = output;
    this.#now = now;
    this.#shownAt = now();
  }

  /** Shows a line until the next one. It is not even made while the last one is fresh, so this may be called for each row. */
  show(makeLine: () => string): void {
    const isTerminal = this.#output.isTTY === true;
    const now = this.#now();
    if (now - this.#shownAt < (isTerminal ? TERMINAL_EVERY_MS : LOG_EVERY_MS)) return;
    this.#shownAt = now;
    this.#output.write(isTerminal ? ERASE_LINE + makeLine() : `${makeLine()}\n`);
    this.#isShown = isTerminal;
  }

  /** Writes a line that stays, in place of the one that is shown. */
  log(line: string): void {
    this.clear();
    this.#output.write(`${line}\n`);
  }

  /** Takes the line away that is shown. */
  clear(): void {
    if (this.#isShown) this.#output.write(ERASE_LINE);
    this.#isShown = false;
  }
}
