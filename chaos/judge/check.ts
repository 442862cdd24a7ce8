/** One promise, and what became of it in this run. */
export interface Check {
  name: string;
  /** What must be so, in a sentence. */
  promise: string;
  /** How many things were looked at; a check that had nothing to look at has proved nothing. */
  examined: number;
  violations: number;
  /** The first few violations, each in a sentence. */
  examples: string[];
}

const EXAMPLES_MAX = 5;

/** Counts for a check while it is made. */
export class Tally {
  readonly #check: Check;

  constructor(name: string, promise: string) {
    this.#check = { name, promise, examined: 0, violations: 0, examples: [] };
  }

  examine(count = 1): void {
    this.#check.examined += count;
  }

  violate(example: string): void {
    this.#check.violations += 1;
    if (this.#check.examples.length < EXAMPLES_MAX) this.#check.examples.push(example);
  }

  get check(): Check {
    return this.#check;
  }
}
