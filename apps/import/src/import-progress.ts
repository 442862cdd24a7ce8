import { ProgressLine, type Output } from '@weir/shared/progress-line';

/** Outcomes of the rows so far. */
export interface RowCounts {
  accepted: number;
  alreadyThere: number;
  bad: number;
}

const barWidth = 24;

/** Counts rows as they are settled, and shows how far the import is. */
export class ImportProgress {
  readonly counts: RowCounts = { accepted: 0, alreadyThere: 0, bad: 0 };
  readonly #line: ProgressLine;
  readonly #sizeBytes: number | undefined;
  readonly #startedAt = performance.now();
  #settledBytes = 0;

  /** Without a size in bytes (standard input) there is no share and no time left. */
  constructor(output: Output, sizeBytes: number | undefined) {
    this.#line = new ProgressLine(output);
    this.#sizeBytes = sizeBytes;
  }

  /** `bytes` of the file are settled: accepted, already there or bad. */
  settle(bytes: number): void {
    this.#settledBytes += bytes;
    this.#line.show(() => this.#text());
  }

  bad(line: number, reason: string): void {
    this.counts.bad += 1;
    this.note(`line ${line}: ${reason}`);
  }

  /** A line that stays, above the one that moves. */
  note(text: string): void {
    this.#line.log(text);
  }

  /** Takes the line away that moves. */
  clear(): void {
    this.#line.clear();
  }

  /** One sentence with the final numbers. */
  summary(): string {
    const { accepted, alreadyThere, bad } = this.counts;
    const seconds = (performance.now() - this.#startedAt) / 1000;
    const settled = accepted + alreadyThere + bad;
    return (
      `${group(settled)} rows in ${seconds.toFixed(1)} s (${group(settled / seconds)} rows/s): ` +
      `${group(accepted)} accepted, ${group(alreadyThere)} already there, ${group(bad)} bad.`
    );
  }

  #text(): string {
    const { accepted, alreadyThere, bad } = this.counts;
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
