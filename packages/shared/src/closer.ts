/** Closes what was opened, last opened first, whatever fails on the way. */
export class Closer {
  readonly #steps: { name: string; close: () => unknown }[] = [];

  /** Registers how to close something that was just opened. */
  add(name: string, close: () => unknown): void {
    this.#steps.push({ name, close });
  }

  /** Runs every step once, in reverse order; throws one AggregateError at the end if any step failed. */
  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      try {
        await step.close();
      } catch (error) {
        failures.push(new Error(`could not close ${step.name}`, { cause: error }));
      }
    }
    if (failures.length > 0) throw new AggregateError(failures, 'not everything could be closed');
  }
}
