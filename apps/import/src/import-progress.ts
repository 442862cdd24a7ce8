/** What became of the rows so far. */
export interface Tally {
  accepted: number;
  alreadyThere: number;
  bad: number;
}

/** A terminal or a log: the part of a writable stream that is used. */
export interface Output {
  isTTY?: boolean;
  write: (text: string) => unknown;
}

const barWidth = 24;
const terminalEveryMs = 100;
const logEveryMs = 5000;

/** Counts rows as they are settled and shows how far the import is: a moving bar on a terminal, else a line now and then. */
export class Progress {
  readonly tally: Tally = { accepted: 0, alreadyThere: 0, bad: 0 };
  readonly #output: Output;
  readonly #sizeBytes: number | undefined;
  readonly #startedAt = performance.now();
  #settledBytes = 0;
  #shownAt = performance.now();
  #barShown = false;

  /** Without a size in bytes (standard input) there is no share and no time left. */
  constructor(output: Output, sizeBytes: number | undefined) {
    this.#output = output;
    this.#sizeBytes = sizeBytes;
  }

  /** `bytes` of the file are settled: accepted, already there or bad. */
  settle(bytes: number): void {
    this.#settledBytes += bytes;
    const now = performance.now();
    if (now - this.#shownAt < (this.#output.isTTY ? terminalEveryMs : logEveryMs)) return;
    this.#shownAt = now;
    this.#output.write(this.#output.isTTY ? `\r\x1b[K${this.#line()}` : `${this.#line()}\n`);
    this.#barShown = this.#output.isTTY === true;
  }

  bad(line: number, reason: string): void {
    this.tally.bad += 1;
    this.note(`line ${line}: ${reason}`);
  }

  /** A line of its own, above the bar. */
  note(text: string): void {
    this.clear();
    this.#output.write(`${text}\n`);
  }

  /** Takes the bar away. */
  clear(): void {
    if (this.#barShown) this.#output.write('\r\x1b[K');
    this.#barShown = false;
  }

  /** One sentence with the final numbers. */
  summary(): string {
    const { accepted, alreadyThere, bad } = this.tally;
    const seconds = (performance.now() - this.#startedAt) / 1000;
    const settled = accepted + alreadyThere + bad;
    return (
      `${group(settled)} rows in ${seconds.toFixed(1)} s (${group(settled / seconds)} rows/s): ` +
      `${group(accepted)} accepted, ${group(alreadyThere)} already there, ${group(bad)} bad.`
    );
  }

  #line(): string {
    const { accepted, alreadyThere, bad } = this.tally;
    const seconds = (performance.now() - this.#startedAt) / 1000;
    const settled = accepted + alreadyThere + bad;
    const rows = `${group(settled)} rows  ${group(settled / seconds)} rows/s${bad > 0 ? `  ${group(bad)} bad` : ''}`;
    if (!this.#sizeBytes || this.#settledBytes === 0) return rows;
    const share = Math.min(1, this.#settledBytes / this.#sizeBytes);
    const bar = '#'.repeat(Math.round(share * barWidth)).padEnd(barWidth, '.');
    const left = clock((seconds * (1 - share)) / share);
    return `[${bar}] ${String(Math.floor(share * 100)).padStart(3)}%  ${rows}  ${left} left`;
  }
}

function group(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

function clock(seconds: number): string {
  const whole = Math.ceil(seconds);
  const minutes = Math.floor(whole / 60);
  const rest = String(whole % 60).padStart(2, '0');
  if (minutes < 60) return `${minutes}:${rest}`;
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, '0')}:${rest}`;
}
