import { withinMs } from './within.ts';

/** Closes what was opened, last opened first, whatever fails on the way. */
export class Closer {
  readonly #steps: { name: string; close: () => unknown }[] = [];

  /** Registers how to close something that was just opened. */
  add(name: string, close: () => unknown): void {
    this.#steps.push({ name, close });
  }

  /**
   * Runs every step once, in reverse order; throws one AggregateError at the end if any step failed. All of it takes no
   * longer than `msMax`: a step that is not done by then has failed, and goes on by itself.
   */
  async close(msMax = Infinity): Promise<void> {
    const failures: unknown[] = [];
    const deadline = performance.now() + msMax;
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      try {
        const left = deadline - performance.now();
        const closing = step.close();
        await (left < Infinity && closing instanceof Promise
          ? withinMs(Math.max(0, Math.round(left)), closing)
          : closing);
      } catch (error) {
        failures.push(new Error(`could not close ${step.name}`, { cause: error }));
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'not everything could be closed');
  }
}
