const EXAMPLES_MAX = 5;

/** One promise, and what became of it in this run. */
export class Check {
  readonly name: string;
  /** The promise, in a sentence. */
  readonly promise: string;
  /** How many things were looked at. A check that had nothing to look at has proved nothing. */
  examined = 0;
  violations = 0;
  /** The first few violations, each in a sentence. */
  readonly examples: string[] = [];

  constructor(name: string, promise: string) {
    this.name = name;
    this.promise = promise;
  }

  examine(count = 1): void {
    this.examined += count;
  }

  violate(example: string): void {
    this.violations += 1;
    if (this.examples.length < EXAMPLES_MAX) this.examples.push(example);
  }
}
